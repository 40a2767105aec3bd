"""What public tools mean by the names they print, as data.

A preset sets parameters of the measures that it is applied to, and says how the tool rounds and
how it takes its mean. Every preset here is proved against what its tool printed, to the last bit
(tests/reference).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from evaluation.measures.definition import FAMILIES, Measure
from evaluation.measures.discounts import FloatArray
from evaluation.measures.errors import MeasureError

# Judged is no measure of these tools; it is about the judgments, and welcome beside any number.
TREC_EVAL_FAMILIES: Final = frozenset({"nDCG", "RR", "AP", "P", "R", "Hit", "Judged"})


@dataclass(frozen=True)
class Preset:
    """How one tool evaluates.

    tool: whose rules these are, for people. reading: what sets it apart, in plain words.
    parameters: set on every measure of a family that has them.
    families: what the tool computes; other measures are refused.
    decimals: digits behind the point that the tool prints, of a query's value and of the mean.
    mean_order: the order in which the tool adds the queries' values up.
    """

    name: str
    tool: str
    reading: str
    parameters: Mapping[str, object]
    families: frozenset[str] = TREC_EVAL_FAMILIES
    decimals: int | None = None
    mean_order: Literal["query id", "run"] = "query id"
    caveat: str = ""


_TREC_EVAL: Final = {"queries": "returned", "scores": "float32", "ties": "docid"}

PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset(
            "trec_eval",
            "trec_eval 9 and pytrec_eval, without -c",
            "only judged queries that the run answers are in the mean",
            _TREC_EVAL,
        ),
        Preset(
            "trec_eval_c",
            "trec_eval 9 with -c, ir_measures, Pyserini for BEIR",
            "all judged queries are in the mean; one that the run does not answer counts 0",
            {**_TREC_EVAL, "queries": "judged"},
        ),
        Preset(
            "trec_eval_10",
            "trec_eval 10 with -c",
            "as trec_eval_c, but scores are compared in double precision",
            {**_TREC_EVAL, "queries": "judged", "scores": "float64"},
        ),
        Preset(
            "trec_eval_judged_only",
            "trec_eval 9 with -J",
            "unjudged documents (and negative grades) are taken out, and the ranks close up",
            {**_TREC_EVAL, "unjudged": "condensed", "negatives": "unjudged"},
        ),
        Preset(
            "gdeval",
            "gdeval.pl 1.2",
            "exponential gain; queries without a relevant document are left out; 5 decimals",
            {
                "gain": "exp2",
                "discount": "ln",
                "empty": "skip",
                "queries": "relevant",
                "scores": "float64",
                "ties": "docid",
            },
            families=frozenset({"nDCG", "Judged"}),
            decimals=5,
        ),
    )
}


def preset(name: str) -> Preset:
    """The preset of this name. Raises MeasureError that lists the known ones."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise MeasureError(f"there is no preset {name[:60]!r}; there are {known}")
    return PRESETS[name]


def apply(chosen: Preset, measure: Measure) -> Measure:
    """The measure as the preset's tool means it.

    Raises MeasureError where the tool has no such measure, or where the measure itself sets a
    parameter to something that the tool does not do.
    """
    if measure.family not in chosen.families:
        known = ", ".join(name for name in FAMILIES if name in chosen.families)
        raise MeasureError(f"{chosen.tool} has no {measure.family}; it has {known}")
    own = {p: v for p, v in chosen.parameters.items() if p in measure.kind.parameters}
    usual = Measure(family=measure.family, cutoff=measure.cutoff)
    for parameter, value in own.items():
        if getattr(measure, parameter) not in (getattr(usual, parameter), value):
            raise MeasureError(
                f"{measure.name} sets {parameter}, which preset {chosen.name} has as {value!r}"
            )
    return replace(measure, **own)  # type: ignore[arg-type]


def printed(chosen: Preset, values: FloatArray) -> FloatArray:
    """Values as the tool prints them."""
    if chosen.decimals is None:
        return values
    return np.array([float(f"{value:.{chosen.decimals}f}") for value in values])


def tool_mean(chosen: Preset, query_ids: Sequence[str], values: FloatArray) -> float | None:
    """The mean as the tool computes it: one float added to the next, in the tool's order.

    query_ids, values: of the queries in the mean, in the order in which the run has them.
    """
    if not len(values):
        return None
    order = sorted(range(len(query_ids)), key=lambda row: query_ids[row].encode())
    total = 0.0
    for row in order if chosen.mean_order == "query id" else range(len(query_ids)):
        total += float(values[row])
    return float(printed(chosen, np.array([total / len(values)]))[0])
