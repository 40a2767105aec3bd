"""The figures of a list: those of its campaigns put together.

A pair that two campaigns have had labelled counts in each: people of one campaign never met those
of another, nor always the same guideline.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.agreement import Counts
from annotation.quality import (
    grade_agreement,
    group_agreement,
    lowest_first,
    overall_agreement,
)

Figures = Mapping[str, Any]


def list_figures(parts: Sequence[Figures], values: Sequence[float]) -> dict[str, Any]:
    """What a verdict asks for, from the figures of campaigns that have labels.

    values: of the scale's grades. People are those of all campaigns, one after the other.
    resolution: the coarsest of the campaigns', since each leaves the others' errors out.
    """
    counts = _joined([part["sets"] for part in parts], values)
    told = [part["resolution"] for part in parts if part.get("resolution")]
    return {
        "labels": sum(part["labels"] for part in parts),
        "pairs": sum(part["pairs"] for part in parts),
        "overall": overall_agreement(counts),
        "grades": grade_agreement(counts),
        "segments": _segments(parts, values),
        "annotators": [row for part in parts for row in part["annotators"]],
        "model": {"certainty": _certainty(parts)},
        "decided": {
            name: sum(part["decided"][name] for part in parts)
            for name in ("pairs", "unlike", "outside")
        },
        "drift": None,
        "resolution": max(told, key=lambda one: float(one["apart"]), default=None),
        "seconds": sum(part["time"]["seconds"] for part in parts),
        "measured": sum(part["time"]["measured"] for part in parts),
    }


def _joined(sets: Sequence[Sequence[Sequence[int]]], values: Sequence[float]) -> Counts:
    """Equal sets added up, in the order they come: those of one campaign stay as they are."""
    units: Counter[tuple[int, ...]] = Counter()
    for number, *labels in (row for part in sets for row in part):
        units[tuple(labels)] += number
    patterns = np.array(list(units), dtype=np.float64).reshape(-1, len(values))
    counts = np.array(list(units.values()), dtype=np.int64)
    return Counts(patterns, counts, np.asarray(values, dtype=np.float64))


def _segments(parts: Sequence[Figures], values: Sequence[float]) -> list[dict[str, Any]]:
    sets: dict[str, list[Any]] = defaultdict(list)
    for part in parts:
        for row in part["segments"]:
            sets[row["name"]].append(row["sets"])
    return lowest_first(
        [group_agreement(name, _joined(own, values)) for name, own in sorted(sets.items())]
    )


def _certainty(parts: Sequence[Figures]) -> float:
    pairs = sum(part["pairs"] for part in parts)
    return float(sum(part["model"]["certainty"] * part["pairs"] for part in parts) / pairs)
