"""The page that says what measures mean; all of it follows from their registries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evaluation.measures import wording
from evaluation.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES, CutoffUse
from evaluation.measures.definition import CHOICES, FAMILIES, USUAL, Family, Measure
from evaluation.measures.presets import PRESETS, Preset
from evaluation.measures.wording import describe

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "discount": wording.DISCOUNTS,
    "ideal": wording.IDEALS,
    "ideal_depth": wording.IDEAL_DEPTHS,
    "unjudged": {
        "zero": "unjudged documents gain nothing",
        "condensed": "unjudged documents are taken out, and the ranks close up",
        "prior": "unjudged documents count as if they had the grade prior",
    },
    "negatives": wording.NEGATIVES,
    "negative_ideal": wording.NEGATIVE_IDEAL,
    "ties": wording.TIES,
    "scores": wording.SCORES,
    "queries": wording.QUERIES,
    "short": wording.SHORT,
    "arithmetic": wording.ARITHMETIC,
    "rounding": wording.ROUNDING,
    "rounded": wording.ROUNDED,
    "denominator": {
        "k": "divided by the cutoff",
        "returned": "P is divided by what is returned, AP by the relevant ones returned",
        "relevant": "divided by the number of relevant documents",
        "cutoff": "divided by the relevant documents that there is room for",
    },
    "average": {
        "macro": "the mean of the queries' values",
        "micro": wording.AVERAGES["micro"],
    },
    "of": {
        "documents": "the share of all documents of the collection",
        "relevant": "the share of all relevant documents",
    },
}
USUAL_WORDS: Final = {
    "ideal_depth": "the ideal cut at k",
    "negatives": "grades below 0 gain nothing",
    "negative_ideal": "an ideal below 0 is a divisor like any other",
    "scores": "scores compared in single precision",
    "short": "a short list is taken as it is",
    "arithmetic": "gain divided by discount, sum divided by ideal",
    "rounded": "only the query's value is rounded",
}


@dataclass(frozen=True)
class Choice:
    """A value that a parameter can have, in words.

    usual: "usual" where nothing need be said to have it, "usual for P" where that goes for P alone.
    """

    value: str
    words: str
    usual: str


@dataclass(frozen=True)
class Parameter:
    """A parameter that takes one of some words. families: those that have it."""

    name: str
    families: tuple[str, ...]
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Named:
    """A measure and what it says."""

    name: str
    words: str


@dataclass(frozen=True)
class MeasuresPage:
    """tried: the measure that somebody asked about, if any."""

    families: tuple[Family, ...]
    parameters: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    defaults: tuple[Named, ...]
    uses: tuple[CutoffUse, ...]
    tried: Named | None


def get_measures_page(*, tried: Measure | None) -> MeasuresPage:
    """Every family, parameter and preset, what a new list keeps, and which cutoff suits what."""
    return MeasuresPage(
        families=tuple(FAMILIES.values()),
        parameters=tuple(map(_parameter, CHOICES)),
        presets=tuple(PRESETS.values()),
        defaults=tuple(map(_named, DEFAULT_MEASURES)),
        uses=CUTOFF_USES,
        tried=None if tried is None else _named(tried),
    )


def _named(measure: Measure) -> Named:
    return Named(measure.name, describe(measure))


def _parameter(name: str) -> Parameter:
    own = [family for family in FAMILIES.values() if name in family.parameters]
    choices = tuple(
        Choice(
            value,
            WORDS[name][value].format(b="b", decimals="that many") or USUAL_WORDS[name],
            _usual(name, value, own),
        )
        for value in CHOICES[name]
    )
    return Parameter(name, tuple(family.name for family in own), choices)


def _usual(name: str, value: str, own: list[Family]) -> str:
    if USUAL[name]:
        return "usual" if value == USUAL[name] else ""
    those = [family.name for family in own if value == family.words_of(name)[0]]
    return f"usual for {' and '.join(those)}" if those else ""
