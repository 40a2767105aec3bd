"""One run's answer to one query: every rank, what it adds, and the ideal beside it."""

import io
import math

import pytest
from django.urls import reverse

from evaluation.diagnosis.run_explained import (
    IdealRank,
    Neighbours,
    RunExplained,
    get_neighbours,
    get_run_explained,
)
from evaluation.diagnosis.run_values import get_run_values
from evaluation.diagnosis.selection import RunFilters
from evaluation.models import Run
from evaluation.runs.services import withdraw_run
from evaluation.tool_differences.tool_values import run_file
from judgments.lists.queries import get_qrels
from judgments.models import JudgmentList, Query
from judgments.pages.paging import paged
from judgments.permissions import NotFound
from tests.builders import (
    NOW,
    World,
    commit,
    make_access,
    make_documents,
    make_list,
    make_world,
)
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run
from touchstone.files.trec import RunFile, read_qrels
from touchstone.measures.files import evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import NDCG_PRESETS, preset
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db
MEASURES = (
    "nDCG@10",
    "nDCG@2",
    "nDCG",
    "nDCG(gain='exp2')@3",
    "nDCG(gain={0:0,1:5,2:1,3:2,4:3})@3",
    "nDCG(discount='burn-in',b=2)@3",
    "nDCG(ideal='recall')@3",
    "nDCG(ideal='recall',ideal_depth='returned')@10",
    "nDCG(ideal='local')@3",
    "nDCG(ideal='max')@3",
    "nDCG(ideal_depth='all')@2",
    "nDCG(unjudged='condensed')@3",
    "nDCG(ideal='local',unjudged='condensed')@2",
    "nDCG(unjudged='prior',prior=1)@3",
    "nDCG(negatives='removed')@3",
    "nDCG(decimals=2)@3",
    "P(unjudged='prior',prior=2)@3",
    "RR@10",
    "RR(unjudged='condensed')",
    "AP@100",
    "P(rel=2)@3",
    "R@3",
    "Hit@1",
    "Judged@3",
    "Judged",
)


@pytest.fixture
def world() -> World:
    return make_world(queries=4, documents=7)


@pytest.fixture
def run(world: World) -> Run:
    """q1: d2 (unjudged), d1 (grade 3), d3 (grade 0), d5 (grade 1); d4 (grade 4) is missing."""
    q1, q2, q3, _ = world.queries
    d1, _, d3, d4, d5, *_ = world.documents
    run = make_run(
        collection=world.collection,
        rankings={"q1": ["d2", "d1", "d3", "d5"], "q2": ["d1"], "q4": ["d7"]},
    )
    grades = {(q1, d1): 3, (q1, d3): 0, (q1, d5): 1, (q2, d1): 2, (q3, d1): 1}
    commit(judgment_list=world.judgments, grades=grades)
    commit(judgment_list=world.judgments, grades={(q1, d4): 4})
    return run


def page_of(
    world: World, run: Run, qid: str = "q1", *, page: str = "", **filters: str
) -> RunExplained:
    return get_run_explained(
        access=make_access(collection=world.collection, username="dora"),
        public_id=run.public_id,
        qid=qid,
        filters=RunFilters(**filters),
        cut=lambda _: paged(page, 50),
    )


def neighbours_of(world: World, run: Run, **filters: str) -> Neighbours | None:
    found = page_of(world, run, "q1", **filters)
    assert found.selection is not None
    return get_neighbours(selection=found.selection, run=found.run, query=found.query)


def ideal_of(page: RunExplained) -> tuple[IdealRank, ...]:
    """The ideal of a page with one definition."""
    return page.ideals[0].ranks if page.ideals else ()


def get(world: World, run: Run, qid: str = "q1", query: str = ""):
    url = reverse("run-query", args=["books", run.public_id, qid])
    return signed_in(world.dora).get(url + query)


def test_each_rank_shows_its_grade_and_what_it_adds(world, run):
    page = page_of(world, run)
    assert [row.document.docid for row in page.rows] == ["d2", "d1", "d3", "d5"]
    assert [row.grade for row in page.rows] == [None, 3, 0, 1]
    added = [row.parts[0].counted.contribution for row in page.rows if row.parts[0].counted]
    assert added == pytest.approx([0, 3 / math.log2(3), 0, 1 / math.log2(5)])
    assert sum(added) == pytest.approx(page.measures[0].explanation.dcg)
    assert (page.judged, page.judged_shown, page.shown) == (4, 3, 4)


