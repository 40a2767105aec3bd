"""What is archived is hidden, refuses every change, and can be restored."""

from typing import Any

import pytest
from django.urls import reverse

from annotation.campaigns.archiving import archive_campaign, restore_campaign
from annotation.campaigns.services import (
    CampaignRefused,
    change_campaign,
    close_campaign,
    open_campaign,
)
from annotation.dashboards.work_overview import get_work_overview
from annotation.models import Campaign
from judgments.archiving.services import (
    ArchivingRefused,
    archive_collection,
    archive_list,
    restore_collection,
    restore_list,
)
from judgments.jobs.services import queue_job
from judgments.lists.services import create_list, release_version
from judgments.models import AuditEntry, Collection, Job, JudgmentList, JudgmentVersion
from judgments.permissions import Access, Archived, NotFound, get_access
from judgments.versions.services import CommitRefused
from tests.annotation.page_reading import client_of
from tests.api.callers import BOOKS, MAIN, ROOT, by_token
from tests.architecture.asking import ROWS, ask, undone
from tests.architecture.asking import client_of as client_in
from tests.builders import NOW, World, commit, make_access, make_user, make_world
from tests.builders_annotation import make_campaign, make_draft
from tests.permissions.table import Row
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db
MEMBERS = "people must be able to come and leave"
# what a lead may still do in an archived collection, and why
STILL = {
    "api-collection-archive": "changes nothing",
    "api-collection-restore": "is what restores it",
    "member-tags": MEMBERS,
    "collection-archive": "changes nothing",
    "collection-restore": "is what restores it",
    "invitation-withdraw": MEMBERS,
    "member-end": MEMBERS,
    "member-role": MEMBERS,
    "members": MEMBERS,
}
OF_NO_COLLECTION = {
    "api-collections",
    "collection-create",
    "password",
    "tokens",
    "token-delete",
}


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=2)


def ada(world: World) -> Access:
    """As a new request would find her."""
    return make_access(collection=world.collection)


def actions() -> list[str]:
    found = AuditEntry.objects.filter(action__endswith="d").order_by("pk")
    return [one.action for one in found if one.action.split(".")[1] in ("archived", "restored")]


def test_a_collection_is_hidden_read_only_and_comes_back(world: World) -> None:
    archive_collection(access=ada(world), at=NOW)
    archive_collection(access=ada(world), at=NOW)
    client = client_of("ada")
    assert "Books" not in client.get(reverse("home")).text
    assert "Books" in client.get(reverse("home") + "?archived").text
    page = client.get(reverse("collection", args=["books"])).text
    assert "Archived." in page
    assert reverse("collection-restore", args=["books"]) in page
    with pytest.raises(Archived, match="Restore it first"):
        create_list(access=ada(world), at=NOW, slug="other", name="", scale=Scale.default())
    restore_collection(access=ada(world), at=NOW)
    create_list(access=ada(world), at=NOW, slug="other", name="", scale=Scale.default())
    assert actions() == ["collection.archived", "collection.restored"]


def test_a_refusal_says_why_on_the_pages_and_over_rest(world: World) -> None:
    archive_collection(access=ada(world), at=NOW)
    client = client_of("ada")
    answer = client.post(reverse("list-create", args=["books"]), {"name": "x"})
    assert answer.status_code == 409
    assert "This collection is archived" in answer.text
    answer = client.post("/api/v1/collections/books/lists", {"slug": "x"}, "application/json")
    assert answer.status_code == 422
    assert answer.json()["code"] == "archived"
    assert JudgmentList.objects.count() == 1


def asks_of_a_collection(row: Row) -> bool:
    return row.method != "get" and 200 <= row.lead < 400 and row.name not in STILL


def traces() -> list[int]:
    """What every change leaves one of: an entry in the audit log, a job or a version."""
    return [model.objects.count() for model in (AuditEntry, Job, JudgmentVersion)]


def left_a_trace(world: World, row: Row) -> bool:
    """Whether the lead of a collection changes something by this row once it is archived."""
    with undone(world):
        path = row.path(world)
        if path.get("slug", "books") != "books":
            return False
        Collection.objects.filter(pk=world.collection.pk).update(archived_at=NOW)
        before = traces()
        answer = ask(client_in(world, "lead"), row, path)
        if row.name in OF_NO_COLLECTION:
            return False
        assert answer.status_code < 500
        return traces() != before


@pytest.mark.first_pass
def test_every_change_of_an_archived_collection_is_refused() -> None:
    """The permission table, asked again by the lead of a collection that is archived."""
    world = make_world()
    rows = [row for row in ROWS if asks_of_a_collection(row)]
    assert len(rows) > 80
    assert [str(row) for row in rows if left_a_trace(world, row)] == []


def test_a_collection_with_an_open_campaign_or_a_job_is_not_archived(world: World) -> None:
    campaign = make_campaign(world=world)
    with pytest.raises(ArchivingRefused, match="open campaigns first: First"):
        archive_collection(access=ada(world), at=NOW)
    close_campaign(access=ada(world), campaign=campaign, at=NOW)
    job = queue_job(
        collection=world.collection, by=world.ada, kind="import_qrels", at=NOW, params={}
    )
    with pytest.raises(ArchivingRefused, match="job is not done"):
        archive_collection(access=ada(world), at=NOW)
    job.delete()
    archive_collection(access=ada(world), at=NOW)


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_and_administrators_archive(world: World, username: str) -> None:
    access = make_access(collection=world.collection, username=username)
    with pytest.raises(NotFound):
        archive_collection(access=access, at=NOW)
    root = get_access(viewer=make_user(username="root", is_superuser=True), slug="books")
    archive_collection(access=root, at=NOW)
    restore_collection(access=root, at=NOW)


