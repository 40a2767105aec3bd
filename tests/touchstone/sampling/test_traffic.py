"""Traffic logs: how they are read, how concentrated they are, strata by cumulative traffic."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.files.errors import FileRefused
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.traffic import Concentration, read_traffic, traffic_strata

COUNTS = st.lists(st.integers(1, 50), min_size=4, max_size=60)


def read(text: str | bytes, **columns: str) -> list[tuple[str, int, str]]:
    data = text.encode() if isinstance(text, str) else text
    rows: list[tuple[str, int, str]] = []
    for block in read_traffic(io.BytesIO(data), name="log", columns=columns):
        segments = block.segments or [""] * len(block.texts)
        texts = [one.decode() for one in block.texts]
        rows += zip(texts, block.searches.tolist(), segments, strict=True)
    return rows


@pytest.mark.parametrize(
    "text",
    [
        'query,searches\n"a, b",3\n c ,1\n',
        "Count;Query\n3;a, b\n1; c \n",
        "query\tfrequency\na, b\t3\n c \t1\n",
        "\ufeffsearch_term|volume\na, b|3\n c |1.0\n",
    ],
)
def test_columns_and_separators_are_recognised(text):
    assert read(text) == [("a, b", 3, ""), (" c ", 1, "")]
    assert read(gzip.compress(text.encode())) == [("a, b", 3, ""), (" c ", 1, "")]


def test_quotation_marks_mean_nothing_between_tabs():
    assert read('query\tsearches\tmarket\n"a" b\t3\t de \n') == [('"a" b', 3, "de")]


def test_a_person_says_what_columns_are():
    text = "query,count,total\na,1,5\n"
    assert read(text) == [("a", 1, "")]
    assert read(text, count="", total="searches") == [("a", 5, "")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,total\na,1\n", "no column has the searches"),
        ("red shoes\t5\nblue\t2\n", "the first line must name the columns"),
        ("query,searches\n", "no queries"),
        ("query,searches\na,0\n", "a whole number from 1"),
        ("query,searches\na,1.5\n", "a whole number from 1"),
        ("query,searches\na,many\n", "not a number"),
        ("query,searches\n,4\n", "the query is empty"),
        ('{"query": "a", "searches": 1}\n', "the first line must name the columns"),
    ],
)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(FileRefused) as refused:
        read(text)
    assert said in " ".join(one.message for one in refused.value.problems)


@given(COUNTS, st.floats(0.01, 0.99))
def test_concentration_is_that_of_the_sorted_counts(counts, share):
    found = Concentration.of(np.array(counts))
    rows = sorted(counts, reverse=True)
    for top in range(1, len(rows) + 1):
        assert found.share_of_top(top) == sum(rows[:top]) / sum(rows)
    needed = found.queries_for(share)
    assert sum(rows[:needed]) >= share * sum(rows) > sum(rows[: needed - 1])


def loop_strata(counts: list[int], cuts: list[int]) -> list[int]:
    """How many queries each stratum has: a cut lies after the last query that ties with it."""
    found: list[int] = []
    rows = sorted(counts, reverse=True)
    for cut in [*sorted(cuts), 100]:
        reached = 0
        while 100 * sum(rows[:reached]) < cut * sum(rows):
            reached += 1
        while reached < len(rows) and rows[reached] == rows[reached - 1]:
            reached += 1
        found.append(max(reached - sum(found), 0))
    return found


@given(COUNTS, st.lists(st.integers(1, 99), unique=True, max_size=3))
def test_strata_part_the_frame_by_searches(counts, cuts):
    array = np.array(counts)
    try:
        strata = traffic_strata(Concentration.of(array), sorted(cut / 100 for cut in cuts))
    except SamplingError:
        # the same rule by a loop: the stratum in which each cumulative share ends
        assert min(loop_strata(counts, cuts)) < 2
        return
    assert loop_strata(counts, cuts) == strata.queries.tolist()
    codes = strata.codes(array)
    assert np.bincount(codes, minlength=len(strata.names)).tolist() == strata.queries.tolist()
    for code, (least, searches) in enumerate(zip(strata.least, strata.searches, strict=True)):
        own = array[codes == code]
        assert (own.min(), own.sum()) == (least, searches)
        assert len(own) >= 2
        assert code == 0 or own.max() < strata.least[code - 1]


@pytest.mark.parametrize("cuts", [(0.0,), (0.5, 0.5), (0.9, 0.5), (1.0,), (float("nan"),)])
def test_cuts_rise_between_none_and_all(cuts):
    with pytest.raises(SamplingError, match="rising shares"):
        traffic_strata(Concentration.of(np.arange(1, 100)), cuts)


def test_strata_have_the_fields_names_or_their_shares():
    found = Concentration.of(np.arange(1, 1000))
    assert traffic_strata(found, (0.5, 0.9)).names == ("head", "torso", "tail")
    assert traffic_strata(found, (0.25, 0.5, 0.905)).names == (
        "0-25 %", "25-50 %", "50-90.5 %", "90.5-100 %",
    )  # fmt: skip
