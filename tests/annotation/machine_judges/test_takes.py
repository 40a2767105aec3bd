"""What a list takes is a choice of its versions: labels follow it, and nothing else gets in."""

import pytest
from django.urls import reverse

from annotation.consolidation.services import approve, consolidate
from annotation.machine_judges.campaigns import start_judging
from annotation.machine_judges.following import list_due_lists
from annotation.machine_judges.grading import (
    Lists,
    follow_machine,
    grade_by_machine,
    remove_grades,
)
from annotation.models import Campaign, JudgeCampaign
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, JudgmentVersion
from judgments.models.lists import Takes
from judgments.outgoing.rules import read_origins
from judgments.versions.services import Change, commit_judgments
from judgments.versions.takes import TakesRefused
from tests.annotation.machine_judges.endpoint import grades, make_judge, running
from tests.annotation.machine_judges.test_grading import held
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db
LATER = [NOW.replace(hour=hour) for hour in range(10, 20)]
PEOPLE = [("q1", "d1", 4), ("q2", "d1", 4)]
BOTH = [("q1", "d1", 4), ("q1", "d2", 1), ("q2", "d1", 4), ("q2", "d2", 1)]
MACHINE = [("q1", "d1", 1), ("q1", "d2", 1), ("q2", "d1", 1), ("q2", "d2", 1)]


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=2, documents=3)


@pytest.fixture
def campaign(world):
    """People graded d1 of both queries as 4."""
    made = make_campaign(world=world, pairs=pairs_of(world, world.documents[:2]))
    for pair in made.pairs.select_related("campaign").filter(document__docid="d1"):
        said(pair, 4)
    consolidate(list_id=made.list_id, at=NOW)
    world.judgments.refresh_from_db()
    return made


@pytest.fixture
def revision(world, campaign, settings):
    """The machine said 1 of everything."""
    with running(lambda _: grades(1)) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        made = make_judge(world, endpoint.url)
        access = make_access(collection=world.collection)
        start_judging(access=access, judge=made.judge, campaign=campaign, at=NOW)
        while work_jobs():
            pass
        yield made


def pairs_of(world, documents):
    return [(query, document) for query in world.queries for document in documents]


def grade_d1(world, grade):
    """What an import says of the first pair."""
    return commit_judgments(
        judgment_list=world.judgments,
        changes=[Change(world.queries[0].pk, world.documents[0].pk, grade)],
        by=world.ada,
        at=NOW,
        reason="",
        source=JudgmentVersion.Source.IMPORT,
    )


def said(pair, grade):
    return [label(pair=pair, username=username, grade=grade) for username in ("ben", "cem")]


def pair_of(campaign, qid, docid):
    pairs = campaign.pairs.select_related("campaign")
    return pairs.get(query__qid=qid, document__docid=docid)


def choose(world, revision, takes):
    lists = Lists(world.judgments, world.judgments)
    return grade_by_machine(revision=revision, lists=lists, by=world.ada, at=NOW, takes=takes)


def takes_of(world):
    versions = JudgmentVersion.objects.filter(list=world.judgments).order_by("number")
    return list(versions.values_list("takes", flat=True))


def test_each_version_says_what_it_takes_and_each_choice_is_a_version(world, campaign, revision):
    choose(world, revision, Takes.ELSEWHERE)
    assert held(world.judgments) == BOTH
    version = choose(world, revision, Takes.MACHINE)
    assert held(world.judgments) == MACHINE
    assert (version.changed, version.takes_from["judge"]) == (2, "Model")
    version = choose(world, revision, Takes.ELSEWHERE)
    assert (version.changed, held(world.judgments)) == (2, BOTH)
    access = make_access(collection=world.collection)
    remove_grades(access=access, judgment_list=world.judgments, at=NOW)
    assert held(world.judgments) == PEOPLE
    others = ["machine_elsewhere", "machine", "machine_elsewhere"]
    assert takes_of(world) == ["people", *others, "people"]
    chosen = AuditEntry.objects.filter(action="list.takes_chosen").order_by("pk")
    assert [entry.after["takes"] for entry in chosen] == [
        "people where there are, machine judge Model, revision 1, elsewhere",
        "machine judge Model, revision 1, only",
        "people where there are, machine judge Model, revision 1, elsewhere",
        "people only",
    ]


def test_a_choice_that_moves_no_grade_is_a_version_too(world, campaign, revision):
    for pair in campaign.pairs.select_related("campaign").filter(document__docid="d2"):
        said(pair, 2)
    consolidate(list_id=campaign.list_id, at=LATER[0])
    version = choose(world, revision, Takes.ELSEWHERE)
    assert (version.takes, version.added, version.changed) == ("machine_elsewhere", 0, 0)
    assert choose(world, revision, Takes.ELSEWHERE) is None


