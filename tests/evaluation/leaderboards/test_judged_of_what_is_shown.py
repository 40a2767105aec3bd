"""Judged@k is about what a run shows: queries that it does not answer play no part in it.

Worked by hand: ten queries with four judged documents each. `few` answers one of them, with four
judged documents; `half` answers five with one judged document of two.
"""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.comparison.words import judging_warning
from evaluation.evaluations.due import list_due_lists
from evaluation.evaluations.measure_sets import digest_of, grades_of, is_of_this_arithmetic
from evaluation.evaluations.query_values import get_mean, get_query_values
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.evaluations.sums import Board, RunSize, compute_sums
from evaluation.evaluations.verifying import verify_list
from evaluation.leaderboards.board import Filters, Row, Value
from evaluation.leaderboards.queries import get_leaderboard
from evaluation.models import Evaluation, Leaderboard, MeasureSet, Run
from evaluation.templatetags.boards import answers
from judgments.models import JudgmentList, JudgmentVersion
from tests.api.callers import by_token
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.browsing import signed_in
from tests.evaluation.builders import make_run
from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.asking import ask
from touchstone.measures.defaults import DEFAULT_MEASURES
from touchstone.measures.exact import to_bytes
from touchstone.measures.files import evaluate_file

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def unevaluated() -> World:
    world = make_world(queries=10, documents=6)
    d1, d2, d3, d4, *_ = world.documents
    grades = {(q, d): 1 for q in world.queries for d in (d1, d2, d3, d4)}
    commit(judgment_list=world.judgments, grades=grades)
    make_run(
        collection=world.collection,
        rankings={"q1": ["d1", "d2", "d3", "d4"]},
        ranker="few",
        name="r",
    )
    qids = [query.qid for query in world.queries]
    make_run(
        collection=world.collection,
        rankings={qid: ["d1", "d5"] for qid in qids[:5]},
        ranker="half",
        name="r",
    )
    everywhere = {qid: ["d1"] for qid in qids}
    make_run(collection=world.collection, rankings=everywhere, ranker="all", name="r")
    world.judgments.refresh_from_db()
    return world


@pytest.fixture
def world(unevaluated: World) -> World:
    refresh_evaluations(list_id=unevaluated.judgments.pk, at=NOW)
    unevaluated.judgments.refresh_from_db()
    return unevaluated


@pytest.fixture
def old(unevaluated: World) -> World:
    """A database as it was before: in Judged of revision 1, unanswered queries count 0."""
    judgments = unevaluated.judgments
    keep_old_measures(judgments)
    before = [
        replace(one, queries="judged") if one.family == "Judged" else one
        for one in DEFAULT_MEASURES
    ]
    board = Board(judgments.pk, tuple(before), grades_of(judgments))
    runs = list(Run.objects.order_by("pk"))
    sizes = [RunSize(one.pk, one.row_count, one.query_count) for one in runs]
    sums = compute_sums(board=board, version=1, runs=sizes)
    version = JudgmentVersion.objects.get(list=judgments)
    for one, own in zip(runs, sums, strict=True):
        Evaluation.objects.create(
            run=one,
            version=version,
            measure_set=judgments.leaderboard.measure_set,
            sums=to_bytes(own),
            computed_at=NOW,
        )
    return unevaluated


def keep_old_measures(judgments: JudgmentList) -> None:
    definition: list[list[str | int]] = [[one.name, 1] for one in DEFAULT_MEASURES]
    measure_set, _ = MeasureSet.objects.get_or_create(
        digest=digest_of(definition), defaults={"measures": definition}
    )
    Leaderboard.objects.create(list=judgments, measure_set=measure_set)


def first_of(row: Row) -> Value:
    return next(iter(row.values.values()))


def board(world: World, **filters: str) -> dict[str, Any]:
    access = make_access(collection=world.collection, username="dora")
    page = get_leaderboard(access=access, slug="main", filters=Filters(**filters))
    return {row.ranker: row for row in page.runs}


def test_ten_of_ten_judged_is_all_that_is_shown_however_few_queries_are_answered(world):
    rows = board(world)
    shares = {name: first_of(row).judged for name, row in rows.items()}
    assert shares == {"few": 1.0, "half": 0.5, "all": 1.0}
    assert {name: (row.answered, row.queries) for name, row in rows.items()} == {
        "few": (1, 10),
        "half": (5, 10),
        "all": (10, 10),
    }
    assert answers(rows["few"]) == "answers 1 of 10 queries"
    assert answers(rows["all"]) == ""
    # what a run does not answer still counts 0 in the measures themselves
    assert first_of(rows["few"]).mean == pytest.approx(0.1)


def test_the_board_knows_what_is_answered_when_only_answered_queries_count(world):
    rows = board(world, measures="lightgbm:nDCG@10")
    assert (rows["few"].answered, rows["few"].queries) == (1, 10)


def test_ir_measures_reading_stays_under_its_own_name(world):
    rows = board(world, measures="ir_measures:Judged@10")
    assert {name: first_of(row).mean for name, row in rows.items()} == {
        "few": 0.1,
        "half": 0.25,
        "all": 1.0,
    }


