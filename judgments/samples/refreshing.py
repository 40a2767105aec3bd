"""A sample compared with the one before it: what both share, and the drift of traffic."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from judgments.models import SamplePlan
from judgments.samples.designs import strata_of
from judgments.samples.drawing import Numbers, read_numbers
from touchstone.sampling.designs import expected_overlap, probabilities
from touchstone.sampling.estimation import Floats


@dataclass(frozen=True)
class Refresh:
    """A sample beside an earlier one by the same seed.

    sample: the earlier one's number. expected: how many queries both are expected to share, the sum
    of each query's smaller probability. known: the share of today's searches that are for queries
    of the earlier log. drift: the share of searches that went elsewhere (total variation distance).
    """

    sample: int
    expected: float
    known: float
    drift: float


def find_refresh(
    *, before: SamplePlan | None, design: Mapping[str, Any], numbers: Numbers
) -> Refresh | None:
    """How a design on a frame goes with an earlier plan by the same seed.

    before: with its frame; None for a first sample. None too where the earlier log's queries are
    deleted. A query is known in both logs by its random number.
    """
    if before is None or not before.frame.blocks.exists():
        return None
    earlier = read_numbers(before.frame, before.seed)
    _, old, new = np.intersect1d(
        earlier.random, numbers.random, assume_unique=True, return_indices=True
    )
    chances = _chances(before.design, earlier)[old], _chances(design, numbers)[new]
    shares = (
        earlier.searches[old] / int(earlier.searches.sum()),
        numbers.searches[new] / int(numbers.searches.sum()),
    )
    return Refresh(
        before.number,
        expected_overlap(*chances),
        fsum(shares[1]),
        max(0.0, 1 - fsum(np.minimum(*shares))),
    )


def _chances(design: Mapping[str, Any], numbers: Numbers) -> Floats:
    n = np.array([row["n"] for row in design["strata"]])
    sizes = numbers.searches.astype(np.float64) if design["by_size"] else None
    return probabilities(strata_of(design).codes(numbers.searches), n, sizes=sizes)
