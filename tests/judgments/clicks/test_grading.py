"""Clicks against people, and grades of a list that come from clicks."""

from copy import deepcopy

import numpy as np
import pytest

from annotation.consolidation.services import consolidate
from judgments.clicks.grading import Wish, grade_by_clicks
from judgments.clicks.people import get_people_page, list_click_grades
from judgments.clicks.services import ClicksRefused
from judgments.jobs.services import work_jobs
from judgments.lists.services import revert_version
from judgments.models import ClickGrading, ClickLog, Judgment, JudgmentList
from judgments.versions.click_grades import count_click_grades
from judgments.versions.queries import get_judged
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, World, commit, make_access, make_list, make_world
from tests.builders_annotation import label, make_campaign
from tests.judgments.clicks.builders import EXAMINATION, make_clicks, page_rows

pytestmark = pytest.mark.django_db

ATTRACTIVE = (0.1, 0.25, 0.45, 0.65, 0.9)
EXAMINED = Wish("examined", 10)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, ClickLog]:
    """Clicks that depend on the grade, the document's number modulo 5 in each query."""
    world = make_world(queries=24, documents=6)
    rng = np.random.default_rng(8)
    rows: list[str] = []
    for number in range(6000):
        place = int(rng.integers(len(world.queries)))
        shown = rng.permutation(len(world.documents))[:3]
        chances = [
            ATTRACTIVE[grade_of(place, one)] * EXAMINATION[at] for at, one in enumerate(shown)
        ]
        clicked = (np.flatnonzero(rng.random(3) < chances) + 1).tolist()
        docids = [world.documents[one].docid for one in shown]
        rows += page_rows(number, world.queries[place].text, docids, clicked)
    return world, make_clicks(world=world, rows=rows)


@pytest.fixture
def world(built: tuple[World, ClickLog]) -> World:
    return deepcopy(built[0])


@pytest.fixture
def log(built: tuple[World, ClickLog]) -> ClickLog:
    return deepcopy(built[1])


def grade_of(query: int, document: int) -> int:
    return (query + document) % 5


def people(world: World, documents: int = 4) -> None:
    """People graded the first documents of every query."""
    commit(
        judgment_list=world.judgments,
        grades={
            (query, world.documents[place]): grade_of(number, place)
            for number, query in enumerate(world.queries)
            for place in range(documents)
        },
    )


def grade(world: World, log: ClickLog, judgment_list: JudgmentList, wish: Wish = EXAMINED):
    return grade_by_clicks(
        log=log, judgment_list=judgment_list, basis=world.judgments, wish=wish, by=world.ada, at=NOW
    )


def test_only_pairs_without_a_grade_from_people_are_graded_in_one_version(world, log):
    people(world)
    before = get_judged(list_id=world.judgments.pk, version=1).pairs()
    version = grade(world, log, world.judgments)
    assert (version.number, version.source) == (2, "clicks")
    after = get_judged(list_id=world.judgments.pk, version=2).pairs()
    assert before.items() <= after.items()
    made = {pair: code for pair, code in after.items() if pair not in before}
    assert len(made) == 2 * len(world.queries) == version.added
    numbers = {query.pk: number for number, query in enumerate(world.queries)}
    places = {document.pk: place for place, document in enumerate(world.documents)}
    errors = [abs(code - grade_of(numbers[q], places[d])) for (q, d), code in made.items()]
    assert np.mean(errors) < 0.35
    row = Judgment.objects.filter(since=2)[0]
    own = row.evidence["clicks"]
    assert own["low"] < own["value"] < own["high"]
    assert (own["log"], own["score"]) == (log.number, "examined")
    assert own["impressions"] > 60
    assert count_click_grades(list_id=world.judgments.pk, version=2) == len(made)
    assert count_click_grades(list_id=world.judgments.pk, version=1) == 0


def test_pages_and_rest_say_which_grades_come_from_clicks_with_posterior_and_n(world, log):
    people(world)
    grade(world, log, world.judgments)
    row = Judgment.objects.filter(since=2).select_related("query", "document")[0]
    own = row.evidence["clicks"]
    said = f"{own['value']:.2f} [{own['low']:.2f}, {own['high']:.2f}], {own['impressions']} imp"
    ada = client_of("ada")
    asked = {"query": row.query.qid, "document": row.document.docid}
    assert f"Clicks: {said}" in words(ada.get("/c/books/lists/main/pair", asked))
    base = "/api/v1/collections/books/lists/main"
    (held,) = ada.get(f"{base}/pair", asked).json()["judgments"]
    assert held["evidence"].startswith(f"clicks: {said}")
    assert "Grades of people and clicks" in words(ada.get("/c/books/lists/main"))
    assert "people and clicks" in words(ada.get("/c/books/lists/main/versions/2"))
    assert "people only" in words(ada.get("/c/books/lists/main/versions/1"))
    board = ada.get(f"{base}/leaderboard").json()
    assert (board["click_grades"], board["grades_from"]) == (48, "people and clicks")


