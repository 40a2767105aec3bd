"""Three means of a sample: formulas chosen by the design, and what the correction is worth."""

import numpy as np
import pytest
from scipy import stats

from touchstone.sampling.estimation import (
    hajek_mean,
    mean_influence,
    sequential_poisson_variance,
)
from touchstone.statistics.corrected import (
    CorrectionRefusedError,
    corrected_list_mean,
    corrected_sample_mean,
    corrected_strata_mean,
    corrected_unequal_mean,
    people_mean,
)
from touchstone.statistics.three_means import PeoplesQueries, queries_for, three_means

SIZE = 120


def values(n, *, seed=5, noise=0.2):
    """Y of people's n queries, F of all 120, and people's places."""
    rng = np.random.default_rng(seed)
    y = rng.beta(2, 1.5, SIZE)
    f = np.clip(0.8 * y + 0.2 + rng.normal(0, noise, SIZE), 0, 1)
    rows = np.sort(rng.choice(SIZE, n, replace=False))
    return y[rows], f, rows


def drawn(rows, *, target="list", strata=None, pi=None):
    codes = np.zeros(SIZE, np.int64) if strata is None else strata
    shares = np.bincount(codes) / SIZE
    return PeoplesQueries(target, rows, codes, shares, pi)


def ends(found):
    return [float(getattr(found, name)) for name in ("low", "high")]


def test_of_a_list_they_are_its_formulas():
    y, f, rows = values(30)
    found = three_means(y, f, drawn(rows))
    own = corrected_list_mean(y, f[rows], f)
    assert found.corrected.value == pytest.approx(float(own.estimate), rel=1e-12)
    assert ends(found.corrected) == pytest.approx(ends(own), rel=1e-12)
    assert ends(found.people) == pytest.approx(ends(people_mean(y, size=SIZE)), rel=1e-12)
    assert found.weight == float(own.weight)
    machine = found.machine
    assert (machine.value, machine.half, machine.n) == (pytest.approx(f.mean()), 0, SIZE)
    residuals = y - found.weight * f[rows]
    assert found.spread == pytest.approx(residuals.std(ddof=2))
    assert (found.people.n, found.corrected.n, found.is_reliable) == (30, 30, True)


def test_of_a_population_they_are_its_formulas():
    y, f, rows = values(30)
    found = three_means(y, f, drawn(rows, target="population"))
    others = np.delete(f, rows)
    assert ends(found.corrected) == pytest.approx(
        ends(corrected_sample_mean(y, f[rows], others)), rel=1e-12
    )
    assert ends(found.people) == pytest.approx(ends(people_mean(y)), rel=1e-12)
    assert ends(found.machine) == pytest.approx(ends(people_mean(f)), rel=1e-12)


@pytest.mark.parametrize("target", ["list", "population"])
def test_of_strata_each_is_corrected_by_itself(target):
    y, f, rows = values(80)
    strata = (np.arange(SIZE) >= 50).astype(np.int64)
    found = three_means(y, f, drawn(rows, target=target, strata=strata))
    parts, people = [], []
    for code in (0, 1):
        own, every = strata[rows] == code, strata == code
        if target == "list":
            parts.append(corrected_list_mean(y[own], f[rows[own]], f[every]))
            people.append(people_mean(y[own], size=int(every.sum())))
        else:
            rest = np.setdiff1d(np.flatnonzero(every), rows)
            parts.append(corrected_sample_mean(y[own], f[rows[own]], f[rest]))
            people.append(people_mean(y[own]))
    shares = [50 / SIZE, 70 / SIZE]
    assert ends(found.corrected) == pytest.approx(
        ends(corrected_strata_mean(parts, shares)), rel=1e-12
    )
    assert ends(found.people) == pytest.approx(
        ends(corrected_strata_mean(people, shares)), rel=1e-12
    )


def test_of_unequal_chances_people_are_weighted_by_them():
    y, f, rows = values(60)
    pi = np.random.default_rng(1).uniform(0.3, 0.9, 60)
    found = three_means(y, f, drawn(rows, pi=pi))

    def variance(own):
        return sequential_poisson_variance(own, pi)

    corrected = corrected_unequal_mean(y, f[rows], pi, f, variance)
    assert ends(found.corrected) == pytest.approx(ends(corrected), rel=1e-12)
    error = np.sqrt(variance(mean_influence(y, pi)))
    assert found.people.value == pytest.approx(hajek_mean(y, pi), rel=1e-12)
    assert found.people.half == pytest.approx(stats.t.ppf(0.975, 59) * error, rel=1e-12)