def test_a_list_is_hidden_and_takes_no_version(world: World) -> None:
    make_draft(world=world)
    archive_list(access=ada(world), judgment_list=world.judgments, at=NOW)
    client = client_of("ada")
    assert "lists/main" not in client.get(reverse("lists", args=["books"])).text
    assert "lists/main" in client.get(reverse("lists", args=["books"]) + "?archived").text
    assert "lists/main" not in client.get(reverse("leaderboards", args=["books"])).text
    query, document = world.queries[0], world.documents[0]
    with pytest.raises(CommitRefused, match="archived"):
        commit(judgment_list=world.judgments, grades={(query, document): 3})
    archived = JudgmentList.objects.get(pk=world.judgments.pk)
    with pytest.raises(Archived, match="This list is archived"):
        release_version(access=ada(world), at=NOW, judgment_list=archived, number=0, name="spring")
    restore_list(access=ada(world), judgment_list=world.judgments, at=NOW)
    commit(judgment_list=world.judgments, grades={(query, document): 3})
    assert actions() == ["list.archived", "list.restored"]


def test_the_campaigns_of_an_archived_list_are_read_only_with_it(world: World) -> None:
    draft = make_draft(world=world)
    archive_list(access=ada(world), judgment_list=world.judgments, at=NOW)
    fresh = Campaign.objects.select_related("list__collection").get(pk=draft.pk)
    with pytest.raises(Archived, match="This list is archived"):
        open_campaign(access=ada(world), campaign=fresh, at=NOW)
    with pytest.raises(Archived):
        archive_campaign(access=ada(world), campaign=fresh, at=NOW)


def test_a_list_with_an_open_campaign_is_not_archived(world: World) -> None:
    make_campaign(world=world)
    with pytest.raises(ArchivingRefused, match="open campaigns"):
        archive_list(access=ada(world), judgment_list=world.judgments, at=NOW)


def test_a_campaign_is_hidden_read_only_and_comes_back(world: World) -> None:
    campaign = make_campaign(world=world)
    with pytest.raises(CampaignRefused, match="Close the campaign"):
        archive_campaign(access=ada(world), campaign=campaign, at=NOW)
    close_campaign(access=ada(world), campaign=campaign, at=NOW)
    archive_campaign(access=ada(world), campaign=campaign, at=NOW)
    archived = Campaign.objects.select_related("list__collection").get(pk=campaign.pk)
    with pytest.raises(Archived, match="This campaign is archived"):
        change_campaign(access=ada(world), campaign=archived, at=NOW, name="Other")
    client, url = client_of("ada"), reverse("campaigns", args=["books"])
    assert str(campaign.public_id) not in client.get(url).text
    assert "1 archived" in client.get(url).text
    assert str(campaign.public_id) in client.get(url + "?archived").text
    assert not get_work_overview(viewer=world.ada, now=NOW, page="").rows.object_list
    page = client.get(reverse("campaign", args=["books", campaign.public_id])).text
    assert "Archived." in page
    assert ">Reopen<" not in page
    restore_campaign(access=ada(world), campaign=archived, at=NOW)
    assert str(campaign.public_id) in client.get(url).text
    assert actions() == ["campaign.archived", "campaign.restored"]


def test_the_buttons_do_it(world: World) -> None:
    draft = make_draft(world=world)
    client = client_of("ada")
    rows: list[tuple[str, list[Any], Any]] = [
        ("campaign", ["books", draft.public_id], Campaign),
        ("list", ["books", "main"], JudgmentList),
        ("collection", ["books"], Collection),
    ]
    for name, arguments, model in rows:
        answer = client.post(reverse(f"{name}-archive", args=arguments), follow=True)
        assert "It can be restored here." in answer.text
        assert model.objects.order_by("pk")[0].archived_at is not None
        answer = client.post(reverse(f"{name}-restore", args=arguments), follow=True)
        assert "Restored." in answer.text
        assert model.objects.order_by("pk")[0].archived_at is None


def test_programs_archive_and_restore_and_lists_leave_archived_things_out(world: World) -> None:
    ada, draft = by_token("ada"), make_draft(world=world)
    campaign = f"{ROOT}campaigns/{draft.public_id}/"

    def names(address: str, archived: str = "") -> list[str]:
        found = ada.get(address, {"archived": archived} if archived else {}).json()["results"]
        return [one["slug"] for one in found]

    assert ada.post(f"{campaign}archive").json()["archived_at"] is not None
    assert ada.post(f"{campaign}restore").json() == {"archived_at": None}
    assert ada.post(f"{MAIN}archive").json()["archived_at"] is not None
    assert (names(f"{BOOKS}lists/"), names(f"{BOOKS}lists/", "true")) == ([], ["main"])
    assert ada.post(f"{campaign}archive").json()["code"] == "archived"
    assert ada.post(f"{MAIN}restore").json()["archived_at"] is None
    assert names(f"{BOOKS}lists/", "false") == ["main"]
    assert ada.post(f"{BOOKS}archive").json()["archived_at"] is not None
    assert (names(f"{ROOT}collections/"), names(f"{ROOT}collections/", "true")) == ([], ["books"])
    assert ada.post(f"{MAIN}archive").json()["code"] == "archived"
    assert ada.post(f"{BOOKS}restore").json()["archived_at"] is None
    open_one = make_campaign(world=world, name="Second")
    assert open_one.state == "open"
    assert ada.post(f"{MAIN}archive").json()["code"] == "campaign_open"
