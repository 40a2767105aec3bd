"""Judgments on documents that changed: counted, relabelled, or treated as unjudged in a version."""

from copy import deepcopy
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import call_command

from annotation.adjudication.services import adjudicate
from annotation.changed_documents.due import EVERY, list_due_lists
from annotation.changed_documents.queries import changed_judgments, count_changed
from annotation.changed_documents.services import (
    choose_for_changed,
    follow_documents,
    relabel_changed,
)
from annotation.consolidation.services import consolidate
from annotation.models import OneMoreLabel
from annotation.tasks import follow_changed_documents
from config.sweep import list_due
from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.collections.services import load_documents
from judgments.lists.services import revert_version
from judgments.models import AuditEntry, Judgment
from judgments.permissions import NotFound
from tests.annotation.page_reading import client_of
from tests.builders import NOW, commit, make_access, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run
from touchstone.files.collections import DocumentRecord

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows):
    """Four pairs, labelled once each, by Ben."""
    world = make_world(queries=2, documents=2)
    made = make_campaign(world=world, overlap=1)
    for pair in made.pairs.select_related("campaign__list", "list"):
        label(pair=pair, username="ben", grade=2)
    consolidate(list_id=made.list_id, at=NOW)
    return world, made


@pytest.fixture
def world(built):
    cache.clear()
    return deepcopy(built[0])


def change(world, docid="d1", text="Another text.", title=""):
    record = DocumentRecord(doc_id=docid, title=title, text=text, url="", fields={}, line=1)
    load_documents(collection=world.collection, records=[record], by=None, at=NOW)


def fresh(world):
    world.judgments.refresh_from_db()
    return world.judgments


def test_a_changed_text_is_counted_on_list_board_and_report_until_it_is_labelled_again(
    world, ada, campaign
):
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    client, home = client_of("ada"), "/c/books/lists/main"
    pages = (home, f"{home}/leaderboard", f"{home}/quality")
    assert count_changed(fresh(world)) == 0
    assert all("older text" not in client.get(page).content.decode() for page in pages)
    change(world)
    assert count_changed(fresh(world)) == 2  # with each of two queries
    for page in pages:
        assert "2 judgments rest on an older text" in client.get(page).content.decode()
    assert "d1" in client.get(f"{home}/changed").content.decode()
    client.post(f"{home}/changed/relabel")
    assert OneMoreLabel.objects.count() == 2
    assert relabel_changed(access=ada, judgment_list=fresh(world), at=NOW).asked == 0
    for wish in OneMoreLabel.objects.select_related("pair__campaign__list", "pair__list"):
        label(pair=wish.pair, username="cem", grade=1)
    assert not changed_judgments(fresh(world)).exists()


def choose(ada, world, choice):
    return choose_for_changed(access=ada, judgment_list=fresh(world), choice=choice, at=NOW)


def due(at):
    return list_due_lists(at=at)


def judged(world):
    rows = Judgment.objects.filter(list=world.judgments, until=None)
    return {(row.query.qid, row.document.docid): (row.grade, row.evidence) for row in rows}


def test_a_list_that_treats_them_as_unjudged_follows_its_documents_in_versions(
    world, ada, campaign
):
    commit(judgment_list=fresh(world), grades={(world.queries[0], world.documents[1]): 3})
    wake = ("annotation.follow_documents", (world.judgments.pk,))
    change(world)
    assert wake not in list_due()  # judgments are kept
    before = fresh(world).head
    version = choose(ada, world, "unjudged")
    assert (version.number, version.removed, version.source) == (before + 1, 2, "changed")
    assert set(judged(world)) == {("q1", "d2"), ("q2", "d2")}
    entry = AuditEntry.objects.filter(action="list.changed_documents_chosen").get()
    assert entry.subject == "main"
    assert choose(ada, world, "unjudged") is None
    assert wake not in list_due()
    change(world, docid="d2")
    assert wake in list_due()
    follow_changed_documents(world.judgments.pk)
    follow_changed_documents(world.judgments.pk)
    assert fresh(world).head == before + 2
    # what no one labelled here can't have changed
    assert set(judged(world)) == set()
    assert wake not in list_due()
    assert count_changed(fresh(world)) == 4


def test_what_a_revert_brings_back_is_taken_out_again_within_a_minute(world, ada, campaign):
    change(world)
    before = fresh(world).head
    choose(ada, world, "unjudged")
    revert_version(access=ada, judgment_list=fresh(world), number=before, reason="", at=NOW)
    assert len(judged(world)) == 4
    assert due(NOW) == []
    assert due(NOW + EVERY) == [world.judgments.pk]
    assert follow_documents(list_id=world.judgments.pk, at=NOW + EVERY).removed == 2
    assert due(NOW + 2 * EVERY) == []


