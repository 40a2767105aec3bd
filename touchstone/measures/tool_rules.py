"""What a preset does: a measure as its tool means it, and values as the tool rounds and adds them.

The presets themselves are in `presets`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from touchstone.measures.definition import FAMILIES, Measure
from touchstone.measures.discounts import FloatArray
from touchstone.measures.errors import MeasureError
from touchstone.measures.presets import ABOUT_JUDGMENTS, Preset

ROUNDING_PARAMETERS: Final = frozenset({"decimals", "rounding", "rounded"})


def apply(chosen: Preset, measure: Measure) -> Measure:
    """The measure as the preset's tool means it.

    Raises MeasureError where the tool has no such measure, or where the measure itself sets a
    parameter to something that the tool does not do.
    """
    if measure.family not in chosen.families:
        known = ", ".join(name for name in FAMILIES if name in chosen.families)
        raise MeasureError(f"{chosen.tool} has no {measure.family}; it has {known}")
    its = measure.kind.parameters
    if measure.family in ABOUT_JUDGMENTS:  # most tools have none such: they round others
        its -= ROUNDING_PARAMETERS | {"queries"}
    own = {p: v for p, v in chosen.parameters.items() if p in its}
    own |= chosen.of_family.get(measure.family, {})
    if measure.cutoff is None and measure.kind.cutoff != "none":
        own.setdefault("cutoff", chosen.cutoff)
    usual = Measure(family=measure.family, cutoff=measure.cutoff)
    for parameter, value in own.items():
        if getattr(measure, parameter) not in {getattr(usual, parameter), value}:
            raise MeasureError(
                f"{measure.name} sets {parameter}, but preset {chosen.name} has {value!r}"
            )
    return replace(measure, **own)  # type: ignore[arg-type]


def printed(chosen: Preset, values: FloatArray) -> FloatArray:
    """Values as the tool prints them."""
    if chosen.decimals is None:
        return values
    return np.array([float(f"{value:.{chosen.decimals}f}") for value in values])


def tool_mean(chosen: Preset, query_ids: Sequence[str], values: FloatArray) -> float | None:
    """The mean to the last bit as the tool computes it.

    query_ids, values: of the queries in the mean, in the order in which the run has them.
    """
    if not len(values):
        return None
    if chosen.mean != "run":
        values = values[sorted(range(len(query_ids)), key=lambda row: query_ids[row].encode())]
    total = float(values.sum()) if chosen.mean == "pairwise" else _one_by_one(values)
    return float(printed(chosen, np.array([total / len(values)]))[0])


def _one_by_one(values: FloatArray) -> float:
    total = 0.0
    for value in values.tolist():
        total += value
    return total
