"""Grades of a machine judge in a list: people's stay, and every version says how many there are."""

import pytest
from django.urls import reverse

from annotation.consolidation.services import consolidate
from annotation.machine_judges.campaigns import start_judging
from annotation.machine_judges.grading import Lists, grade_by_machine, remove_grades
from annotation.models import Label, MachineLabel
from judgments.clicks.people import basis_of
from judgments.jobs.services import work_jobs
from judgments.lists.services import ListRefused, revert_version, start_list
from judgments.models import Judgment, JudgmentVersion
from judgments.outgoing.rules import read_origins
from judgments.versions.machine_grades import count_machine_grades
from tests.annotation.machine_judges.endpoint import fails, grades, make_judge, running
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import label, make_campaign
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=2, documents=3)


@pytest.fixture
def revision(world, settings):
    """People graded d1 of both queries as 4; the machine failed at d3 and said 1 of all else."""
    campaign = make_campaign(world=world)
    for pair in campaign.pairs.select_related("campaign").filter(document__docid="d1"):
        for username in ("ben", "cem"):
            label(pair=pair, username=username, grade=4)
    consolidate(list_id=campaign.list_id, at=NOW)
    with running(lambda shown: fails(400) if "Title 3" in shown else grades(1)) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        made = make_judge(world, endpoint.url)
        access = make_access(collection=world.collection)
        start_judging(access=access, judge=made.judge, campaign=campaign, at=NOW)
        while work_jobs():
            pass
    world.judgments.refresh_from_db()
    return made


def held(judgment_list):
    rows = Judgment.objects.filter(list=judgment_list, until=None).order_by("query", "document")
    return list(rows.values_list("query__qid", "document__docid", "grade"))


def fill(world, revision, target=None):
    lists = Lists(world.judgments, target or world.judgments)
    return grade_by_machine(revision=revision, lists=lists, by=world.ada, at=NOW)


def count(judgment_list):
    judgment_list.refresh_from_db()
    return count_machine_grades(list_id=judgment_list.pk, version=judgment_list.head)


PEOPLE = [("q1", "d1", 4), ("q2", "d1", 4)]
BOTH = [("q1", "d1", 4), ("q1", "d2", 1), ("q2", "d1", 4), ("q2", "d2", 1)]


def test_the_machine_fills_what_people_left_and_a_failure_fills_nothing(world, revision):
    version = fill(world, revision)
    assert (version.source, version.added, version.changed) == ("machine", 2, 0)
    assert held(world.judgments) == BOTH
    assert count(world.judgments) == 2
    assert count_machine_grades(list_id=world.judgments.pk, version=version.number - 1) == 0
    evidence = Judgment.objects.filter(until=None, grade=1).first().evidence
    told = MachineLabel.objects.get(pk=evidence["machine"]["label"])
    assert (evidence["machine"]["judge"], told.grade) == ("Model", 1)
    assert fill(world, revision) is None
    # what clicks are compared with is people's alone
    assert len(basis_of(world.judgments)) == 2


def test_a_later_label_of_a_person_replaces_the_machines_and_its_withdrawal_brings_it_back(
    world, revision
):
    fill(world, revision)
    campaign = world.judgments.campaigns.get()
    pair = campaign.pairs.select_related("campaign").get(query__qid="q1", document__docid="d2")
    own = [label(pair=pair, username=username, grade=3) for username in ("ben", "cem")]
    consolidate(list_id=campaign.list_id, at=NOW.replace(hour=10))
    assert ("q1", "d2", 3) in held(world.judgments)
    assert count(world.judgments) == 1
    for one in own:
        label(
            pair=pair,
            username=one.annotator.username,
            outcome=Label.Outcome.RETRACTED,
            supersedes=one.pk,
        )
    consolidate(list_id=campaign.list_id, at=NOW.replace(hour=11))
    assert held(world.judgments) == BOTH
    assert count(world.judgments) == 2


def test_machine_grades_can_be_removed_and_restored(world, revision):
    version = fill(world, revision)
    access = make_access(collection=world.collection)
    remove_grades(access=access, judgment_list=world.judgments, at=NOW)
    assert (held(world.judgments), count(world.judgments)) == (PEOPLE, 0)
    assert remove_grades(access=access, judgment_list=world.judgments, at=NOW) is None
    # a version is restored where the list takes what it took
    told = {"access": access, "at": NOW, "judgment_list": world.judgments, "reason": ""}
    with pytest.raises(ListRefused, match="Model, revision 1"):
        revert_version(**told, number=version.number)
    fill(world, revision)
    assert (held(world.judgments), count(world.judgments)) == (BOTH, 2)


def test_a_list_of_its_own_has_the_machines_grades_alone(world, revision):
    other = start_list(
        collection=world.collection,
        by=world.ada,
        at=NOW,
        slug="by-machine",
        name="By the machine",
        scale=Scale.default(),
    )
    fill(world, revision, other)
    assert held(other) == [(q, d, 1) for q in ("q1", "q2") for d in ("d1", "d2")]
    assert (count(other), count(world.judgments)) == (4, 0)
    assert held(world.judgments) == PEOPLE


def test_pages_and_rest_say_how_many_grades_are_the_machines(world, revision):
    ada = client_of("ada")
    path = reverse("machine-judge-grade", args=["books", revision.judge_id])
    told = ada.post(path, {"revision": 1, "source": "main", "target": "main"})
    while work_jobs():
        pass
    assert told.status_code == 302
    version = JudgmentVersion.objects.get(source="machine")
    dora = client_of("dora")
    pages = ("", "/leaderboard", "/compare", "/estimates")
    for address in (f"lists/main{page}" for page in pages):
        page = words(dora.get(f"/c/books/{address}"))
        assert "come from machine judges, not from people" in page, address
        assert "Remove them" not in page
    shown = words(dora.get(f"/c/books/lists/main/versions/{version.number}"))
    assert "2 from machine judges" in shown
    board = dora.get("/api/v1/collections/books/lists/main/leaderboard").json()
    assert board["machine_grades"] == 2
    rows = dora.get("/api/v1/collections/books/lists/main/versions/").json()["results"]
    assert [row["source"] for row in rows] == ["machine judge", "labels"]
    diff = words(ada.get(f"/c/books/lists/main/versions/{version.number - 1}..{version.number}"))
    assert "machine judge Model, revision 1" in diff
    own = Judgment.objects.select_related("query", "document").filter(since=version.number)[0]
    asked = {"query": own.query.qid, "document": own.document.docid}
    blame = words(ada.get("/c/books/lists/main/pair", asked, follow=True))
    assert "Machine judge Model, revision 1" in blame
    held = ada.get("/api/v1/collections/books/lists/main/pair", asked).json()["judgments"]
    assert [one["evidence"] for one in held] == ["machine judge Model, revision 1"]
    removed = ada.post("/c/books/lists/main/machine-grades/remove", follow=True)
    assert "has grades of people only" in words(removed)
    assert "machine judges" not in words(dora.get("/c/books/lists/main/leaderboard"))
