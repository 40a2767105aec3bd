"""The page of segments: every run's mean in each, as the leaderboard of that segment has it."""

import pytest
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards.board import Filters
from evaluation.leaderboards.queries import get_leaderboard
from evaluation.leaderboards.segments import SegmentFilters, SegmentTable, get_segment_table
from judgments.collections.services import load_queries
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.browsing import signed_in
from tests.evaluation.builders import make_run
from touchstone.files.collections import QueryRecord
from touchstone.measures.errors import MeasureError

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    """Five judged queries: three in "head", two in "tail"; two runs, of which one is for "tail"."""
    world = make_world(queries=5)
    good, bad = ["d2", "d1"], ["d1", "d3", "d2"]
    for ranker, order in (("head", (good, bad)), ("tail", (bad, good))):
        rankings = {query.qid: order[place % 2] for place, query in enumerate(world.queries)}
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    grades = {(query, world.documents[1]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return world


def segments(world: World, **asked: str) -> SegmentTable:
    access = make_access(collection=world.collection, username="dora")
    return get_segment_table(access=access, slug="main", filters=SegmentFilters(**asked))


def board(world: World, segment: str) -> dict[str, tuple[float | None, int]]:
    access = make_access(collection=world.collection, username="dora")
    filters = Filters(measures="RR@10", segment=segment)
    page = get_leaderboard(access=access, slug="main", filters=filters)
    return {row.ranker: (own.mean, own.n) for row in page.runs for own in row.values.values()}


def test_each_cell_is_the_leaderboards_of_its_segment_and_shows_its_queries(world: World) -> None:
    page = segments(world, measure="RR@10")
    assert [(own.name, own.queries) for own in page.segments] == [("head", 3), ("tail", 2)]
    for column in page.segments:
        right = board(world, column.name)
        cells = {row.ranker: row.segments[column.name] for row in page.runs}
        found = {slug: (own.mean, own.n) for slug, own in cells.items()}
        assert found == right
        assert [slug for slug, own in cells.items() if own.is_best] == [column.name]
    every = {row.ranker: (row.every.mean, row.every.n) for row in page.runs}
    assert every == board(world, "")
    # each segment counts the same, however many queries it has
    assert {row.of_segments.mean for row in page.runs} == {(1 + 1 / 3) / 2}


def test_a_query_that_moves_changes_the_columns_from_then_on(world: World) -> None:
    record = QueryRecord(query_id="q1", text="text", segment="", line=1)
    load_queries(collection=world.collection, records=[record], by=None, at=NOW)
    columns = [(own.name, own.queries) for own in segments(world, measure="RR@10").segments]
    assert columns == [("", 1), ("head", 2), ("tail", 2)]
    before = segments(world, measure="RR@10", version="1")
    assert [(own.name, own.queries) for own in before.segments] == [("head", 3), ("tail", 2)]


def test_a_tools_definition_can_be_taken_apart_too(world: World) -> None:
    page = segments(world, measure="lightgbm:nDCG@5")
    assert page.measure.name == "lightgbm:nDCG@5"
    assert "rejects negative grades" in page.measure.caveat
    for names in ("nope@3", "RR@10 P@5", "quepid_ndcg:nDCG@5", "Judged(average='micro')@5"):
        with pytest.raises(MeasureError):
            segments(world, measure=names)


def test_the_page_leads_to_the_queries_and_says_what_is_wrong(world: World) -> None:
    address = reverse("leaderboard-segments", args=["books", "main"])
    body = signed_in(world.dora).get(address, {"measure": "RR@10"}).content.decode()
    assert "3 queries" in body
    assert "segment=tail" in body
    assert "measure=RR%4010" in body
    wrong = signed_in(world.dora).get(address, {"measure": "nope"})
    assert wrong.status_code == 400
    assert "unknown measure" in wrong.content.decode()
