"""Judgments on documents that changed: counted, relabelled, or treated as unjudged in a version."""

import pytest
from django.core.cache import cache

from annotation.changed_documents.queries import changed_judgments, count_changed
from annotation.changed_documents.services import relabel_changed, unjudge_changed
from annotation.consolidation.services import consolidate
from annotation.models import OneMoreLabel
from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.collections.services import load_documents
from judgments.lists.services import revert_version
from judgments.models import Judgment
from judgments.permissions import NotFound
from tests.annotation.page_reading import client_of
from tests.builders import NOW, commit, make_access, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run
from touchstone.files.collections import DocumentRecord

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    cache.clear()
    return make_world(queries=2, documents=2)


@pytest.fixture
def ada(world):
    return make_access(collection=world.collection)


@pytest.fixture
def campaign(world):
    """Four pairs, labelled once each, by Ben."""
    made = make_campaign(world=world, overlap=1)
    for pair in made.pairs.select_related("campaign__list", "list"):
        label(pair=pair, username="ben", grade=2)
    consolidate(list_id=made.list_id, at=NOW)
    return made


def change(world, docid="d1", text="Another text."):
    record = DocumentRecord(doc_id=docid, title="", text=text, url="", fields={}, line=1)
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


def test_a_list_may_treat_them_as_unjudged_in_a_version_that_can_be_reverted(world, ada, campaign):
    commit(judgment_list=fresh(world), grades={(world.queries[0], world.documents[1]): 3})
    change(world)
    before = fresh(world).head
    version = unjudge_changed(access=ada, judgment_list=world.judgments, at=NOW)
    assert (version.number, version.removed, version.source) == (before + 1, 2, "changed")
    assert Judgment.objects.filter(list=world.judgments, until=None).count() == 2
    assert unjudge_changed(access=ada, judgment_list=fresh(world), at=NOW) is None
    revert_version(access=ada, judgment_list=fresh(world), number=before, reason="", at=NOW)
    assert changed_judgments(fresh(world)).count() == 2
    dora = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        unjudge_changed(access=dora, judgment_list=world.judgments, at=NOW)


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
