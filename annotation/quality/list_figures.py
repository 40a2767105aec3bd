"""The figures of a list: those of its campaigns put together.

A pair that two campaigns have had labelled counts in each: people of one campaign never met those
of another, nor always the same guideline. So someone's figures of several campaigns are added
up, never computed again across them; what has a course in time keeps it campaign by campaign.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.quality.figures import (
    LEVEL,
    OF_GROUPS,
    grade_agreement,
    group_agreement,
    lowest_first,
    overall_agreement,
)
from touchstone.agreement.alpha import alpha_with_others
from touchstone.agreement.counts import Counts
from touchstone.statistics.wilson import wilson_interval

Figures = Mapping[str, Any]


def list_figures(
    parts: Sequence[Figures], names: Sequence[str], values: Sequence[float]
) -> dict[str, Any]:
    """What a verdict asks for, from the figures of campaigns that have labels.

    names: of the campaigns. values: of the scale's grades. annotators: people of each campaign,
    one after the other; together: everyone once. windows: of each campaign (its place among the
    parts is in `part`), in the order of time; drifts: where people began to differ more or less,
    the clearest first. resolution: the coarsest of the campaigns', since each leaves the others'
    errors out.
    """
    counts = _joined([part["sets"] for part in parts], values)
    told = [part["resolution"] for part in parts if part.get("resolution")]
    windows = [row | {"part": at} for at, part in enumerate(parts) for row in part["windows"]]
    drifts = [
        part["drift"] | {"part": at, "where": names[at] if len(parts) > 1 else ""}
        for at, part in enumerate(parts)
        if part["drift"] is not None
    ]
    drifts.sort(key=lambda change: (change["chance"], change["part"]))
    return {
        "labels": sum(part["labels"] for part in parts),
        "pairs": sum(part["pairs"] for part in parts),
        "overall": overall_agreement(counts),
        "grades": grade_agreement(counts),
        "segments": _segments(parts, values),
        "annotators": [row for part in parts for row in part["annotators"]],
        "together": list_together(parts, values),
        "model": {"confidence": _confidence(parts)},
        "accuracy": {
            "gold": _measured([part["accuracy"]["gold"] for part in parts]),
            "adjudicated": _measured([part["accuracy"]["adjudicated"] for part in parts]),
            "calibrated": _calibrated(parts),
        },
        "decided": {
            name: sum(part["decided"][name] for part in parts)
            for name in ("pairs", "unlike", "outside")
        },
        "windows": sorted(windows, key=lambda row: (row["begins"], row["part"])),
        "drifts": drifts,
        "drift": drifts[0] if drifts else None,
        "resolution": max(told, key=lambda one: float(one["apart"]), default=None),
    }


def list_together(parts: Sequence[Figures], values: Sequence[float]) -> list[dict[str, Any]]:
    """Everyone once, in the order of their ids, with what all campaigns say of them.

    person: their id. places: of each campaign they were in its place among the parts, and theirs
    among its annotators. median_seconds: only of someone in a single campaign.
    """
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at, part in enumerate(parts):
        for position, person in enumerate(part["people"]):
            places[person].append((at, position))
    return [
        _together([parts[at]["annotators"][position] for at, position in own], values)
        | {"person": person, "places": own}
        for person, own in sorted(places.items())
    ]


def _together(rows: Sequence[Figures], values: Sequence[float]) -> dict[str, Any]:
    gold, repeats = [row["gold"] for row in rows], [row["repeats"] for row in rows]
    checked, right = _sum(gold, "checked"), _sum(gold, "right")
    pairs, same = _sum(repeats, "pairs"), _sum(repeats, "same")
    days: Counter[int] = Counter()
    for day, count in (one for row in rows for one in row["days"]):
        days[day] += count
    counts = _joined([row["agreement"]["sets"] for row in rows], values)
    agreement = vars(alpha_with_others(counts, LEVEL, resamples=OF_GROUPS))
    return {
        "labels": _sum(rows, "labels"),
        "compared": _sum(rows, "compared"),
        "agreement": dict(agreement),
        "accuracy": _estimate(rows),
        "right": _mean(rows, "right", "compared"),
        "bias": _mean(rows, "bias", "compared"),
        "median_seconds": rows[0]["median_seconds"] if len(rows) == 1 else None,
        "fast": _mean(rows, "fast", "measured"),
        "measured": _sum(rows, "measured"),
        "gold": {
            "checked": checked,
            "right": right,
            "within_one": _sum(gold, "within_one"),
            "interval": wilson_interval(right, checked),
            "bias": _mean(gold, "bias", "checked"),
            "confusion": _added([one["confusion"] for one in gold]),
        },
        "repeats": {"pairs": pairs, "same": same, "interval": wilson_interval(same, pairs)},
        "confusion": _added([row["confusion"] for row in rows]),
        "grades": _added([row["grades"] for row in rows]),
        "days": sorted([day, count] for day, count in days.items()),
    }


def _sum(rows: Sequence[Figures], name: str) -> int:
    return sum(row[name] for row in rows)


def _mean(rows: Sequence[Figures], name: str, count: str) -> float | None:
    """The mean over all that was counted: of each row's mean, by how much it is of."""
    known = [(row[name], row[count]) for row in rows if row[name] is not None and row[count]]
    many = sum(count for _, count in known)
    return float(sum(mean * count for mean, count in known) / many) if many else None