def test_the_ideal_stands_beside_it_with_where_the_run_has_its_documents(world, run):
    page = page_of(world, run)
    shown = [(row.document and row.document.docid, row.found_at) for row in ideal_of(page)]
    assert shown == [("d4", None), ("d1", 2), ("d5", 4)]
    added = sum(row.contribution or 0.0 for row in ideal_of(page))
    assert added == pytest.approx(page.measures[0].explanation.ideal_dcg)


def test_the_value_is_the_one_in_the_runs_table(world, run):
    access = make_access(collection=world.collection, username="dora")
    for measure in MEASURES:
        filters = RunFilters(measure=measure)
        table = get_run_values(
            access=access, public_id=run.public_id, filters=filters, cut=paged("")
        )
        assert len(table.rows) == 3
        for row in table.rows:
            page = page_of(world, run, row.query_id, measure=measure)
            explained = page.measures[0].explanation
            found = explained.value, explained.counted
            assert found == (row.value or 0.0, row.value is not None), (measure, row.query_id)
            assert (page.judged_shown, page.shown) == (row.judged, row.shown), measure


def test_every_document_of_the_ideal_gains_what_its_rank_says(world, run):
    pk_of = {document.docid: str(document.pk) for document in world.documents}
    for measure in (name for name in MEASURES if name.startswith("nDCG")):
        page = page_of(world, run, measure=measure)
        ranks = page.measures[0].explanation.ranks
        ideal = [rank.ideal_gain for rank in ranks if rank.ideal_gain]
        assert [row.gain for row in ideal_of(page)] == ideal, measure
        gains = {rank.document.doc_id: rank.gain for rank in ranks if rank.document}
        for row in ideal_of(page):
            if row.document is not None and pk_of[row.document.docid] in gains:
                assert row.gain == gains[pk_of[row.document.docid]], measure
        assert all(row.document is None for row in ideal_of(page)) == ("ideal='max'" in measure)


def test_every_measure_has_a_page(world, run):
    for number, measure in enumerate(MEASURES):
        qid = f"q{1 + number % 4}"
        page = get(world, run, qid, "?measure=" + measure.replace("'", "%27"))
        assert page.status_code == 200, (measure, qid)
        assert measure in text_of(page)


def test_what_stands_behind_the_cutoff_is_shown_and_counts_nothing(world, run):
    page = page_of(world, run, measure="nDCG@2")
    assert [row.is_beyond for row in page.rows] == [False, False, True, True]
    assert [row.parts[0].counted is None for row in page.rows] == [False, False, True, True]
    assert "Ranks below 2 do not count." in text_of(get(world, run, query="?measure=nDCG@2"))


def test_taken_out_documents_have_no_part_and_the_ranks_close_up(world, run):
    page = page_of(world, run, measure="nDCG(unjudged='condensed')@10")
    assert [row.parts[0].counted and row.parts[0].counted.rank for row in page.rows] == [
        None,
        1,
        2,
        3,
    ]
    text = text_of(get(world, run, query="?measure=nDCG(unjudged=%27condensed%27)@10"))
    assert "as 1" in text


def test_equal_scores_stand_by_document_id_descending_and_are_marked(world):
    lines = "q1 Q0 d1 1 2.0 x\nq1 Q0 d3 2 1.0 x\nq1 Q0 d2 3 1.0 x\nq1 Q0 d4 4 1.00000001 x\n"
    run = make_run(collection=world.collection, text=lines)
    rows = list(page_of(world, run).rows)
    assert [row.document.docid for row in rows] == ["d1", "d4", "d3", "d2"]
    assert [row.is_tied for row in rows] == [False, True, True, True]
    assert "tied" in text_of(get(world, run))


def test_a_grade_leads_to_the_version_that_it_came_with_and_a_document_to_its_text(world, run):
    page = get(world, run)
    dora = signed_in(world.dora)
    for holding in ("/versions/1?query=q1", "/versions/2?query=q1", "/document/d1?list=main"):
        (link, *_) = links_of(page, holding)
        assert dora.get(link).status_code == 200
    assert "The body of document 1." in text_of(page)


def test_the_grades_are_those_of_the_version_asked_for(world, run):
    page = page_of(world, run, version="1")
    assert [row.document and row.document.docid for row in ideal_of(page)] == ["d1", "d5"]
    assert "newest: 2" in text_of(get(world, run, query="?version=1"))
    assert page_of(world, run, version="0").judged == 0


