"""Inverse propensity estimates: formulas, clusters, clipping, and what has no support."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.clicks.counterfactual import counterfactual, effective_sample_size
from touchstone.clicks.policy_log import read_policy_log
from touchstone.clicks.rankings import Ranking, ranking_report
from touchstone.clicks.sessions import Sessions
from touchstone.files.errors import FileRefused
from touchstone.statistics.clustered import clustered_mean, clustered_ratio

REWARDS = np.array([1.0, 0, 1, 0, 1])
LOGGING = np.array([0.5, 0.5, 0.25, 0.2, 0.8])
TARGET = np.array([0.9, 0.1, 0.5, 0.1, 0.0])


def test_estimates_are_their_formulas() -> None:
    weights = [0.9 / 0.5, 0.1 / 0.5, 0.5 / 0.25, 0.1 / 0.2, 0]
    found = counterfactual(REWARDS, LOGGING, TARGET, clips=[1.9])
    assert found.ips.value == pytest.approx((weights[0] + weights[2]) / 5)
    assert found.snips.value == pytest.approx((weights[0] + weights[2]) / sum(weights))
    assert found.ess == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert found.logged.value == 3 / 5
    assert found.largest[0] == (2, 2.0)
    assert [row for row, _ in found.largest] == [2, 0, 3, 1, 4]
    (clipped,) = found.sensitivity
    assert (clipped.clip, clipped.share) == (1.9, 0.2)
    assert clipped.ips.value == pytest.approx((weights[0] + 1.9) / 5)


def test_without_clusters_the_interval_is_students() -> None:
    found = counterfactual(REWARDS, LOGGING, TARGET)
    values = TARGET / LOGGING * REWARDS
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.ips.low, found.ips.high) == pytest.approx((expected.low, expected.high))


def test_clusters_of_one_size_are_a_t_interval_of_their_means() -> None:
    values = np.random.default_rng(1).normal(size=60)
    cluster = np.repeat(np.arange(12), 5)
    found = clustered_mean(values, cluster)
    expected = stats.ttest_1samp(values.reshape(12, 5).mean(axis=1), 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_ratio_varies_as_its_jackknife_says() -> None:
    rng = np.random.default_rng(2)
    numerators, denominators = rng.normal(3, 1, size=900), rng.uniform(1, 2, size=900)
    cluster = rng.integers(0, 300, size=900)
    found = clustered_ratio(numerators, denominators, cluster)
    left_out = np.array(
        [
            numerators[cluster != one].sum() / denominators[cluster != one].sum()
            for one in np.unique(cluster)
        ]
    )
    groups = len(left_out)
    jackknife = np.sqrt((groups - 1) / groups * ((left_out - left_out.mean()) ** 2).sum())
    assert found.standard_error == pytest.approx(jackknife, rel=0.02)


def test_one_cluster_has_no_interval_and_no_weight_no_ratio() -> None:
    one = counterfactual(REWARDS, LOGGING, TARGET, np.zeros(5, dtype=np.int64))
    assert (one.clusters, one.ips.low, one.snips.high) == (1, None, None)
    none = counterfactual(REWARDS, LOGGING, np.zeros(5))
    assert (none.ips.value, none.ess) == (0.0, 0.0)
    assert np.isnan(none.snips.value)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=20))
def test_the_effective_sample_size_is_at_most_the_sample(weights: list[float]) -> None:
    found = effective_sample_size(np.array(weights))
    assert 1 - 1e-9 <= found <= len(weights) + 1e-9
    assert effective_sample_size(np.full(len(weights), weights[0])) == pytest.approx(len(weights))


@pytest.mark.parametrize(
    ("logging", "target"), [([0.0], [0.5]), ([1.1], [0.5]), ([0.5], [-0.1]), ([0.5], [1.1])]
)
def test_impossible_probabilities_are_refused(logging: list[float], target: list[float]) -> None:
    with pytest.raises(ValueError, match="probability"):
        counterfactual(np.array([1.0]), np.array(logging), np.array(target))
    with pytest.raises(ValueError, match="no observation"):
        counterfactual(np.array([]), np.array([]), np.array([]))


HEADER = "reward,logging_probability,target_probability"


def test_a_policy_log_is_read_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "cluster,target_probability,note,reward,logging_probability\n"
        "a,0.5,x,-1,1\n\nb,0,y,2.5,1e-3\na,1,z,0,0.25\n"
    )
    log = read_policy_log(path, name="log.csv")
    assert log.rewards.tolist() == [-1, 2.5, 0]
    assert log.logging.tolist() == [1, 1e-3, 0.25]
    assert log.target.tolist() == [0.5, 0, 1]
    assert log.clusters is not None
    assert log.clusters.tolist() == [0, 1, 0]
    assert log.lines == (2, 4, 5)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "log.csv:1: empty: the file has no observations."),
        (f"{HEADER}\n", "log.csv:1: empty: the file has no observations."),
        ("reward,target_probability\n", "log.csv:1: header: missing column logging_probability;"),
        (f"{HEADER},reward\n", "log.csv:1: header: the column reward appears twice."),
        (f"{HEADER}\n1,0.5\n", "log.csv:2: columns: 2 columns, but the header has 3."),
        (f"{HEADER}\nx,0.5,0.5\n", "log.csv:2: number: the reward “x” is not a number."),
        (f"{HEADER}\n1e999,0.5,0.5\n", "log.csv:2: not-finite: the reward “1e999” is too large."),
        (f"{HEADER}\n1,0,0.5\n", "log.csv:2: number: the logging_probability 0 is not above 0"),
        (f"{HEADER}\n1,0.5,1.5\n", "log.csv:2: number: the target_probability 1.5 is not from"),
        (f"{HEADER},cluster\n1,0.5,1,\n", "log.csv:2: id: the cluster is empty."),
    ],
)
def test_a_wrong_policy_log_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(FileRefused) as refused:
        read_policy_log(path, name="log.csv")
    assert str(refused.value).startswith(problem)


# two pages of query 1 (documents 5, 6; clicks on 6 at position 2), one of query 2
PAGES = Sessions(
    session=np.array([0, 0, 1, 1, 2, 2]),
    position=np.array([1, 2, 1, 2, 1, 2]),
    query=np.array([1, 1, 1, 1, 2, 2]),
    document=np.array([5, 6, 5, 6, 7, 8]),
    click=np.array([False, True, False, True, True, False]),
)
# query 1: 6 first, then 9, which no page showed; query 3 has no page
NEW = Ranking(
    query=np.array([1, 1, 2, 3]), document=np.array([6, 9, 7, 1]), rank=np.array([1, 2, 1, 1])
)


def test_a_rankings_dcg_weights_clicks_by_examination() -> None:
    found = ranking_report(PAGES.evidence, np.array([1.0, 0.25]), NEW, k=2)
    assert found is not None
    assert found.dcg.value == pytest.approx((1 / 0.25 + 1 / 0.25 + 1) / 3)
    assert (found.pages, found.clicks, found.largest_weight) == (3, 3, 4.0)
    assert found.never_shown == 1 / 3
    floored = ranking_report(PAGES.evidence, np.array([1.0, 0.25]), NEW, k=2, floor=0.5)
    assert floored is not None
    assert floored.dcg.value == pytest.approx((2 + 2 + 1) / 3)
    assert floored.floored == pytest.approx(2 / 3)


def test_a_ranking_without_support_has_no_number() -> None:
    nothing = Ranking(np.array([1]), np.array([9]), np.array([1]))
    assert ranking_report(PAGES.evidence, np.array([1.0, 0.5]), nothing, k=1) is None
    assert ranking_report(PAGES.evidence, np.array([1.0, 0.5]), NEW, k=0) is None


@pytest.mark.parametrize("examination", [[1.0], [1.0, 0.0], [1.0, np.nan]])
def test_unknown_examination_is_refused(examination: list[float]) -> None:
    with pytest.raises(ValueError, match="examination"):
        ranking_report(PAGES.evidence, np.array(examination), NEW, k=1)
