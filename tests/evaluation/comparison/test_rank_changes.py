"""What moved between two runs: which queries, which documents, which way, and with which grades."""

from copy import deepcopy

import pytest
from django.urls import reverse

from evaluation.comparison.rank_changes import MovedDocuments, get_moved_documents
from evaluation.evaluations.queries import FilterRefused
from evaluation.runs.selection import RunsFilters
from evaluation.templatetags.boards import way
from judgments.models import SetLook
from judgments.pages.paging import paged
from tests.builders import World, commit, make_access, make_set, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

URL = reverse("moved", args=["books", "main"])
BOTH = "?runs=bm25&runs=lsa&measure=nDCG@3"
BEFORE = ["d1", "d2", "d3", "d4"]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """q1 is the same in both runs, q2 gains, q3 loses more; q4 lies below the ranks looked at."""
    world = make_world(queries=5)
    d1, d2, _, d4, _ = world.documents
    grades = {(query, document): 2 for query in world.queries for document in (d1, d2)}
    commit(judgment_list=world.judgments, grades=grades | {(world.queries[1], d4): 4})
    make_run(
        collection=world.collection,
        rankings=dict.fromkeys(["q1", "q2", "q3", "q4"], BEFORE),
    )
    after = {
        "q1": BEFORE,
        "q2": ["d4", "d2", "d1", "d3"],
        "q3": ["d3", "d5", "d4", "d1"],
        "q4": ["d1", "d2", "d3", "d5"],
    }
    make_run(collection=world.collection, rankings=after, ranker="lsa")
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def get(world: World, *, page: str = "", **more) -> MovedDocuments:
    asked = {"runs": ("bm25", "lsa"), "measure": "nDCG@3"} | more
    access = make_access(collection=world.collection, username="dora")
    return get_moved_documents(
        access=access, slug="main", filters=RunsFilters(**asked), cut=paged(page, 10)
    )


def told(page: MovedDocuments) -> dict[str, list[tuple]]:
    return {
        row.query_id: [(one.doc_id, one.before, one.after, way(one)) for one in row.documents]
        for row in page.rows
    }


def test_documents_that_moved_within_the_ranks_looked_at_are_told_with_their_way(world):
    page = get(world)
    assert told(page) == {
        "q2": [("d4", None, 1, "in"), ("d1", 1, 3, "down 2"), ("d3", 3, None, "out")],
        "q3": [
            ("d3", 3, 1, "up 2"),
            ("d5", None, 2, "in"),
            ("d4", None, 3, "in"),
            ("d1", 1, None, "out"),
            ("d2", 2, None, "out"),
        ],
    }
    assert (page.depth, page.queries) == (3, 5)
    assert [row.stayed for row in page.rows if row.query_id == "q2"] == [1]


def test_queries_come_by_how_much_their_value_differs(world):
    rows = list(get(world).rows)
    sizes = [abs(row.difference) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert {row.query_id: row.difference > 0 for row in rows} == {"q2": True, "q3": False}


def test_grades_are_those_of_the_version_asked_for(world):
    commit(judgment_list=world.judgments, grades={(world.queries[1], world.documents[3]): 1})
    for version, code in (("1", 4), ("head", 1)):
        row = next(row for row in get(world, version=version).rows if row.query_id == "q2")
        assert row.documents[0].grade == code
        assert row.documents[-1].grade is None


def test_a_lower_cutoff_looks_less_far_down(world):
    assert told(get(world, measure="nDCG@4")).keys() == {"q2", "q3", "q4"}
    assert told(get(world, measure="nDCG@1")) == {
        "q2": [("d4", None, 1, "in"), ("d1", 1, None, "out")],
        "q3": [("d3", None, 1, "in"), ("d1", 1, None, "out")],
    }


def test_a_run_without_an_answer_has_no_document_there(world):
    make_run(collection=world.collection, rankings={"q1": BEFORE}, ranker="third")
    found = told(get(world, runs=("lsa", "third")))
    assert found["q4"] == [("d1", 1, None, "out"), ("d2", 2, None, "out"), ("d3", 3, None, "out")]
    assert "q5" not in found


def test_a_set_or_a_segment_has_only_its_queries(world):
    make_set(world=world, qids=["q1", "q3"], is_held_out=True)
    assert told(get(world, set="canaries")).keys() == {"q3"}
    assert told(get(world, segment="tail")).keys() == {"q2"}
    text = text_of(signed_in(world.dora).get(f"{URL}{BOTH}&set=canaries"))
    assert "The first 3 differ on 1 of 2 queries" in text
    assert "held out, looked at once" in text
    assert SetLook.objects.get().page == "documents"


@pytest.mark.parametrize("runs", [("bm25",), ("bm25", "lsa", "third"), ("bm25", "nope")])
def test_anything_but_two_runs_is_refused(world, runs):
    make_run(collection=world.collection, rankings={"q1": BEFORE}, ranker="third")
    with pytest.raises(FilterRefused):
        get(world, runs=runs)
    query = "&".join(f"runs={one}" for one in runs)
    assert signed_in(world.dora).get(f"{URL}?{query}").status_code == 400


def test_before_the_first_version_nothing_is_told():
    fresh = make_world(slug="films")
    response = signed_in(fresh.dora).get(reverse("moved", args=["films", "main"]))
    assert response.status_code == 400
    assert "This list has no judgments yet." in text_of(response)


def test_two_runs_alike_have_nothing_moved(world):
    text = text_of(signed_in(world.dora).get(f"{URL}?runs=bm25&runs=lsa&measure=nDCG@3&set=same"))
    assert "No saved set named same" in text
    make_set(world=world, qids=["q1"], slug="same")
    text = text_of(signed_in(world.dora).get(f"{URL}?runs=bm25&runs=lsa&measure=nDCG@3&set=same"))
    assert "No documents moved" in text


def test_the_comparison_leads_to_it_and_it_leads_to_each_query(world):
    compare = signed_in(world.dora).get(reverse("compare", args=["books", "main"]))
    (link,) = set(links_of(compare, URL))
    page = signed_in(world.dora).get(link)
    assert page.status_code == 200
    for address in links_of(page, "/query/"):
        assert signed_in(world.dora).get(address).status_code == 200