def _added(tables: Sequence[Any]) -> Any:
    return np.sum([np.asarray(table, dtype=np.int64) for table in tables], axis=0).tolist()


def _joined(sets: Sequence[Sequence[Sequence[int]]], values: Sequence[float]) -> Counts:
    """Equal sets added up, in the order they come: those of one campaign stay as they are."""
    units: Counter[tuple[int, ...]] = Counter()
    for number, *labels in (row for part in sets for row in part):
        units[tuple(labels)] += number
    width = len(next(iter(units), values))
    patterns = np.array(list(units), dtype=np.float64).reshape(-1, width)
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


def _confidence(parts: Sequence[Figures]) -> float:
    pairs = sum(part["pairs"] for part in parts)
    return float(sum(part["model"]["confidence"] * part["pairs"] for part in parts) / pairs)


def _measured(rows: Sequence[Figures]) -> dict[str, Any]:
    """Accuracy on all campaigns' checked pairs together."""
    right, pairs = _mean(rows, "value", "pairs"), _sum(rows, "pairs")
    low, high = wilson_interval((right or 0.0) * pairs, pairs) or (None, None)
    confidence = _mean(rows, "confidence", "pairs")
    return {"pairs": pairs, "confidence": confidence, "value": right, "low": low, "high": high}


def _calibrated(parts: Sequence[Figures]) -> dict[str, Any] | None:
    """The share of all campaigns' grades that are right; None unless each of them knows its own."""
    result = [part["accuracy"]["calibrated"] for part in parts]
    if None in result:
        return None
    sources = {row["source"] for row in result}
    return _combined(result, [part["pairs"] for part in parts]) | {
        "source": "gold" if sources == {"gold"} else "adjudicated",
        "pairs": _sum(result, "pairs"),
    }


def _estimate(rows: Sequence[Figures]) -> dict[str, Any]:
    """Someone's accuracy in several campaigns, of those where it is known, by their labels."""
    known = [row for row in rows if row["accuracy"]["value"] is not None]
    parts = [row["accuracy"] for row in rows]
    checked, compared = _sum(parts, "checked"), _sum(parts, "compared")
    result = {"value": None, "low": None, "high": None}
    if known:
        result = _combined(
            [row["accuracy"] for row in known], [row["labels"] or 1 for row in known]
        )
    basis = ("both" if compared else "gold") if checked else ("agreement" if compared else "none")
    return result | {"basis": basis, "checked": checked, "compared": compared}


def _combined(rows: Sequence[Figures], sizes: Sequence[int]) -> dict[str, Any]:
    """The mean of independent estimates by the sizes of what they are of, and its interval."""
    if len(rows) == 1:
        return {name: rows[0][name] for name in ("value", "low", "high")}
    shares = np.array(sizes) / sum(sizes)
    value, low, high = (np.array([row[name] for row in rows]) for name in ("value", "low", "high"))
    mean = float(shares @ value)
    below, above = (
        float(np.sqrt(((shares * reach) ** 2).sum())) for reach in (value - low, high - value)
    )
    return {"value": mean, "low": max(0.0, mean - below), "high": min(1.0, mean + above)}