@pytest.mark.parametrize("target", ["list", "population"])
def test_it_is_worth_the_queries_that_people_alone_would_need(target):
    y, f, rows = values(20, noise=0.1)
    found = three_means(y, f, drawn(rows, target=target))

    def half(n):
        left = 1 - n / SIZE if target == "list" else 1
        return stats.t.ppf(0.975, n - 1) * np.sqrt(left * y.var(ddof=1) / n)

    needed = 20 + found.worth
    assert found.worth > 20
    assert half(needed) <= found.corrected.half < half(needed - 1)


def test_with_unequal_chances_the_standard_error_falls_with_the_root_of_the_number():
    y, f, rows = values(60, noise=0.05)
    found = three_means(y, f, drawn(rows, pi=np.full(60, 0.5)))
    needed = 60 + found.worth
    before = found.people.half / stats.t.ppf(0.975, 59)
    halves = [stats.t.ppf(0.975, n - 1) * before * np.sqrt(60 / n) for n in (needed, needed - 1)]
    assert needed == SIZE or halves[0] <= found.corrected.half < halves[1]


def test_a_useless_machine_is_worth_nothing():
    y, _, rows = values(20)
    found = three_means(y, np.full(SIZE, 0.5), drawn(rows))
    assert (found.weight, found.worth) == (0, 0)
    assert found.corrected.value == found.people.value


def test_a_list_that_people_judged_whole_is_not_refused():
    y, f, _ = values(SIZE)
    found = three_means(y, f, drawn(np.arange(SIZE)))
    assert (found.corrected.half, found.worth, found.is_reliable) == (0, 0, True)
    small = PeoplesQueries("list", np.arange(9), np.zeros(9, np.int64), np.ones(1))
    assert three_means(y[:9], f[:9], small).corrected.value == pytest.approx(y[:9].mean())


@pytest.mark.parametrize(
    ("n", "strata"), [(14, None), (40, (np.arange(SIZE) >= 110).astype(np.int64))]
)
def test_few_queries_of_people_are_refused_also_in_a_stratum(n, strata):
    y, f, rows = values(n)
    with pytest.raises(CorrectionRefusedError, match="takes 15 or more"):
        three_means(y, f, drawn(rows, strata=strata))


def test_intervals_are_marked_where_too_few_queries_differ_from_one_value_or_from_the_machine():
    y, f, rows = values(30)
    assert three_means(y, f, drawn(rows)).is_reliable
    same = y.copy()
    same[:21] = 1.0
    assert not three_means(same, f, drawn(rows)).is_reliable
    agreeing = f.copy()
    agreeing[rows[:16]] = y[:16]
    assert not three_means(y, agreeing, drawn(rows)).is_reliable
    y, f, rows = values(60)
    uneven = np.full(60, 0.9)
    uneven[:6] = 0.05
    assert not three_means(y, f, drawn(rows, pi=uneven)).is_reliable


@pytest.mark.parametrize(
    ("n", "differing", "is_reliable"),
    [(30, 15, True), (30, 14, False), (50, 20, True), (50, 19, False), (80, 24, True),
     (80, 23, False), (100, 24, False), (100, 31, True)],
)  # fmt: skip
def test_how_many_must_differ_is_cochrans_table(n, differing, is_reliable):
    """Of 50 queries 40 %, of 80 30 %; with half of them, none too few."""
    y, f, rows = values(n)
    f[rows] = y
    f[rows[:differing]] += 0.1
    assert three_means(y, f, drawn(rows)).is_reliable == is_reliable
    y[differing:] = 0.5
    f[rows] = y + 0.1
    is_minority = differing < n / 3
    assert three_means(y, f, drawn(rows)).is_reliable == (is_reliable or not is_minority)


def test_a_stratum_that_people_judged_whole_is_not_marked():
    y, f, rows = values(SIZE)
    rows = np.sort(rows)
    strata = (np.arange(SIZE) < 20).astype(np.int64)
    own = np.flatnonzero((rows < 20) | (rows % 2 == 0))
    f[:20] = y[:20]
    some = drawn(rows[own], strata=strata)
    assert three_means(y[own], f, some).is_reliable
    half = own[(own >= 20) | (own % 8 != 0)]
    assert not three_means(y[half], f, drawn(rows[half], strata=strata)).is_reliable


def test_the_planner_takes_the_fewest_queries_that_give_the_interval():
    def half(n):
        return stats.t.ppf(0.975, n - 2) * 0.2 * np.sqrt((1 - n / 300) / n)

    n = queries_for(0.05, spread=0.2, size=300)
    assert half(n) <= 0.05 < half(n - 1)
    assert queries_for(0.5, spread=0.2, size=300) == 15
    assert queries_for(1e-9, spread=0.2, size=300) == 300
    assert queries_for(0.01, spread=0.2, size=9) == 9
