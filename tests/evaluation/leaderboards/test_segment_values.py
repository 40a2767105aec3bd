"""The numbers of a segment are a version's, whatever its queries are loaded as later."""

import pytest
from django.core.cache import cache

from evaluation.diagnosis.run_values import get_run_values
from evaluation.diagnosis.selection import RunFilters
from evaluation.evaluations.queries import FilterRefused, chosen_measures, list_run_sums
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.evaluations.verifying import verify_list
from evaluation.leaderboards.board import Filters
from evaluation.leaderboards.choices import list_board_choices
from evaluation.leaderboards.queries import get_leaderboard
from evaluation.models import Evaluation, Run
from judgments.collections.services import load_queries
from judgments.lists.queries import get_version
from judgments.pages.paging import paged
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.builders import evaluate_from_scratch, make_run
from touchstone.files.collections import QueryRecord
from touchstone.measures.exact import counts, means

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    """Four judged queries, of which the first is in "head" no more since version 2."""
    world = make_world(queries=4)
    rankings = {
        query.qid: [f"d{place + 1}", f"d{place + 2}"] for place, query in enumerate(world.queries)
    }
    make_run(collection=world.collection, rankings=rankings)
    grades = {(query, world.documents[1]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    move(world, "q1", "moved")
    return world


def move(world: World, qid: str, segment: str) -> None:
    record = QueryRecord(query_id=qid, text="text", segment=segment, line=1)
    load_queries(collection=world.collection, records=[record], by=None, at=NOW)
    world.judgments.refresh_from_db()


def reciprocal_rank(world: World, version: int, segment: str) -> tuple[float | None, int]:
    (found,) = list_run_sums(
        judgment_list=world.judgments,
        version=get_version(judgment_list=world.judgments, name=str(version)),
        measures=chosen_measures(world.judgments, "RR@10"),
        segment=segment,
    )
    assert found.sums is not None
    return means(found.sums)[0], counts(found.sums)[0]


def test_a_segment_is_that_of_the_version_asked_for(world: World) -> None:
    # d2 is q1's second, q2's first, and no one else's
    before = reciprocal_rank(world, 1, "head")
    assert before == (0.25, 2)
    assert reciprocal_rank(world, 2, "head") == (0.0, 1)
    assert reciprocal_rank(world, 2, "moved") == (0.5, 1)
    with pytest.raises(FilterRefused, match="segment moved"):
        reciprocal_rank(world, 1, "moved")
    move(world, "q3", "moved")
    cache.clear()
    assert reciprocal_rank(world, 1, "head") == before
    with pytest.raises(FilterRefused, match="segment head"):
        reciprocal_rank(world, 3, "head")


def test_the_leaderboard_offers_the_segments_of_its_version(world: World) -> None:
    access = make_access(collection=world.collection, username="dora")
    for version, offered in (("1", ("head", "tail")), ("", ("head", "moved", "tail"))):
        filters = Filters(version=version) if version else Filters()
        page = get_leaderboard(access=access, slug="main", filters=filters)
        assert list_board_choices(page).segments == offered


def test_the_page_of_a_run_shows_the_segments_of_its_version(world: World) -> None:
    access = make_access(collection=world.collection, username="dora")
    run = Run.objects.get()

    def page(**filters: str) -> list[tuple[str, str]]:
        found = get_run_values(
            access=access, public_id=run.public_id, filters=RunFilters(**filters), cut=paged("")
        )
        return sorted((row.query_id, row.segment) for row in found.rows)

    assert page(version="1", segment="head") == [("q1", "head"), ("q3", "head")]
    assert page(segment="head") == [("q3", "head")]
    assert page()[0] == ("q1", "moved")
    with pytest.raises(FilterRefused):
        page(version="1", segment="moved")


def test_a_version_of_traits_is_evaluated_by_a_difference_of_no_queries(world: World) -> None:
    done = refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert (done.version, done.evaluated, done.from_scratch) == (2, 1, 0)
    old, new = Evaluation.objects.order_by("version__number")
    assert bytes(old.sums) == bytes(new.sums)
    right = evaluate_from_scratch(run=new.run, judgment_list=world.judgments, version=2)
    assert bytes(new.sums) == right
    verified = verify_list(judgment_list=world.judgments, every_step=True)
    assert (verified.steps, verified.problems) == (1, ())