def test_kept_again_they_come_back_with_grade_and_evidence(world, ada, campaign):
    before = judged(world)
    change(world)
    choose(ada, world, "unjudged")
    assert len(judged(world)) == 2
    version = choose(ada, world, "kept")
    assert (version.added, version.source) == (2, "changed")
    assert judged(world) == before
    assert due(NOW + EVERY) == []
    assert choose(ada, world, "kept") is None


def test_an_old_text_or_a_label_on_the_new_one_brings_a_judgment_back(world, ada, campaign):
    before, document = judged(world), world.documents[0]
    choose(ada, world, "unjudged")
    change(world)
    follow_documents(list_id=world.judgments.pk, at=NOW)
    assert len(judged(world)) == 2
    change(world, text=document.body, title=document.title)
    follow_documents(list_id=world.judgments.pk, at=NOW)
    assert judged(world) == before
    change(world)
    follow_documents(list_id=world.judgments.pk, at=NOW)
    assert relabel_changed(access=ada, judgment_list=fresh(world), at=NOW).asked == 2
    for wish in OneMoreLabel.objects.select_related("pair__campaign__list", "pair__list"):
        label(pair=wish.pair, username="cem", grade=2)
    consolidate(list_id=world.judgments.pk, at=NOW + EVERY)
    assert follow_documents(list_id=world.judgments.pk, at=NOW + EVERY) is None
    assert set(judged(world)) == set(before)


def test_an_adjudication_on_todays_text_settles_a_pair(world, ada, campaign):
    choose(ada, world, "unjudged")
    change(world)
    follow_documents(list_id=world.judgments.pk, at=NOW)
    pair = campaign.pairs.get(query=world.queries[0], document=world.documents[0])
    adjudicate(access=ada, pair=pair, grade=1, reason="Read it.", at=NOW)
    assert follow_documents(list_id=world.judgments.pk, at=NOW + EVERY) is None
    assert judged(world)["q1", "d1"][0] == 1
    assert count_changed(fresh(world)) == 1


def newest(run):
    return run.evaluations.select_related("version").latest("version__number")


def test_every_number_follows_the_choice_and_stays_traceable(world, ada, campaign):
    run = make_run(collection=world.collection, rankings={"q1": ["d1"], "q2": ["d1"]})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    before = newest(run)
    choose(ada, world, "unjudged")
    change(world)
    follow_documents(list_id=world.judgments.pk, at=NOW)
    assert ("evaluation.refresh", (world.judgments.pk,)) in list_due()
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    after = newest(run)
    assert (before.version.number, after.version.number) == (1, fresh(world).head)
    assert bytes(before.sums) != bytes(after.sums)
    call_command("verify", "--all", stdout=StringIO())
    client, home = client_of("ada"), "/c/books/lists/main"
    make_run(collection=world.collection, rankings={"q1": ["d2"]}, ranker="other")
    for page in ("", "/leaderboard", "/quality", "/compare"):
        text = client.get(home + page).content.decode()
        assert "2 judgments on an older text of the document are treated as unjudged" in text


def test_the_choice_is_made_on_its_page_and_over_rest_by_leads(world, ada, campaign):
    change(world)
    client, page = client_of("ada"), "/c/books/lists/main/changed"
    client.post(f"{page}/choose", {"changed_documents": "unjudged"})
    assert fresh(world).changed_documents == "unjudged"
    shown = client.get(page).content.decode()
    assert "Keep them" in shown
    assert "d1" in shown  # can still be labelled again
    path = "/api/v1/collections/books/lists/main"
    assert client.get(path).json()["changed_documents"] == "unjudged"
    state = client.get(f"{path}/changed-documents").json()
    assert state == {"changed_documents": "unjudged", "judgments": 2, "head": fresh(world).head}
    kept = {"changed_documents": "kept"}
    assert client.put(f"{path}/changed-documents", kept, "application/json").status_code == 200
    assert len(judged(world)) == 4
    client.post(f"{page}/choose", {"changed_documents": "other"})
    assert fresh(world).changed_documents == "kept"
    dora = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        choose(dora, world, "unjudged")


def test_an_old_text_that_comes_back_is_no_change(world, campaign):
    text = world.documents[0].body
    change(world)
    assert changed_judgments(fresh(world)).count() == 2
    document = world.documents[0]
    record = DocumentRecord(
        doc_id="d1", title=document.title, text=text, url="", fields=document.fields, line=1
    )
    load_documents(collection=world.collection, records=[record], by=None, at=NOW)
    assert count_changed(fresh(world)) == 0