def test_neighbours_follow_the_order_and_the_segment_of_the_table(world, run):
    best = neighbours_of(world, run)
    assert best is not None
    assert (best.previous, best.place, best.total, best.next) == ("q2", 2, 3, "q3")
    worst = neighbours_of(world, run, sort="value")
    assert worst is not None
    assert (worst.previous, worst.next) == ("q3", "q2")
    head = neighbours_of(world, run, segment="head")
    assert head is not None
    assert (head.previous, head.next, head.total) == ("", "q3", 2)
    assert neighbours_of(world, run, segment="tail") is None
    page = get(world, run, query="?sort=value&measure=RR@10")
    (link,) = links_of(page, "/query/q3")
    assert link.endswith("?list=main&version=2&measure=RR%4010&sort=value")


def test_a_judged_query_without_an_answer_counts_0(world, run):
    page = page_of(world, run, "q3")
    assert (page.measures[0].explanation.value, page.measures[0].explanation.counted) == (0.0, True)
    assert "The run returned nothing for this query." in text_of(get(world, run, "q3"))


def test_an_unjudged_query_has_no_part_in_the_mean(world, run):
    page = page_of(world, run, "q4")
    assert not page.measures[0].explanation.counted
    assert "no judgments at this version" in text_of(get(world, run, "q4"))


@pytest.mark.parametrize("qid", ["a/b", "o'neil", 'say"so"', "🙂", "a?b#c", "50%"])
def test_ids_of_every_kind_have_their_page(world, qid):
    Query.objects.filter(pk=world.queries[0].pk).update(qid=qid)
    run = make_run(collection=world.collection, rankings={qid: ["d1"], "q2": ["d1"]})
    q1, q2, d1 = world.queries[0], world.queries[1], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): 1, (q2, d1): 1})
    dora = signed_in(world.dora)
    table = dora.get(reverse("run", args=["books", run.public_id]))
    found = [link for link in links_of(table, "/query/") if "/query/q2" not in link]
    page = dora.get(found[0])
    assert page.status_code == 200
    (blame, *_) = links_of(page, "/versions/1?query=")
    assert dora.get(blame).status_code == 200


@pytest.mark.parametrize("qid", ["nope", "q1\x00"])
def test_an_unknown_query_is_not_found(world, run, qid):
    with pytest.raises(NotFound):
        page_of(world, run, qid)


@pytest.mark.parametrize("query", ["?measure=nope", "?sort=nope", "?segment=nowhere"])
def test_what_can_not_be_shown_is_said_kindly_above_the_usual_page(world, run, query):
    page = get(world, run, query=query)
    assert page.status_code == 400
    assert "Can’t show this." in text_of(page)
    assert "What the run returned" in text_of(page)


def test_without_a_list_the_ranking_is_shown_without_grades(world, run):
    films = make_world(slug="films")
    JudgmentList.objects.filter(collection=films.collection).delete()
    own = make_run(collection=films.collection, rankings={"q1": ["d2", "d1"]})
    url = reverse("run-query", args=["films", own.public_id, "q1"])
    text = text_of(signed_in(films.dora).get(url))
    assert text.index("Title 2") < text.index("Title 1")
    assert "Grade" not in text


def test_a_scale_with_other_codes_and_values_is_shown_with_its_own_grades(world, run):
    web = make_list(collection=world.collection, slug="web", name="Web", scale=Scale.parse("-2..4"))
    q1, (d1, d2, *_) = world.queries[0], world.documents
    commit(judgment_list=web, grades={(q1, d1): 4, (q1, d2): -2})
    page = page_of(world, run, list_slug="web")
    assert [row.grade for row in page.rows] == [-2, 4, None, None]
    raw = page_of(world, run, list_slug="web", measure="nDCG(negatives='raw')@10")
    assert [row.parts[0].counted and row.parts[0].counted.gain for row in raw.rows][:2] == [-2, 4]
    assert get(world, run, query="?list=web").status_code == 200


def test_a_withdrawn_run_is_still_explained(world, run):
    withdraw_run(access=make_access(collection=world.collection), run=run, at=NOW)
    text = text_of(get(world, run))
    assert "This run is withdrawn." in text
    assert "The ideal order" in text


