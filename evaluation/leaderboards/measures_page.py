"""The page that says what measures mean; all of it follows from their registries."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from touchstone.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES, CutoffUse
from touchstone.measures.definition import FAMILIES, PARAMETERS, Family, Measure, usual_value
from touchstone.measures.presets import PRESETS, Preset
from touchstone.measures.wording import choice_words, describe
from touchstone.measures.worked import claims

OTHER_THAN_WORDS: Final = {"number": "a number", "whole": "a whole number", "gain": "a table"}


@dataclass(frozen=True)
class Choice:
    """What a parameter can be, in words.

    value: one of its words, in quotes, or the kind of number or table that it takes.
    usual: "default", or "default for P" where that goes for P alone.
    """

    value: str
    words: str
    usual: str


@dataclass(frozen=True)
class Parameter:
    """A parameter and all that it can be. families: those that have it."""

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
    """tried: the measure that someone asked about, if any. claims: (what articles say, what comes
    out)."""

    families: tuple[Family, ...]
    parameters: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    defaults: tuple[Named, ...]
    uses: tuple[CutoffUse, ...]
    tried: Named | None
    claims: tuple[tuple[str, str], ...]


def get_measures_page(*, tried: Measure | None) -> MeasuresPage:
    """Every family, parameter and preset, what a new list keeps, and which cutoff suits what."""
    return MeasuresPage(
        families=tuple(FAMILIES.values()),
        parameters=tuple(map(_parameter, PARAMETERS)),
        presets=tuple(PRESETS.values()),
        defaults=tuple(map(_named, DEFAULT_MEASURES)),
        uses=CUTOFF_USES,
        tried=None if tried is None else _named(tried),
        claims=_claims(),
    )


@lru_cache(maxsize=1)
def _claims() -> tuple[tuple[str, str], ...]:
    """Computed once for all: they are the same for everyone."""
    return tuple(claims())


def _named(measure: Measure) -> Named:
    return Named(measure.name, describe(measure))


def _parameter(name: str) -> Parameter:
    parameter = PARAMETERS[name]
    own = [family for family in FAMILIES.values() if name in family.parameters]
    choices = [
        Choice(f"'{word}'", choice_words(name, word), _usual(name, word, own))
        for word in parameter.choices
    ]
    if parameter.kind != "choice":
        number = Choice(OTHER_THAN_WORDS[parameter.kind], parameter.words.replace("`", ""), "")
        choices.insert(0, number)
    return Parameter(name, tuple(family.name for family in own), tuple(choices))


def _usual(name: str, value: str, own: list[Family]) -> str:
    those = [family.name for family in own if value == usual_value(family, name)]
    if len(those) == len(own):
        return "default"
    others = [family.name for family in own if family.name not in those]
    if len(those) > len(others):
        return f"default, except for {' and '.join(others)}"
    return f"default for {' and '.join(those)}" if those else ""