def test_ir_measures_reading_breaks_ties_by_ascending_id() -> None:
    # a and z tie; ours puts z first, which no one judged, theirs a
    measures = [ask(name).measure for name in ("Judged@1", "ir_measures:Judged@1")]
    found = evaluate_file(judged("q a 1"), run("q a 1\nq z 1"), measures)
    assert found.values.tolist() == [[0.0, 1.0]]


def test_the_board_page_says_how_many_queries_a_run_answers(world):
    html = signed_in(world.dora).get(reverse("leaderboard", args=["books", "main"])).content
    found = re.findall(r'data-answered="([0-9]+)" data-queries="([0-9]+)"', html.decode())
    assert sorted(found) == [("1", "10"), ("5", "10")]


def test_compare_sees_no_uneven_judging_where_all_that_is_shown_is_judged(world):
    access = make_access(collection=world.collection, username="dora")
    filters = CompareFilters(runs=("all/r", "few/r", "half/r"), measure="nDCG@10")
    page = get_comparison(access=access, slug="main", filters=filters)
    few, half = (one.run for one in page.comparisons)
    assert page.baseline is not None
    assert judging_warning(page.baseline, few) == ""
    assert (few.judged, few.answered, few.queries) == (1.0, 1, 10)
    warning = judging_warning(page.baseline, half)
    assert "half / r has 50 % judged documents, all / r 100 %" in warning


def test_compare_and_rest_say_how_many_queries_are_answered(world):
    url = reverse("compare", args=["books", "main"])
    html = signed_in(world.dora).get(url, {"runs": ["few/r", "all/r"]}).content.decode()
    assert re.findall(r'data-answered="([0-9]+)" data-queries="([0-9]+)"', html) == [("1", "10")]
    api = by_token("dora")
    answer = api.get("/api/v1/collections/books/lists/main/compare?runs=few/r,all/r").json()
    baseline, (other,) = answer["baseline"], answer["comparisons"]
    assert (baseline["answered"], baseline["queries"], baseline["judged"]) == (1, 10, 1.0)
    assert (other["run"]["answered"], other["run"]["queries"]) == (10, 10)
    assert other["warning"] == ""
    rows = api.get("/api/v1/collections/books/lists/main/leaderboard").json()["runs"]
    assert {row["ranker"]: (row["answered"], row["queries"]) for row in rows} == {
        "few": (1, 10),
        "half": (5, 10),
        "all": (10, 10),
    }


def test_measures_that_count_only_longer_rankings_see_the_same_share(world):
    own = world.collection.rankers.get(slug="all").runs.get()
    measure = ask("nDCG(queries='several')@10").measure
    asked = {"judgment_list": world.judgments, "version": 1, "measure": measure}
    mean = get_mean(found=get_query_values(run=own, **asked), **asked)
    assert (mean.queries, mean.judged, mean.answered) == (0, 1.0, 10)


@pytest.mark.django_db(transaction=True)
def test_an_upload_says_how_many_queries_the_run_answers(world, tmp_path, capsys):
    (tmp_path / "new.run").write_text("q3 Q0 d1 1 1.0 t\n")
    api = by_token("dora")
    answer = api.post(
        "/api/v1/collections/books/rankers/few/runs/?name=rest",
        data=b"q2 Q0 d1 1 1.0 t\n",
        content_type="text/plain",
    )
    assert answer.status_code == 201, answer.content
    assert (answer.json()["queries"], answer.json()["collection_queries"]) == (1, 10)
    call_command("import_run", "books/few", str(tmp_path / "new.run"))
    assert capsys.readouterr().out == "few/new answers 1 of 10 queries\n"
    call_command("import_run", "books/few", str(tmp_path / "new.run"), "--json")
    assert json.loads(capsys.readouterr().out)["collection_queries"] == 10


def test_after_the_change_the_sweep_finds_the_list_due_and_verify_is_clean(old):
    before = verify_list(judgment_list=old.judgments)
    assert (before.problems, before.outdated) == ((), 3)
    assert list_due_lists(at=NOW) == [old.judgments.pk]
    assert refresh_evaluations(list_id=old.judgments.pk, at=NOW).evaluated == 3
    assert list_due_lists(at=NOW) == []
    leaderboard = Leaderboard.objects.get(list=old.judgments)
    assert is_of_this_arithmetic(leaderboard.measure_set)
    assert dict(leaderboard.measure_set.measures)["Judged@10"] == 2
    verified = verify_list(judgment_list=old.judgments, every_step=True)
    assert (verified.problems, verified.evaluations, verified.outdated) == ((), 3, 3)


def test_a_list_without_runs_is_due_once_after_the_change():
    films = make_world(slug="films")
    commit(judgment_list=films.judgments, grades={(films.queries[0], films.documents[0]): 1})
    keep_old_measures(films.judgments)
    assert list_due_lists(at=NOW) == [films.judgments.pk]
    refresh_evaluations(list_id=films.judgments.pk, at=NOW)
    assert list_due_lists(at=NOW) == []


def test_until_then_no_old_share_is_shown_under_the_new_name(old):
    rows = board(old)
    assert {name: first_of(row).judged for name, row in rows.items()} == {
        "few": 1.0,
        "half": 0.5,
        "all": 1.0,
    }
    html = signed_in(old.dora).get(reverse("ranker", args=["books", "half"])).content.decode()
    assert "25 %" not in html.replace("\xa0", " ")
