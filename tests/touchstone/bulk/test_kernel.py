"""The kernel against a reference in plain Python, and every rule about odd rows."""

import math
import random
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.touchstone.bulk.builders import counts, means, plan, table
from tests.touchstone.bulk.generator import interactions
from tests.touchstone.bulk.reference import plain_ndcg, rounded_sum
from touchstone.bulk.counts import report
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.plan import Plan
from touchstone.measures.errors import MeasureError

USERS = {"query": "user", "document": "item"}


@pytest.mark.parametrize("text", [False, True])
def test_sums_are_those_of_a_plain_reference(text: bool) -> None:
    rows = pa.concat_tables(interactions(6_000, seed=3, giant=0.2, text=text))
    asked = plan("nDCG@5 nDCG(gain='exp2')@20", by="country", **USERS)
    users: dict[object, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.to_pylist():
        users[row["user"]].append(row)
    found = report(asked, counts(rows, asked))
    assert (found["rows"], found["queries"]) == (6_000, len(users))
    for exponential, name, k in ((False, "nDCG@5", 5), (True, "nDCG(gain='exp2')@20", 20)):
        values = {
            user: plain_ndcg(own, k, exponential=exponential)
            for user, own in users.items()
            if any(row["grade"] is not None for row in own)
        }
        measured = found["measures"][name]
        assert measured["sum"] == str(rounded_sum(list(values.values())))
        assert measured["mean"] == pytest.approx(np.mean(list(values.values())), rel=1e-12)
        error = np.std(list(values.values()), ddof=1) / math.sqrt(len(values))
        assert measured["se"] == pytest.approx(error, rel=1e-9)
        for country, segment in found["segments"].items():
            here = [value for user, value in values.items() if users[user][0]["country"] == country]
            assert segment["measures"][name]["sum"] == str(rounded_sum(here))


def test_neither_the_order_of_rows_nor_how_they_are_divided_changes_a_bit() -> None:
    rows = pa.concat_tables(interactions(20_000, seed=4, giant=0.3))
    measures = (
        "nDCG@10 nDCG(ties='averaged')@10 nDCG(ideal='recall')@3 AP RBP(p=0.8) Bpref infAP "
        "nDCG(unjudged='condensed')@10 P@5 nDCG(scores='float64')@10 nDCG(ties='docid_asc')@10"
    )
    asked = plan(measures, by="country", **USERS)
    whole = counts(rows, asked)
    rng = np.random.default_rng(1)
    assert counts(rows.take(rng.permutation(rows.num_rows)), asked) == whole
    users = np.asarray(rows.column("user"))
    parts = [counts(rows.filter(pa.array(users % 7 == part)), asked) for part in range(7)]
    random.Random(1).shuffle(parts)
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merged(part)
    assert merged == whole


def test_ties_are_broken_by_the_documents_text_descending_numbers_too() -> None:
    """As in the TREC files that these rows would make: "9" before "10", "é" before "z"."""
    for ids, first in (([9, 10], 9), (["z", "é"], "é"), (["a", "ab"], "ab"), (["a", "a\0"], "a\0")):
        for best in (0, 1):
            rows = [("q", one, 0.5, int(place == best)) for place, one in enumerate(ids)]
            expected = 1.0 if ids[best] == first else 0.5
            assert means(rows, plan("RR"))["RR"] == expected
            assert (
                means(rows, plan("RR(ties='docid_asc')"))["RR(ties='docid_asc')"] == 1.5 - expected
            )


def test_very_long_documents_are_ordered_as_short_ones() -> None:
    stem = "x" * 600
    rows = [("q", f"{stem}a", 0.5, 0), ("q", f"{stem}b", 0.5, 1), ("q", f"{stem}", 0.5, 0)]
    assert means(rows, plan("RR"))["RR"] == 1.0


def test_scores_tie_in_single_precision_unless_the_measure_compares_doubles() -> None:
    rows = [("q", "a", 16777217.0, 1), ("q", "b", 16777216.0, 0)]
    assert means(rows, plan("RR RR(scores='float64')")) == {"RR": 0.5, "RR(scores='float64')": 1.0}


def test_a_null_score_is_judged_and_not_ranked() -> None:
    rows = [("q", "a", 0.9, 1), ("q", "b", None, 1)]
    assert means(rows, plan("P@2 R@5 AP")) == {"P@2": 0.5, "R@5": 0.5, "AP": 0.5}


def test_a_null_grade_is_ranked_and_not_judged() -> None:
    rows = [("q", "a", 0.9, None), ("q", "b", 0.8, 1)]
    found = means(rows, plan("Judged@2 RR RR(unjudged='condensed')"))
    assert found == {"Judged@2": 0.5, "RR": 0.5, "RR(unjudged='condensed')": 1.0}


def test_queries_without_gain_follow_the_measure() -> None:
    rows = [("q", "a", 0.9, 0), ("r", "a", 0.9, 1)]
    skipping = "nDCG(empty='skip')@5"
    assert means(rows, plan(f"nDCG@5 {skipping}")) == {"nDCG@5": 0.5, skipping: 1.0}
    with pytest.raises(MeasureError, match=r"query 'q': nDCG.*is not defined"):
        means(rows, plan("nDCG(empty='error')@5"))


def test_a_query_without_judgments_counts_where_the_measure_says_so() -> None:
    rows = [("q", "a", 0.9, None), ("r", "a", 0.9, 1)]
    everyone = "RR(queries='all')"
    assert means(rows, plan(f"RR {everyone}")) == {"RR": 1.0, everyone: 0.5}


def test_one_giant_user_is_one_user() -> None:
    giant = [("giant", f"d{n}", float(n % 1000), n % 5) for n in range(50_000)]
    others = [(f"u{n}", "d", 1.0, 1) for n in range(3_000)]
    asked = plan("nDCG@10 AP")
    both = counts(giant + others, asked)
    assert both == counts(giant, asked).merged(counts(others, asked))
    assert both.segments[""].queries == 3_001


def test_a_pair_that_is_there_twice_is_refused_by_name() -> None:
    for one, other in (("d", "e"), (7, 8), (2**62, -(2**62))):
        rows = [("q", one, 0.5, 1), ("r", one, 0.5, 1), ("q", other, 0.4, 0)]
        assert means(rows, plan("RR"))
        with pytest.raises(BulkRefused) as refused:
            means([*rows, ("r", one, 0.4, 0)], plan("RR"))
        assert refused.value.message == f"query 'r': document '{one}' appears twice"


def test_a_query_in_two_segments_is_refused_by_name() -> None:
    rows: list[tuple[str, str, float, int, str | None]]
    rows = [("q", "a", 0.5, 1, "DE"), ("r", "b", 0.5, 1, "US"), ("r", "a", 0.4, 1, "DE")]
    with pytest.raises(BulkRefused, match="query 'r' is in two segments: 'DE' and 'US'"):
        counts(rows, plan("RR", by="country"))
    rows[2] = ("r", "a", 0.4, 1, None)
    with pytest.raises(BulkRefused, match="query 'r' is in two segments: '' and 'US'"):
        counts(rows, plan("RR", by="country"))


def test_segments_have_names_dates_and_none() -> None:
    days = pa.array([20_000, 20_000, 20_001, None], pa.date32())
    rows = table([(n, "d", 0.5, n % 2) for n in range(4)]).append_column("day", days)
    asked = plan("RR", by="day")
    found = report(asked, counts(rows, asked))["segments"]
    assert {name: own["queries"] for name, own in found.items()} == {
        "": 1,
        "2024-10-04": 2,
        "2024-10-05": 1,
    }
    assert found["2024-10-04"]["measures"]["RR"]["mean"] == 0.5
    two = rows.append_column("tier", pa.array([1, 2, 1, 1]))
    asked = plan("RR", by=("day", "tier"))
    assert set(report(asked, counts(two, asked))["segments"]) == {
        "2024-10-04, 1",
        "2024-10-04, 2",
        "2024-10-05, 1",
        ", 1",
    }


def test_a_user_each_day_is_a_query_of_two_columns() -> None:
    rows = [("u", "a", 0.5, 1, "1"), ("u", "a", 0.5, 0, "2"), ("v", "a", 0.5, 0, "1")]
    asked = plan("RR", query=("query", "day"), by="day")
    found = report(asked, counts(rows, asked))
    assert (found["queries"], found["segments"]["1"]["queries"]) == (3, 2)
    with pytest.raises(BulkRefused, match="query 'u, 1': document 'a' appears twice"):
        counts([*rows, ("u", "a", 0.1, 1, "1")], asked)


def test_a_tools_order_of_ties_holds_only_where_nothing_ties() -> None:
    name = "lightgbm:nDCG@10"
    rows = [("q", "a", 0.5, 0), ("q", "b", 0.4, 1)]
    alone = means(rows, plan("nDCG(gain='exp2')@10"))["nDCG(gain='exp2')@10"]
    assert means(rows, plan(name))[name] == alone
    with pytest.raises(BulkRefused, match="query 'q' has tied scores"):
        means([("q", "a", 0.5, 0), ("q", "b", 0.5, 1)], plan(name))


def test_averaged_ties_are_those_of_every_order() -> None:
    rows = [("q", "a", 0.5, 1), ("q", "b", 0.5, 0), ("q", "c", 0.4, 1), ("r", "a", 0.4, 1)]
    name = "P(ties='averaged')@1"
    assert means(rows, plan(name))[name] == (0.5 + 1.0) / 2


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ("Coverage@10", "plain means over queries"),
        ("nDCG(average='weighted')@10", "plain means over queries"),
        ("Judged(average='micro')@10", "plain means over queries"),
        ("ERR@10", r"as in ERR\(…,top=4\)"),
        ("nDCG(ideal='max')@10", r"as in nDCG\(…,top=4\)"),
        ("nDCG@", "nDCG@"),
    ],
)
def test_measures_that_cannot_be_summed_are_refused(measures: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        plan(measures)


def test_the_top_grade_is_known_where_signals_are_given() -> None:
    rows = [("q", "a", 0.5, 1), ("q", "b", 0.4, 2)]
    with_top = means(rows, plan("ERR(top=3)@10"))["ERR(top=3)@10"]
    assert means(rows, plan("ERR@10", signals="3=3,2=2,1=1,0=0"))["ERR@10"] == with_top


def test_more_grades_than_a_scale_has_are_a_raw_signal() -> None:
    rows = [("q", n, 0.5, n / 7) for n in range(256)]
    with pytest.raises(
        BulkRefused, match=r"255 different grades; if .* raw signal, map .* --signals"
    ):
        means(rows, plan("RR"))
    parts = [counts([(f"q{n}", 1, 0.5, n / 7)], plan("RR")) for n in range(256)]
    with pytest.raises(BulkRefused, match="255 different grades"):
        report(plan("RR"), type(parts[0]).merge(parts))


def test_grades_may_be_any_numbers() -> None:
    rows = [("q", "a", 0.5, 0.5), ("q", "b", 0.4, 1.0)]
    dcg, ideal = 0.5 + 1.0 / math.log2(3), 1.0 + 0.5 / math.log2(3)
    assert means(rows, plan("nDCG@2"))["nDCG@2"] == dcg / ideal


def test_no_judgment_at_all_is_refused() -> None:
    with pytest.raises(BulkRefused, match="no row has a grade in column 'grade'"):
        means([("q", "a", 0.5, None)], plan("RR"))


def test_a_column_is_named_for_one_thing() -> None:
    with pytest.raises(BulkRefused, match="column 'score' is used twice"):
        Plan.of(query="q", document="d", score="score", grade="score", measures="RR")
