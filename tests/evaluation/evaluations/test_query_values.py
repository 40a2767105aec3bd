"""Every query's value of one run: what adds up to the leaderboard, to the last bit."""

import pytest
from django.core.paginator import Page

from evaluation.diagnosis.run_values import QueryValue, RunValues, get_run_values
from evaluation.diagnosis.selection import RunFilters
from evaluation.evaluations.queries import kept_measures, list_run_sums
from evaluation.evaluations.query_values import get_mean, get_query_values
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from judgments.lists.queries import get_version
from judgments.pages.paging import paged
from judgments.versions.services import Change
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.builders import make_run
from touchstone.measures.exact import counts, means, standard_errors
from touchstone.measures.grammar import parse_measure

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def world() -> World:
    return make_world(queries=12, documents=6)


def evaluated_run(world: World) -> Run:
    """q1 … q12, where q5 has no answer, q11 no judgment, and many values are equal."""
    ids = [document.docid for document in world.documents]
    rankings = {
        query.qid: ids[place % 6 :] + ids[: place % 6]
        for place, query in enumerate(world.queries)
        if query.qid != "q5"
    }
    run = make_run(collection=world.collection, rankings=rankings)
    grades = {
        (query, document): (3 * q + 2 * d) % 5
        for q, query in enumerate(world.queries)
        for d, document in enumerate(world.documents[: 1 + q % 4])
        if query.qid != "q11"
    }
    commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    world.judgments.refresh_from_db()
    return run


def page_of(
    world: World, run: Run, *, page: str = "", **filters: str
) -> RunValues["Page[QueryValue]"]:
    access = make_access(collection=world.collection, username="dora")
    return get_run_values(
        access=access, public_id=run.public_id, filters=RunFilters(**filters), cut=paged(page)
    )


def ids_of(page: RunValues["Page[QueryValue]"]) -> list[str]:
    return [row.query_id for row in page.rows]


@pytest.mark.parametrize("segment", ["", "head", "tail"])
def test_the_mean_of_a_run_is_the_leaderboards_to_the_last_bit(world, segment):
    run = evaluated_run(world)
    measures = kept_measures(world.judgments)
    (stored,) = list_run_sums(
        judgment_list=world.judgments,
        version=get_version(judgment_list=world.judgments),
        measures=measures,
        segment=segment,
    )
    assert stored.sums is not None
    board = zip(means(stored.sums), standard_errors(stored.sums), counts(stored.sums), strict=True)
    for measure, (value, error, queries) in zip(measures, board, strict=True):
        found = page_of(world, run, measure=measure.name, segment=segment)
        assert (found.mean, found.standard_error, found.n) == (value, error, queries), measure.name


def test_values_are_computed_once_and_then_come_from_the_cache(world, django_assert_num_queries):
    run = evaluated_run(world)
    asked = {
        "run": run,
        "judgment_list": world.judgments,
        "version": 1,
        "measure": parse_measure("nDCG@10"),
    }
    first = get_query_values(**asked)
    with django_assert_num_queries(0):
        again = get_query_values(**asked)
    assert again.values.tolist() == first.values.tolist()


def test_an_old_version_keeps_its_values_when_labels_change(world):
    run = evaluated_run(world)
    before = page_of(world, run, version="1").mean
    q1, d1 = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): 4})
    assert page_of(world, run, version="1").mean == before
    assert page_of(world, run).mean != before


def test_equal_values_stand_by_id_and_q2_comes_before_q10(world):
    run = evaluated_run(world)
    assert ids_of(page_of(world, run, sort="qid")) == [
        f"q{number}" for number in range(1, 13) if number != 11
    ]
    for sort in ("-value", "value"):
        rows = page_of(world, run, sort=sort).rows
        sign = -1 if sort == "-value" else 1
        keys = [(sign * (row.value or 0.0), int(row.query_id[1:])) for row in rows]
        assert keys == sorted(keys)
        assert len({value for value, _ in keys}) < len(keys), "there are ties to settle"


def test_a_query_outside_the_mean_stands_last_and_has_no_value(world):
    run = evaluated_run(world)
    q12, *_ = [query for query in world.queries if query.qid == "q12"]
    commit(
        judgment_list=world.judgments,
        grades={(q12, document): 0 for document in world.documents},
    )
    for sort in ("-value", "value"):
        rows = page_of(world, run, measure="nDCG(empty='skip')@10", sort=sort).rows
        assert (
            [row.query_id for row in rows if row.value is None][-1]
            == list(rows)[-1].query_id
            == "q12"
        )


def test_a_judged_query_without_an_answer_counts_0_and_shows_none(world):
    run = evaluated_run(world)
    page = page_of(world, run, sort="value")
    (row,) = [row for row in page.rows if row.query_id == "q5"]
    assert (row.value, row.judged, row.shown) == (0.0, 0, 0)
    assert (page.unanswered, page.unjudged) == (1, 1)


def test_how_many_are_judged_is_counted_to_the_cutoff(world):
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2", "d3", "d4"]})
    q1, (d1, _, d3, d4, *_) = world.queries[0], world.documents
    commit(judgment_list=world.judgments, grades={(q1, d1): 1, (q1, d3): 0, (q1, d4): 2})
    for cutoff, judged, shown in ((1, 1, 1), (2, 1, 2), (3, 2, 3), (10, 3, 4)):
        rows = page_of(world, run, measure=f"nDCG@{cutoff}").rows
        (row,) = rows
        assert (row.judged, row.shown) == (judged, shown)


def test_a_list_without_a_version_has_no_rows_and_no_mean(world):
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]})
    page = page_of(world, run)
    assert (page.version, page.mean, ids_of(page)) == (0, None, [])


def test_the_mean_of_nothing_is_unknown(world):
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]})
    asked = {
        "judgment_list": world.judgments,
        "version": 0,
        "measure": parse_measure("Judged@10"),
    }
    found = get_query_values(run=run, **asked)
    assert len(found) == 0
    assert get_mean(found=found, **asked).judged is None


def test_many_queries_ask_no_more_of_the_database(django_assert_max_num_queries):
    world = make_world(queries=1_500, documents=6)
    ids = [document.docid for document in world.documents]
    run = make_run(
        collection=world.collection, rankings={query.qid: ids for query in world.queries}
    )
    changes = [
        Change(query.pk, document.pk, (q + d) % 5)
        for q, query in enumerate(world.queries)
        for d, document in enumerate(world.documents[:4])
    ]
    commit(judgment_list=world.judgments, grades=changes)
    for _ in ("computed", "cached"):
        with django_assert_max_num_queries(16):
            page = page_of(world, run, sort="value", page="20")
    assert page.rows.number == 20
    assert page.n == 1_500