def test_a_long_ranking_comes_in_pages_and_asks_no_more_of_the_database(
    django_assert_max_num_queries,
):
    world = make_world(queries=2, documents=0)
    documents = make_documents(collection=world.collection, count=300)
    run = make_run(
        collection=world.collection, rankings={"q1": [document.docid for document in documents]}
    )
    q1 = world.queries[0]
    commit(
        judgment_list=world.judgments,
        grades={(q1, document): number % 5 for number, document in enumerate(documents)},
    )
    dora = signed_in(world.dora)
    url = reverse("run-query", args=["books", run.public_id, "q1"])
    dora.get(url + "?measure=nDCG")
    with django_assert_max_num_queries(20):
        page = dora.get(url + "?measure=nDCG&page=2")
    assert "21–40 of 300" in text_of(page)
    (everything,) = links_of(page, "ranks=all")
    with django_assert_max_num_queries(20):
        page = dora.get(url + everything.partition("#")[0])
    assert "1–300 of 300" in text_of(page)
    assert len(ideal_of(page_of(world, run, measure="nDCG"))) == 50


# several definitions side by side

TIED = "q1 Q0 d5 1 2.0 x\nq1 Q0 d1 2 2.0 x\nq1 Q0 d3 3 2.0 x\nq1 Q0 d2 4 1.0 x\nq2 Q0 d1 1 1 x\n"


@pytest.fixture
def tied(world: World, run: Run) -> Run:
    """q1: d5 (1), d1 (3) and d3 (0) with one score, in this order; then d2 (unjudged)."""
    return make_run(collection=world.collection, text=TIED, name="tied", ranker="tied")


def as_files(world: World, run: Run) -> tuple[JudgedQueries, RunFile]:
    qrels = get_qrels(judgment_list=world.judgments, number=2)
    run.ranker.collection = world.collection
    return JudgedQueries(read_qrels(io.BytesIO(qrels), name="qrels")), run_file(run)


def test_a_tools_definition_has_the_value_that_the_command_gives(world, tied):
    asked = [parse_measure("nDCG@3")]
    files = as_files(world, tied)
    for name in [name for name in NDCG_PRESETS if name != "letor4_eval"]:
        found = evaluate_file(*files, asked, preset(name))
        for qid in ("q1", "q2"):
            page = page_of(world, tied, qid, measure=f"{name}:nDCG@3")
            value = float(found.values[found.query_ids.index(qid), 0])
            assert float(page.measures[0].exactly) == value, (name, qid)
            assert page.measures[0].name == f"{name}:nDCG@3"


def test_a_tool_that_can_not_read_the_list_is_refused_kindly(world, run):
    page = get(world, run, query="?measures=letor4_eval:nDCG@3")
    assert page.status_code == 400
    assert "has no grade 3" in text_of(page)


def test_the_runs_table_has_the_values_of_orders_that_are_not_stored(world, tied):
    access = make_access(collection=world.collection, username="dora")
    files = as_files(world, tied)
    for name in ("sklearn_ndcg_score", "ranx_ndcg", "quepid_ndcg", "trec_eval_10"):
        filters = RunFilters(measure=f"{name}:nDCG@3")
        table = get_run_values(
            access=access, public_id=tied.public_id, filters=filters, cut=paged("")
        )
        found = evaluate_file(*files, [parse_measure("nDCG@3")], preset(name))
        expected = {
            qid: float(found.values[row, 0])
            for row, qid in enumerate(found.query_ids)
            if found.counted[row, 0]
        }
        shown = {row.query_id: row.value for row in table.rows if row.value is not None}
        assert shown == expected, name
        assert table.mean == pytest.approx(found.means[0])


def test_documents_stand_as_the_first_definition_reads_them(world, tied):
    def order(measure: str) -> list[str]:
        return [row.document.docid for row in page_of(world, tied, measure=measure).rows]

    assert order("nDCG@3 nDCG(ties='listed')@3") == ["d5", "d3", "d1", "d2"]
    assert order("nDCG(ties='listed')@3 nDCG@3") == ["d5", "d1", "d3", "d2"]
    assert order("nDCG(ties='docid_asc')@3") == ["d1", "d3", "d5", "d2"]
    rows = list(page_of(world, tied, measure="nDCG@3 nDCG(ties='listed')@3").rows)
    assert [[cell.rank for cell in row.parts] for row in rows] == [[1, 1], [2, 3], [3, 2], [4, 4]]


