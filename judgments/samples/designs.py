"""What a sample is asked for, and how many queries of each stratum that makes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from touchstone.sampling.allocation import cost_optimal, neyman, proportional
from touchstone.sampling.designs import Rows
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.estimation import Floats
from touchstone.sampling.planning import (
    PlannedStrata,
    detectable_difference,
    expected_standard_error,
)
from touchstone.sampling.traffic import (
    Concentration,
    Int64s,
    TrafficStrata,
    search_effects,
    traffic_strata,
)

MOST: Final = 20_000  # queries of a sample
QUERIES, SEARCHES, OPTIMAL = "queries", "searches", "optimal"
PER_QUERY, PER_SEARCH = "query", "search"
USUAL_SPREAD: Final = 0.3  # of nDCG over queries, where nothing is known of it


@dataclass(frozen=True)
class Design:
    """How queries are drawn.

    by_size: with chances in proportion to searches (sequential Poisson); else equal chances within
    a stratum. cuts: of the strata by cumulative traffic; none for one stratum. n: queries; None
    where a budget of labels decides. allocation: of n to the strata, in proportion to their queries
    or searches, or optimal for the mean `target`, with the standard deviations `spreads` and
    the labels that a query costs, `costs`, of each stratum.
    """

    by_size: bool
    cuts: tuple[float, ...]
    n: int | None
    allocation: str
    target: str = PER_SEARCH
    spreads: tuple[float, ...] = ()
    costs: tuple[float, ...] = ()
    budget: float | None = None


@dataclass(frozen=True, eq=False)
class Allocated:
    """A design on a frame. n: int64 (n_strata,). cost: labels, None where costs are not known.

    standard_error: expected of the target's mean; None by size, where it depends on how values
    go with searches.
    """

    design: Design
    strata: TrafficStrata
    n: Int64s
    cost: float | None
    standard_error: float | None

    @property
    def detectable(self) -> float | None:
        """The difference that is found with 80 % power, where the spreads are of differences."""
        error = self.standard_error
        return None if error is None else detectable_difference(error)

    @property
    def size(self) -> int:
        return int(self.n.sum())

    def as_json(self) -> dict[str, Any]:
        """What is stored: the design, and what was drawn of each stratum."""
        design, strata = self.design, self.strata
        parts = zip(
            strata.names,
            strata.least.tolist(),
            strata.queries.tolist(),
            strata.searches.tolist(),
            self.n.tolist(),
            strict=True,
        )
        return {
            "by_size": design.by_size,
            "cuts": list(design.cuts),
            "allocation": design.allocation,
            "target": design.target,
            "spreads": list(design.spreads),
            "costs": list(design.costs),
            "budget": design.budget,
            "strata": [
                {"name": name, "least": least, "queries": queries, "searches": searches, "n": n}
                for name, least, queries, searches, n in parts
            ],
        }


def strata_of(stored: Mapping[str, Any]) -> TrafficStrata:
    """The strata of a stored design."""
    rows = stored["strata"]
    columns = (np.array([row[name] for row in rows]) for name in ("least", "queries", "searches"))
    return TrafficStrata(tuple(row["name"] for row in rows), *columns)


def allocate(design: Design, concentration: Concentration) -> Allocated:
    """How many queries of each stratum. Raises SamplingError for what can't be drawn."""
    strata = traffic_strata(concentration, design.cuts)
    count = len(strata.names)
    spreads = _of_strata(design.spreads, count, "standard deviation") or (USUAL_SPREAD,) * count
    costs = _of_strata(design.costs, count, "cost")
    spreads = spreads_of_target(spreads, design.target, concentration, strata)
    n = _allocation(design, strata, spreads, costs)
    if n.sum() > MOST:
        raise SamplingError(f"at most {MOST:,} queries can be drawn")
    weights = strata.searches if design.target == PER_SEARCH else strata.queries
    planned = PlannedStrata.of(
        strata.names, strata.queries, spreads, costs or np.ones(count), weights
    )
    return Allocated(
        design,
        strata,
        n,
        float(np.dot(n, costs)) if costs else None,
        None if design.by_size else expected_standard_error(planned, n),
    )


def spreads_of_target(
    spreads: Sequence[float], target: str, concentration: Concentration, strata: TrafficStrata
) -> tuple[float, ...]:
    """Standard deviations that the mean `target` has in each stratum, drawn with equal chances.

    spreads: of values. For a mean per search they are larger, as far as searches differ within a
    stratum.
    """
    if target == PER_QUERY:
        return tuple(spreads)
    effects = np.sqrt(search_effects(concentration, strata)).tolist()
    return tuple(one * effect for one, effect in zip(spreads, effects, strict=True))


def _allocation(
    design: Design, strata: TrafficStrata, spreads: Sequence[float], costs: Sequence[float]
) -> Int64s:
    weights = strata.searches if design.target == PER_SEARCH else strata.queries
    if design.n is None:
        if design.budget is None or not costs:
            raise SamplingError("enter a number of queries, or a budget and costs")
        return cost_optimal(design.budget, strata.queries, spreads, costs, weights / weights.sum())
    if design.n < 2:
        raise SamplingError("a sample needs at least 2 queries")
    if design.allocation == OPTIMAL:
        return neyman(design.n, strata.queries, spreads, weights / weights.sum())
    shares = strata.searches if design.allocation == SEARCHES else strata.queries
    return proportional(design.n, shares, strata.queries)


def _of_strata(values: tuple[float, ...], count: int, what: str) -> tuple[float, ...]:
    """A value for each stratum, where one is given for all, or for each."""
    if len(values) == 1:
        return values * count
    if values and len(values) != count:
        raise SamplingError(f"enter one {what}, or one for each of the {count} strata")
    return values


def sample_digest(
    *, frame: str, seed: int, design: Mapping[str, Any], texts: bytes, strata: Rows, pi: Floats
) -> str:
    """SHA-256 over all that a sample is: 64 hex digits.

    frame: the digest of its frame. texts: `text_digests` of the drawn queries, in the order of
    their texts, as strata and pi are.
    """
    head = json.dumps(["sample", 1, frame, seed, design], sort_keys=True)
    whole = hashlib.sha256(head.encode() + texts)
    whole.update(strata.astype("<i4").tobytes() + pi.astype("<f8").tobytes())
    return whole.hexdigest()
