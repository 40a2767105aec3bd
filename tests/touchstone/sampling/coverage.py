"""How often the 95 % intervals of both readings hold the truth.

    python -m tests.touchstone.sampling.coverage [--repetitions 10000]

A frame of 5,000 queries with Zipf's searches (exponent 0.9). Values are Beta(2, 1.5), better for
frequent queries, or heavy at 0 and 1. Each repetition draws a sample by the designs of a cell and
makes the intervals mean ± t · SE of both readings.
"""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy import stats

from touchstone.sampling.allocation import proportional
from touchstone.sampling.designs import draw
from touchstone.sampling.readings import SampledValues, post_stratified_readings, two_readings
from touchstone.sampling.traffic import Concentration, traffic_strata

Floats = npt.NDArray[np.float64]
N = 5_000


@dataclass(frozen=True)
class Cell:
    """A design and the values that it meets. by: what queries are allocated to strata by."""

    n: int
    by_size: bool
    cuts: tuple[float, ...]
    by: str = "searches"
    is_heavy: bool = False


def _cells() -> Iterator[tuple[str, Cell]]:
    for heavy in (False, True):
        end = ", 0/1-heavy" if heavy else ""
        for n in (15, 20):
            yield f"simple, n = {n}{end}", Cell(n, False, (), is_heavy=heavy)
        for n in (50, 150, 400):
            yield f"simple, n = {n}{end}", Cell(n, False, (), is_heavy=heavy)
            yield f"stratified, n = {n}{end}", Cell(n, False, (0.5, 0.9), is_heavy=heavy)
            yield f"by size, n = {n}{end}", Cell(n, True, (), is_heavy=heavy)
            yield f"by size in strata, n = {n}{end}", Cell(n, True, (0.5, 0.9), is_heavy=heavy)


CELLS: Mapping[str, Cell] = MappingProxyType(dict(_cells()))


def coverage(
    cell: Cell, *, repetitions: int, seed: int, post_stratified: bool = False
) -> tuple[float, float]:
    """The shares of intervals that hold the mean per query, and the mean per search.

    post_stratified: to the strata's queries and searches in the frame.
    """
    rng = np.random.default_rng(seed)
    searches = np.maximum(1, 50_000 / np.arange(1, N + 1) ** 0.9).astype(np.int64)
    values = _values(rng, searches, is_heavy=cell.is_heavy)
    truths = values.mean(), np.average(values, weights=searches)
    strata = traffic_strata(Concentration.of(searches), cell.cuts)
    codes = strata.codes(searches)
    shares = strata.searches if cell.by == "searches" else strata.queries
    n = proportional(cell.n, shares, strata.queries)
    sizes = searches.astype(float) if cell.by_size else None
    totals = {"queries": strata.queries.astype(float), "searches": strata.searches.astype(float)}
    held = np.zeros(2)
    for _ in range(repetitions):
        rows, pi = draw(rng.random(N), codes, n, sizes=sizes)
        sample = SampledValues(
            pi,
            codes[rows],
            strata.queries.astype(float),
            searches[rows].astype(float),
            cell.by_size,
        )
        whole = np.ones(len(rows), bool)
        readings = (
            post_stratified_readings(values[rows], whole, sample, **totals)
            if post_stratified
            else two_readings(values[rows], whole, sample)
        )
        for place, (reading, truth) in enumerate(zip(readings, truths, strict=True)):
            half = stats.t.ppf(0.975, reading.df) * reading.standard_error
            held[place] += abs(reading.value - truth) <= half
    return held[0] / repetitions, held[1] / repetitions


def _values(rng: np.random.Generator, searches: npt.NDArray[np.int64], *, is_heavy: bool) -> Floats:
    """Of frequent queries higher: ranks of the searches move the values by up to 0.2."""
    own = rng.beta(2, 1.5, N) - 0.1 + 0.2 * stats.rankdata(searches) / N
    if is_heavy:
        place = rng.random(N)
        own = np.where(place < 0.35, 0.0, np.where(place < 0.7, 1.0, own))
    return np.clip(own, 0, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repetitions", type=int, default=10_000)
    options = parser.parse_args()
    print("| design | per query | per search |\n|---|--:|--:|")
    for is_post in (False, True):
        for name, cell in CELLS.items():
            if is_post and not cell.cuts:
                continue
            query, search = coverage(
                cell, repetitions=options.repetitions, seed=1, post_stratified=is_post
            )
            label = f"{name}, post-stratified" if is_post else name
            print(f"| {label} | {query:.1%} | {search:.1%} |", flush=True)


if __name__ == "__main__":
    main()