def test_grades_are_replaced_by_another_score_and_the_same_make_no_version(world, log):
    people(world)
    target = make_list(collection=world.collection, slug="clicks")
    first = grade(world, log, target)
    assert first.added == len(world.queries) * len(world.documents)
    assert grade(world, log, target) is None
    second = grade(world, log, target, Wish("ctr", 120))
    assert second.removed > 0
    target.refresh_from_db()
    kinds = {
        row.evidence["clicks"]["score"] for row in Judgment.objects.filter(list=target, until=None)
    }
    assert kinds == {"ctr"}
    assert ClickGrading.objects.count() == 2
    # a revert brings the first ones back, with where they come from
    access = make_access(collection=world.collection)
    revert_version(access=access, at=NOW, judgment_list=target, number=1, reason="")
    assert count_click_grades(list_id=target.pk, version=3) == first.added
    part = list_click_grades(judgment_list=target, version="head", after=0, limit=1)
    assert part.rows[0].score == "examined"
    assert part.after is not None


def test_the_bins_are_of_one_half_and_judged_on_the_other(world, log):
    people(world)
    version = grade(world, log, world.judgments)
    figures = ClickGrading.objects.get(version=version).figures
    assert figures["learned"] + figures["judged"] == figures["pairs"] == 4 * len(world.queries)
    assert figures["learned"] == figures["judged"]
    value, low, high = figures["kappa"]
    assert low < value < high
    assert value > 0.8
    assert version.signals[0][0] == ">=0"
    assert [code for _, code in version.signals] == sorted(code for _, code in version.signals)


def test_clicks_are_compared_with_people_and_never_with_themselves(world, log):
    people(world)
    access = make_access(collection=world.collection, username="dora")
    before = get_people_page(access=access, number=log.number)
    grade(world, log, world.judgments)
    page = get_people_page(access=access, number=log.number)
    assert page.scores == before.scores
    examined, _, ctr = page.scores
    assert examined.pairs == 4 * len(world.queries)
    assert 0.9 < examined.auc.low <= examined.auc.value <= 1
    assert examined.auc.value >= ctr.auc.value
    assert examined.tau.value > 0.8
    assert [row.name for row in page.segments] == ["head", "tail"]
    assert sum(row.pairs for row in page.segments) == examined.pairs
    assert [(row.version, row.basis_version) for row in page.gradings] == [(2, 1)]


def test_a_label_of_a_person_replaces_a_grade_from_clicks(world, log):
    people(world)
    grade(world, log, world.judgments)
    world.judgments.refresh_from_db()
    query, document = world.queries[0], world.documents[5]
    campaign = make_campaign(world=world, pairs=[(query, document)])
    pair = campaign.pairs.select_related("list").get()
    label(pair=pair, username="ben", grade=4)
    label(pair=pair, username="cem", grade=4)
    consolidate(list_id=world.judgments.pk, at=NOW)
    now = Judgment.objects.get(list=world.judgments, query=query, document=document, until=None)
    assert now.grade == 4
    assert "clicks" not in now.evidence
    assert grade(world, log, world.judgments) is None


def test_too_few_queries_that_people_graded_are_refused(world, log):
    q1, d1 = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): 3})
    with pytest.raises(ClicksRefused, match="at least 10 are needed"):
        grade(world, log, world.judgments)
    assert not ClickGrading.objects.exists()


def test_a_score_that_orders_nothing_is_refused(world, log):
    commit(
        judgment_list=world.judgments,
        grades={(query, document): 2 for query in world.queries for document in world.documents},
    )
    target = make_list(collection=world.collection, slug="clicks")
    with pytest.raises(ClicksRefused, match="does not order"):
        grade(world, log, target)


def test_a_lead_grades_by_the_page_and_board_list_and_rest_say_so(world, log, client):
    people(world)
    client.force_login(world.ada)
    path = f"/c/books/clicks/{log.number}/people"
    assert "Weighted kappa" in client.get(path).content.decode()
    sent = {"basis": "main", "target": "main", "score": "examined", "fewest": "10"}
    response = client.post(path, sent)
    assert response.status_code == 302, response.content.decode()
    work_jobs()
    job = client.get(response.url).content.decode()
    assert "/c/books/lists/main/versions/2" in job
    made = 2 * len(world.queries)
    assert (
        f"{made} of {made * 3} grades come from"
        in client.get("/c/books/lists/main").content.decode()
    )
    assert (
        f"{made} grades come from" in client.get("/c/books/lists/main/leaderboard").content.decode()
    )
    version = client.get("/c/books/lists/main/versions/2").content.decode()
    assert "clicks: 0." in version
    assert f"{made} grades from" in version
    assert "main, version 2".casefold() in client.get(path).content.decode().casefold()
    rest = "/api/v1/collections/books/lists/main"
    assert client.get(f"{rest}/leaderboard").json()["click_grades"] == made
    rows = client.get(f"{rest}/click-grades?limit=500").json()["results"]
    assert len(rows) == made
    assert {row["log"] for row in rows} == {log.number}
    other = {"list": "main", "basis": "none"}
    answer = client.post(
        f"/api/v1/collections/books/clicks/{log.number}/people", other, "application/json"
    )
    assert answer.status_code == 404
