"""Measures of agreement against the examples that their authors published."""

import csv
import gzip
import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from touchstone.agreement.alpha import LEVELS, alpha, alpha_with_others, alphas, label_alphas
from touchstone.agreement.bootstrap import Agreement
from touchstone.agreement.counts import coincidences, count_labels, count_own, two_way_table
from touchstone.agreement.kappas import cohen_kappa, fleiss_kappa, gwet_ac2, percent, specific

# Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, example D: four observers,
# twelve units, missing data. Gwet's irrCAC package has the same data as `cac.raw4raters`.
FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]


def counted(rows, values):
    """Counts of rows of observers' grades, 0 where one is missing; grades count from 1."""
    table = np.array(rows)
    units = np.broadcast_to(np.arange(table.shape[1]), table.shape)
    there = table > 0
    return count_labels(units[there], table[there] - 1, values)


def labels(pairs, values=range(5)):
    units, steps = zip(*pairs, strict=True)
    return count_labels(np.array(units), np.array(steps), values)


def rounded(found: Agreement, digits: int) -> float:
    assert found.value is not None
    return round(found.value, digits)


@pytest.fixture(scope="module")
def four_observers():
    return counted(FOUR_OBSERVERS, [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_that_of_krippendorffs_example_with_missing_data(four_observers, level, published):
    found = alpha(four_observers, level)
    assert rounded(found, 3) == published
    # unit 12 has one label, so it is not pairable
    assert (found.level, found.units, found.labels, found.why) == (level, 11, 40, "")
    assert found.low < found.value < found.high


def test_alpha_is_that_of_krippendorffs_example_with_two_observers():
    # the same paper, example A: binary data, two observers, ten units
    found = alpha(counted([[1, 2, 1, 1, 1, 1, 1, 1, 2, 1], [2, 2, 2, 1, 1, 2, 1, 1, 1, 1]], [0, 1]))
    assert rounded(found, 3) == 0.095


def test_alpha_is_that_of_krippendorffs_nominal_example():
    # the same paper, example B: nominal data, a to e as 1 to 5
    found = alpha(
        counted(
            [[1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1], [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]], range(5)
        ),
        "nominal",
    )
    assert rounded(found, 3) == 0.692


def test_fleiss_kappa_is_that_of_his_paper_as_it_is_commonly_shown():
    # Wikipedia, Fleiss' kappa, worked example: fourteen raters, ten subjects, five categories
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    given_labels = [
        (unit, step)
        for unit, row in enumerate(table)
        for step, count in enumerate(row)
        for _ in range(count)
    ]
    assert rounded(fleiss_kappa(labels(given_labels)), 3) == 0.210


def test_fleiss_kappa_and_ac1_with_missing_data_are_those_of_gwets_package(four_observers):
    # irrCAC, vignette overview: fleiss.kappa.raw and gwet.ac1.raw of cac.raw4raters
    assert rounded(fleiss_kappa(four_observers), 5) == 0.76117
    assert rounded(gwet_ac2(four_observers, weights="none"), 5) == 0.77544
    assert rounded(percent(four_observers), 7) == 0.8181818


def test_ac2_with_quadratic_weights_is_worked_out_by_hand(four_observers):
    # Gwet 2014, ch. 3, equations 3.5.2 and 3.5.3, term by term with the table of the example
    rows = np.array(
        [[sum(seen[unit] == grade for seen in FOUR_OBSERVERS) for grade in range(1, 6)]
         for unit in range(12)]
    )  # fmt: skip
    weight = [[1 - (a - b) ** 2 / 16 for b in range(5)] for a in range(5)]
    observed = np.mean(
        [
            sum(
                row[k] * (sum(weight[k][m] * row[m] for m in range(5)) - 1)
                for k in range(5)
            ) / (row.sum() * (row.sum() - 1))
            for row in rows
            if row.sum() >= 2
        ]
    )  # fmt: skip
    shares = np.mean([row / row.sum() for row in rows], axis=0)
    expected = np.sum(weight) / 20 * sum(share * (1 - share) for share in shares)
    found = gwet_ac2(four_observers)
    assert found.value == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)
    assert rounded(found, 4) == 0.9140


# Agresti, Categorical Data Analysis, 2nd ed. 2002, table 10.8: two pathologists, 118 slides
PATHOLOGISTS = [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]]
# Agresti 1990, as `SexualFun` in the R package vcd, whose manual prints both kappas
COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]


@pytest.mark.parametrize(
    ("table", "weights", "published"),
    [
        (PATHOLOGISTS, "none", "0.493"),
        (PATHOLOGISTS, "quadratic", "0.78"),
        (COUPLES, "none", "0.1293"),
        (COUPLES, "linear", "0.2374"),
    ],
)
def test_cohens_kappa_is_that_of_the_textbooks(table, weights, published):
    found = cohen_kappa(np.array(table), range(4), weights=weights)
    assert f"{found.value:.{len(published) - 2}f}" == published
    assert found.units == np.sum(table)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohens_kappa_of_labels_is_scikit_learns(weights):
    rng = np.random.default_rng(4)
    units, first = np.arange(300), rng.integers(0, 5, 300)
    second = np.clip(first + rng.integers(-1, 3, 300), 0, 4)
    shared = units[100:]
    table = two_way_table((units, first), (shared, second[100:]), 5)
    found = cohen_kappa(table, range(5), weights=weights)
    ours = None if weights == "none" else weights
    theirs = cohen_kappa_score(first[100:], second[100:], labels=range(5), weights=ours)
    assert found.value == pytest.approx(theirs, abs=1e-12)
    assert found.units == 200