def test_people_who_label_while_the_machine_only_counts_are_heard_afterwards(
    world, campaign, revision
):
    choose(world, revision, Takes.MACHINE)
    said(pair_of(campaign, "q1", "d2"), 3)
    consolidate(list_id=campaign.list_id, at=LATER[0])
    assert held(world.judgments) == MACHINE
    with pytest.raises(TakesRefused):
        approve(access=make_access(collection=world.collection), campaign=campaign, at=LATER[1])
    version = choose(world, revision, Takes.ELSEWHERE)
    after = [("q1", "d1", 4), ("q1", "d2", 3), ("q2", "d1", 4), ("q2", "d2", 1)]
    assert held(world.judgments) == after
    assert version.source == "labels"


def test_what_people_lost_meanwhile_does_not_come_back(world, campaign, revision):
    choose(world, revision, Takes.MACHINE)
    access = make_access(collection=world.collection)
    remove_grades(access=access, judgment_list=world.judgments, at=NOW)
    grade_d1(world, None)
    choose(world, revision, Takes.MACHINE)
    choose(world, revision, Takes.ELSEWHERE)
    assert held(world.judgments) == [("q1", "d1", 1), *BOTH[1:]]


def test_nothing_else_gets_into_a_list(world, campaign, revision):
    choose(world, revision, Takes.MACHINE)
    assert grade_d1(world, 3) is None
    ada = client_of("ada")
    told = ada.post(
        "/api/v1/collections/books/lists/main/qrels",
        data=b"q1 0 d1 3\n",
        content_type="application/octet-stream",
    )
    assert (told.status_code, told.json()["code"]) == (422, "takes_machine")
    assert held(world.judgments) == MACHINE


def test_new_labels_of_the_machine_follow_once_its_campaign_has_ended(
    world, campaign, revision, settings
):
    choose(world, revision, Takes.ELSEWHERE)
    assert list_due_lists() == []
    other = make_campaign(world=world, name="Second", pairs=pairs_of(world, world.documents[2:]))
    access = make_access(collection=world.collection)
    own = start_judging(access=access, judge=revision.judge, campaign=other, at=NOW)
    assert list_due_lists() == []
    while work_jobs():
        pass
    assert JudgeCampaign.objects.get(pk=own.pk).state == "done"
    assert list_due_lists() == [world.judgments.pk]
    version = follow_machine(list_id=world.judgments.pk, at=LATER[0])
    assert (version.added, version.takes, version.author) == (2, "machine_elsewhere", None)
    assert list_due_lists() == []
    assert follow_machine(list_id=world.judgments.pk, at=LATER[0]) is None


def test_a_pair_that_people_lose_gets_the_machines_grade(world, campaign, revision):
    choose(world, revision, Takes.ELSEWHERE)
    grade_d1(world, None)
    assert list_due_lists() == [world.judgments.pk]
    follow_machine(list_id=world.judgments.pk, at=LATER[0])
    assert held(world.judgments) == [("q1", "d1", 1), *BOTH[1:]]
    assert list_due_lists() == []


def test_pages_and_rest_say_and_change_it(world, campaign, revision):
    ada, dora = client_of("ada"), client_of("dora")
    path = reverse("api-list-takes", args=["books", "main"])
    assert dora.get(path).json() == {
        "takes": "people",
        "grades_from": "people only",
        "head": 1,
        "machine_grades": 0,
    }
    told = {"takes": "machine", "judge": revision.judge_id, "revision": 1}
    refused = ada.put(path, {"takes": "machine"}, content_type="application/json")
    assert refused.status_code == 400
    assert ada.put(path, told, content_type="application/json").status_code == 202
    while work_jobs():
        pass
    for address in ("", "/versions/2", "/versions/1..2", "/leaderboard", "/compare", "/estimates"):
        page = words(dora.get(f"/c/books/lists/main{address}"))
        assert "Model, revision 1, only" in page, address
    board = dora.get("/api/v1/collections/books/lists/main/leaderboard").json()
    assert board["grades_from"] == "machine judge Model, revision 1, only"
    qrels = dora.get("/api/v1/collections/books/lists/main/versions/2/qrels")
    assert qrels["X-Grades-From"] == "machine judge Model, revision 1, only"
    page = reverse("list-takes", args=["books", "main"])
    assert "Model, revision 1, on pairs of" in words(ada.get(page))
    ada.post(page, {"takes": "people"})
    assert held(world.judgments) == PEOPLE
    chosen = ada.post(page, {"takes": "machine_elsewhere", "machine": f"{revision.pk}:main"})
    while work_jobs():
        pass
    assert (chosen.status_code, held(world.judgments)) == (302, BOTH)
    assert Campaign.objects.get().state == "open"