def test_the_parameter_that_makes_the_difference_is_named_with_its_share(world, run):
    page = page_of(world, run, measure="nDCG@3 lightgbm:nDCG@3 nDCG(gain='exp2')@3 RR")
    one, gain, other = page.apart
    assert {each.parameters for each in one.moving} == {"gain", "ideal"}
    assert {each.parameters for each in one.idle} == {"arithmetic", "empty", "scores", "ties"}
    assert sum(each.share or 0 for each in one.moving) == pytest.approx(1)
    values = [each.explanation.value for each in page.measures]
    effects = sum(each.part.effect for each in one.switched)
    assert effects == pytest.approx(values[1] - values[0])
    (only,) = gain.moving
    assert (only.parameters, only.share) == ("gain", 1)
    assert only.before == "linear gain (the grade itself)"
    assert not other.is_one_family
    text = text_of(
        get(world, run, query="?measures=nDCG@3&measures=lightgbm:nDCG@3&measures=RR&measures=")
    )
    assert "ideal from all judged documents → ideal from all returned documents" in text
    assert "over 720 orders of switching them one by one (all orders: the Shapley value)" in text
    assert "4 more parameters with no visible effect on this query" in text
    assert "are different measures" in text


def test_definitions_can_be_taken_away_and_stay_in_every_address(world, run):
    page = get(world, run, query="?measures=nDCG@3+lightgbm:nDCG@3&version=1")
    dora = signed_in(world.dora)
    (previous,) = links_of(page, "/query/q2")
    assert "measures=nDCG%403+lightgbm%3AnDCG%403" in previous
    assert "Why lightgbm:nDCG@3 is" in text_of(dora.get(previous))
    without = [link for link in links_of(page, "measure=nDCG%403") if link.startswith("?")]
    assert without
    assert all("version=1" in link for link in without)


def test_ideals_that_are_the_same_are_shown_once(world, run):
    page = page_of(world, run, measure="nDCG@3 trec_eval:nDCG@3 nDCG(ideal='recall')@3 P@3 R@3")
    assert [ideal.measures for ideal in page.ideals] == [
        ("nDCG@3", "trec_eval:nDCG@3"),
        ("nDCG(ideal='recall')@3",),
        ("P@3", "R@3"),
    ]
    recall = page.ideals[1]
    assert [row.document and row.document.docid for row in recall.ranks] == ["d1", "d5"]


def test_too_many_definitions_are_refused_kindly(world, run):
    names = " ".join(f"nDCG@{k}" for k in range(1, 7))
    page = get(world, run, query=f"?measures={names}")
    assert page.status_code == 400
    assert "at most 5 definitions at a time" in text_of(page)


FORMULAS = [
    ("nDCG@3", "1.8928 / 6.3928"),
    ("P@3", "1 relevant document among the first 3, divided by 3"),
    ("R@3", "1 relevant document among the first 3, divided by all 3"),
    ("AP@10", "sum to 1, divided by 3"),
    ("RR@10", "the first relevant document is at rank 2: 1 / 2"),
    ("RR@1", "no relevant document among the first 1"),
    ("ERR@10", "at 2 ranks among the first 10 the search can end"),
    ("RBP", "2 relevant documents in the list, each worth 0.2 · 0.8^(rank − 1)"),
    ("RBPResidual", "0.2 for 1 document not judged, and 0.4096 for all after rank 4"),
    ("Judged@3", "2 judged, of 3 documents shown"),
    ("Rprec", "1 relevant document among the first 3, as many as there are"),
    ("SetP", "2 relevant documents in the list, divided by all 4"),
    ("SetR", "2 relevant documents in the list, divided by all 3"),
    ("SetF", "twice 2 relevant documents in the list, divided by the 4 returned and the 3"),
    ("NumRet", "4 documents returned"),
    ("Bpref", "at 2 relevant documents sum to"),
    ("nDCG(short='zero')@10", "a list of 4, shorter than 10, counts 0"),
]


def test_the_formula_is_shown_with_its_numbers(world, run):
    for measure, told in FORMULAS:
        page = page_of(world, run, measure=measure)
        assert told in page.measures[0].explanation.formula


def test_a_query_without_gain_says_what_it_counts(world, run):
    q4, d7 = world.queries[3], world.documents[6]
    commit(judgment_list=world.judgments, grades={(q4, d7): 0})
    page = page_of(world, run, "q4", measure="lightgbm:nDCG@3 nDCG@3 gdeval:nDCG@3")
    told = [one.explanation.formula for one in page.measures]
    assert told[0] == "the ideal is 0, which counts 1"
    assert told[1] == "the ideal is 0, which counts 0"
    assert told[2] == "the ideal is 0, so the query is left out"
    assert not page.measures[2].explanation.counted