def test_percent_within_one_counts_neighbours_as_agreeing():
    counts = labels([(1, 0), (1, 1), (2, 3), (2, 3), (3, 0), (3, 4)])
    assert percent(counts).value == pytest.approx(1 / 3)
    assert percent(counts, within=1).value == pytest.approx(2 / 3)


def test_where_everybody_always_says_the_same_alpha_is_undefined_and_says_so():
    counts = labels([(unit, 2) for unit in range(30) for _ in range(3)])
    for found in (*(alpha(counts, level) for level in LEVELS), fleiss_kappa(counts)):
        assert (found.value, found.low, found.high) == (None, None, None)
        assert (found.why, found.units) == ("no_variation", 30)
    # what does not divide by chance has an answer: they agree
    assert gwet_ac2(counts).value == percent(counts).value == 1


@pytest.mark.parametrize(
    "pairs",
    [
        [(unit, unit % 5) for unit in range(30)],  # one label a pair
        [(1, 3), (1, 3), (2, 0), (3, 1)],  # one pair with two
    ],
)
def test_without_overlap_there_is_no_number(pairs):
    counts = labels(pairs)
    table = np.zeros((5, 5), dtype=int)
    table[1, 1] = 1
    for found in (
        *(alpha(counts, level) for level in LEVELS),
        fleiss_kappa(counts), gwet_ac2(counts), percent(counts), cohen_kappa(table, range(5)),
    ):  # fmt: skip
        assert (found.value, found.low, found.high, found.why) == (None, None, None, "no_overlap")


def test_labels_that_are_alone_on_their_pair_change_no_alpha(four_observers):
    alone = [(100 + unit, 4) for unit in range(50)]
    rows = [(unit, seen[unit] - 1) for seen in FOUR_OBSERVERS for unit in range(12) if seen[unit]]
    assert alpha(labels(rows + alone, [1, 2, 3, 4, 5])).value == alpha(four_observers).value


def test_no_label_at_all_is_no_overlap():
    nothing = np.array([], dtype=np.int64)
    counts = count_labels(nothing, nothing, range(5))
    assert alpha(counts).why == gwet_ac2(counts).why == "no_overlap"


def test_a_step_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="outside the scale"):
        labels([(1, 5)])


def test_two_grades_of_the_same_value_are_still_two_names():
    counts = labels([(1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (3, 2)], [0.0, 0.0, 1.0])
    assert percent(counts).value == pytest.approx(1 / 3)
    assert alpha(counts, "nominal").value < 1
    assert alpha(counts, "interval").value == 1


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=60),
    st.sampled_from(LEVELS),
)
def test_alpha_of_coincidences_is_the_packages(pairs, level):
    counts = labels(pairs)
    found = alpha(counts, level, resamples=0)
    ours = alphas(
        np.einsum("p,pij->ij", counts.units.astype(float), coincidences(counts))[None],
        counts.values,
        level,
    )[0]
    if found.value is None:
        assert np.isnan(ours) or counts.pairable().units.sum() < 2
    else:
        assert ours == pytest.approx(found.value, abs=1e-9)


