"""The measures that a new leaderboard has."""

from pathlib import Path

from touchstone.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES, judged_beside
from touchstone.measures.engine import depth_needed
from touchstone.measures.grammar import parse_measure


def test_every_value_of_a_new_leaderboard_has_its_share_of_judged_beside_it() -> None:
    judged = {measure.cutoff for measure in DEFAULT_MEASURES if measure.family == "Judged"}
    assert {measure.cutoff for measure in DEFAULT_MEASURES} == judged


def test_the_defaults_are_distinct_read_one_order_and_no_deeper_than_a_hundred() -> None:
    assert len(set(DEFAULT_MEASURES)) == len(DEFAULT_MEASURES)
    assert {measure.ordering for measure in DEFAULT_MEASURES} == {("docid", "float32")}
    assert depth_needed(DEFAULT_MEASURES) == 100


def test_the_defaults_are_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "measures.md").read_text()
    names = [measure.name for measure in DEFAULT_MEASURES if measure.family != "Judged"]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_judged_beside_a_measure_reads_the_same_order_of_every_query() -> None:
    measure = parse_measure("nDCG(gain='exp2',ties='listed',queries='several')@7")
    assert judged_beside(measure).name == "Judged(ties='listed',queries='all')@7"


def test_every_cutoff_has_a_use_and_a_reason() -> None:
    assert len(CUTOFF_USES) >= 5
    assert all(one.cutoffs and one.use and one.why for one in CUTOFF_USES)