def test_the_interval_is_that_of_drawing_units_one_by_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 80)
    steps = np.clip(truth[:, None] + rng.integers(-1, 2, (80, 3)), 0, 4)
    counts = count_labels(np.repeat(np.arange(80), 3), steps.reshape(-1), range(5))
    found = alpha(counts, "ordinal", resamples=2_000, seed=7)
    slow = []
    for _ in range(400):
        drawn = steps[rng.integers(0, 80, 80)]
        rows = np.array([np.bincount(row, minlength=5) for row in drawn])
        slow.append(krippendorff.alpha(value_counts=rows, level_of_measurement="ordinal"))
    low, high = np.quantile(slow, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def test_the_interval_follows_from_the_seed(four_observers):
    first, again = (alpha(four_observers, seed=5) for _ in range(2))
    assert first == again != alpha(four_observers, seed=6)
    assert alpha(four_observers, resamples=0).low is None


@pytest.mark.data
def test_three_raters_of_products_agree_as_the_collection_records(data_dir):
    folder = data_dir / "chorus-ecommerce"
    with (folder / "derived" / "ratings_long.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    recorded = json.loads((folder / "expected" / "krippendorff_alpha.json").read_text())
    names: dict[tuple[str, str], int] = {}
    for name, raters in (
        ("all_3_raters", {"agent_1", "agent_2", "agent_3"}),
        ("agent_2_vs_agent_3", {"agent_2", "agent_3"}),
    ):
        chosen = [row for row in rows if row["annotator"] in raters]
        units = [names.setdefault((row["query_id"], row["doc_id"]), len(names)) for row in chosen]
        counts = count_labels(
            np.array(units), np.array([int(row["grade"]) for row in chosen]), range(4)
        )
        for level in LEVELS:
            found = alpha(counts, level)
            assert rounded(found, 6) == recorded[name][level]
            assert found.units == recorded[name]["items_with_2+"]
            assert found.low < found.value < found.high


@pytest.mark.data
def test_a_crowd_agrees_as_the_collection_records(data_dir):
    path = data_dir / "crowd-trec2011-vuurens" / "raw" / "votes.gz"
    with gzip.open(path, "rt") as file:
        rows = [line.split() for line in file]
    names: dict[str, int] = {}
    units = np.array([names.setdefault(row[1], len(names)) for row in rows])
    counts = count_labels(units, np.array([int(row[3]) for row in rows]), [0, 1])
    assert [rounded(alpha(counts, level), 4) for level in LEVELS] == [0.1658] * 3


def of_one(rows, person, values):
    """Each unit's label by one observer beside the others', as rows of observers' grades."""
    table = np.array(rows)
    units = np.broadcast_to(np.arange(table.shape[1]), table.shape)
    people = np.broadcast_to(np.arange(table.shape[0])[:, None], table.shape)
    there = table > 0
    return count_own(units[there], table[there] - 1, people[there] == person, values)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("person", [0, 1])
def test_with_two_labels_on_every_unit_alpha_with_the_others_is_alpha(level, person):
    rows = [[1, 2, 3, 3, 2, 1, 4, 1], [1, 2, 3, 4, 2, 2, 4, 1]]
    whole = alpha(counted(rows, [1, 2, 3, 4]), level)
    found = alpha_with_others(of_one(rows, person, [1, 2, 3, 4]), level)
    assert found.value == pytest.approx(whole.value, abs=1e-12)
    assert (found.units, found.low) == (whole.units, pytest.approx(whole.low, abs=1e-12))


def test_alpha_with_the_others_leaves_out_how_the_others_differ_among_themselves():
    # the first agrees with the mean of the others as far as can be; these never agree
    rows = [[1, 3, 1, 3, 2], [1, 3, 1, 3, 2], [3, 1, 3, 1, 2]]
    first, odd = (alpha_with_others(of_one(rows, person, [1, 2, 3])).value for person in (0, 2))
    # by hand, nominal: 10 labels of the first beside halves of the others'; grades 1, 2, 3 fall
    # 4, 2, 4 times, and 4 of 10 coincidences differ: 1 - 9 * 4 / (100 - 16 - 4 - 16)
    nominal = alpha_with_others(of_one(rows, 0, [1, 2, 3]), "nominal").value
    assert nominal == pytest.approx(1 - 9 * 4 / 64)
    assert odd < 0 < first
    alone = of_one([[1, 2, 0], [0, 0, 3]], 0, [1, 2, 3])
    assert alpha_with_others(alone).why == "no_overlap"
    same = of_one([[2, 2, 2], [2, 2, 2]], 0, [1, 2, 3])
    assert alpha_with_others(same).why == "no_variation"


def test_specific_agreement_is_worked_out_by_hand():
    # Fleiss, Statistical Methods for Rates and Proportions, 1981: 2a / (2a + b + c) of two people
    rows = [(0, 0), (0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (3, 1), (3, 1), (4, 0)]
    counts = labels(rows, range(3))
    found = [specific(counts, step) for step in range(3)]
    assert found[0].value == pytest.approx(2 * 1 / (2 * 1 + 2))
    assert found[1].value == pytest.approx(2 * 1 / (2 * 1 + 2))
    assert (found[0].units, found[0].labels, found[0].level) == (3, 6, "nominal")
    assert found[0].low <= found[0].value <= found[0].high
    assert (found[2].value, found[2].why) == (None, "no_overlap")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("person", range(4))
def test_what_each_label_adds_has_alpha_with_the_others_as_its_mean(level, person):
    table = np.array(FOUR_OBSERVERS)
    units = np.broadcast_to(np.arange(table.shape[1]), table.shape)
    people = np.broadcast_to(np.arange(table.shape[0])[:, None], table.shape)
    there, values = table > 0, [1, 2, 3, 4, 5]
    found = label_alphas(units[there], table[there] - 1, people[there] == person, values, level)
    assert len(found) == (table[person] > 0).sum()
    whole = alpha_with_others(of_one(FOUR_OBSERVERS, person, values), level).value
    assert np.nanmean(found) == pytest.approx(whole, abs=1e-12)


def test_labels_that_are_alone_or_all_the_same_add_nothing_that_could_be_said():
    own, everybody = np.array([True, False, True, False]), np.ones(4, dtype=bool)
    alone = label_alphas(np.arange(4), np.array([0, 1, 2, 3]), everybody, range(5))
    same = label_alphas(np.array([0, 0, 1, 1]), np.array([2, 2, 2, 2]), own, range(5))
    assert np.isnan(alone).all()
    assert np.isnan(same).all()
    nothing = np.array([], dtype=int)
    assert len(label_alphas(nothing, nothing, nothing.astype(bool), range(5))) == 0
