"""Saved sets: who makes and changes them, from what, and how looks at held-out ones are counted."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse

from evaluation.evaluations.queries import choose_set
from judgments.models import AuditEntry, SavedSet, SetLook
from judgments.permissions import NotFound, SetRefused, may_change_set
from judgments.sets.queries import get_set, get_sets_page, list_set_ids
from judgments.sets.services import (
    SAME_LOOK,
    archive_set,
    change_set,
    create_set,
    record_look,
    restore_set,
)
from tests.builders import NOW, World, make_access, make_set, make_world
from tests.evaluation.browsing import signed_in, text_of
from touchstone.files.errors import FileRefused
from touchstone.files.query_ids import QueryIds, read_query_ids

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=6)


def ids(*qids: str) -> QueryIds:
    return read_query_ids(io.BytesIO("\n".join(qids).encode()), name="test")


def access_of(world: World, username: str):
    return make_access(collection=world.collection, username=username)


def create(world: World, username: str = "dora", **more):
    asked: dict[str, Any] = {"slug": "tail", "name": "Tail", "ids": ids("q3", "q1"), **more}
    return create_set(access=access_of(world, username), at=NOW, **asked)


def change(world: World, saved: SavedSet, username: str = "ada", **more):
    asked: dict[str, Any] = {
        "name": saved.name,
        "description": "",
        "ids": None,
        "is_held_out": saved.is_held_out,
    }
    access = access_of(world, username)
    return change_set(access=access, at=NOW, saved_set=saved, **asked | more)


def look(world: World, saved: SavedSet, username: str = "dora", *, after: timedelta = timedelta()):
    page = SetLook.Page.LEADERBOARD
    access = access_of(world, username)
    return record_look(access=access, saved_set=saved, list_slug="main", page=page, at=NOW + after)


def post(world: World, url: str, data: dict[str, Any], username: str = "dora"):
    return signed_in(getattr(world, username)).post(url, data)


def test_a_set_has_its_queries_in_the_order_of_the_collection_and_is_in_the_audit_log(world):
    saved = create(world)
    assert list_set_ids(set_id=saved.pk) == ["q1", "q3"]
    entry = AuditEntry.objects.get(action="set.created")
    assert (entry.actor, entry.subject, entry.after["queries"]) == (world.dora, "tail", 2)


def test_a_query_that_the_collection_lacks_refuses_the_whole_set(world):
    with pytest.raises(FileRefused, match="test:2: unknown-query: the collection has no query q9"):
        create(world, ids=ids("q1", "q9"))
    assert not SavedSet.objects.exists()


def test_a_query_of_another_collection_is_none_of_this(world):
    other = make_world(slug="films", queries=7)
    assert other.queries[6].qid == "q7"
    with pytest.raises(FileRefused):
        create(world, ids=ids("q7"))


@pytest.mark.parametrize("slug", ["new", "Tail", "-", ""])
def test_a_short_name_must_fit_into_an_address(world, slug):
    with pytest.raises(SetRefused):
        create(world, slug=slug)


def test_a_short_name_is_given_once(world):
    create(world)
    with pytest.raises(SetRefused, match="set tail already exists"):
        create(world)


@pytest.mark.parametrize("username", ["ben", "eve"])
def test_only_researchers_and_leads_save_sets(world, username):
    with pytest.raises(NotFound):
        create(world, username)


def test_a_researcher_who_labels_in_an_open_campaign_sees_no_sets(world):
    make_set(world=world, qids=["q1"])
    world.collection.memberships.filter(user=world.dora).update(is_annotating=True)
    assert signed_in(world.dora).get(reverse("sets", args=["books"])).status_code == 404
    page = signed_in(world.dora).get(reverse("queries", args=["books"]))
    assert "Saved sets" not in text_of(page)


def test_a_set_is_changed_by_its_maker_and_by_leads(world):
    of_ada, of_dora = make_set(world=world, qids=["q1"]), create(world)
    dora = access_of(world, "dora")
    assert may_change_set(dora, of_dora)
    assert not may_change_set(dora, of_ada)
    change(world, of_dora, "dora", name="The tail", ids=ids("q3", "q4"))
    change(world, of_dora, "ada", description="rare ones")
    assert list_set_ids(set_id=of_dora.pk) == ["q3", "q4"]
    entry = AuditEntry.objects.filter(action="set.changed").earliest("pk")
    assert (entry.before["taken out"], entry.after["added"]) == ("q1", "q4")
    with pytest.raises(SetRefused, match="Only its creator"):
        change(world, of_ada, "dora")
    with pytest.raises(NotFound):
        change(world, of_dora, "eve")


def test_a_wrong_line_leaves_a_set_as_it_was(world):
    saved = create(world)
    with pytest.raises(FileRefused):
        change(world, saved, name="Other", ids=ids("q5", "nope"))
    again = get_set(access=access_of(world, "ada"), slug="tail")
    assert (again.name, list_set_ids(set_id=saved.pk)) == ("Tail", ["q1", "q3"])


def test_what_is_held_out_is_decided_and_changed_by_leads_alone(world):
    with pytest.raises(SetRefused, match="Only leads"):
        create(world, is_held_out=True)
    saved = create(world)
    with pytest.raises(SetRefused, match="Only leads"):
        change(world, saved, "dora", is_held_out=True)
    held = change(world, saved, "ada", is_held_out=True)
    with pytest.raises(SetRefused, match="Only leads"):
        change(world, held, "dora", name="Mine")


def test_a_page_seen_again_within_minutes_is_one_look(world):
    saved = make_set(world=world, qids=["q1"], is_held_out=True)
    assert look(world, saved).count == 1
    assert look(world, saved, after=SAME_LOOK - timedelta(seconds=1)).count == 1
    assert look(world, saved, "ada").count == 2
    assert look(world, saved, after=SAME_LOOK).count == 3
    other = SetLook.Page.COMPARISON
    again = record_look(
        access=access_of(world, "dora"), saved_set=saved, list_slug="main", page=other, at=NOW
    )
    assert again.count == 4


def test_looks_at_a_set_that_is_not_held_out_are_nobodys_business(world):
    saved = make_set(world=world, qids=["q1"])
    assert look(world, saved) is None
    assert not SetLook.objects.exists()


def test_looks_stay_counted_while_a_set_is_held_out_no_longer(world):
    saved = make_set(world=world, qids=["q1"], is_held_out=True)
    look(world, saved)
    freed = change(world, saved, is_held_out=False)
    assert look(world, freed) is None
    held = change(world, freed, is_held_out=True)
    assert look(world, held, "ada").count == 2


def test_the_page_of_a_set_names_who_looked_to_those_who_may_see_people(world):
    saved = make_set(world=world, qids=["q1"], is_held_out=True)
    for username in ("ada", "dora"):
        look(world, saved, username)
    url = reverse("set", args=["books", "canaries"])
    assert "Dora leaderboard Main" in text_of(signed_in(world.ada).get(url))
    seen = text_of(signed_in(world.dora).get(url))
    assert "another member leaderboard Main" in seen
    assert "Ada" not in seen
    assert "you leaderboard Main" in seen


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"typed": "q2\r\nq1\r\n"}, ["q1", "q2"]),
        ({"file": b"q4\nq6\n"}, ["q4", "q6"]),
        ({"segment": "tail"}, ["q2", "q4", "q6"]),
    ],
)
def test_queries_are_typed_in_a_file_or_of_a_segment(world, given, expected):
    data = {"name": "Two", "slug": "two"} | given
    if "file" in data:
        data["file"] = SimpleUploadedFile("ids.txt", data["file"])
    response = post(world, reverse("set-create", args=["books"]), data)
    assert response.headers["Location"] == reverse("set", args=["books", "two"])
    assert list_set_ids(set_id=SavedSet.objects.get(slug="two").pk) == expected


def test_a_set_from_a_segment_stays_what_it_is_when_the_segment_changes(world):
    post(
        world, reverse("set-create", args=["books"]), {"name": "T", "slug": "t", "segment": "tail"}
    )
    world.collection.queries.filter(qid="q2").update(segment="head")
    assert list_set_ids(set_id=SavedSet.objects.get().pk) == ["q2", "q4", "q6"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Enter query ids"),
        ({"typed": "q1", "segment": "tail"}, "one source only"),
        ({"typed": "q1\nnope\nq2 q3"}, "line 3 the id contains a blank."),
        ({"typed": "q1\nnope"}, "line 2 the collection has no query nope."),
        ({"typed": "q1", "slug": "taken"}, "set taken already exists"),
    ],
)
def test_the_form_says_what_is_wrong_and_saves_nothing(world, given, words):
    make_set(world=world, qids=["q1"], slug="taken")
    response = post(
        world, reverse("set-create", args=["books"]), {"name": "Two", "slug": "two"} | given
    )
    assert response.status_code == 200
    assert words in text_of(response)
    assert SavedSet.objects.count() == 1


def test_the_form_of_a_change_begins_with_what_there_is(world):
    make_set(world=world, qids=["q1", "q2"])
    url = reverse("set-change", args=["books", "canaries"])
    assert ">\nq1\nq2</textarea>" in signed_in(world.ada).get(url).content.decode()
    post(world, url, {"name": "Birds", "typed": "", "is_held_out": "on"}, "ada")
    saved = SavedSet.objects.get()
    assert (saved.name, saved.is_held_out) == ("Birds", True)
    assert list_set_ids(set_id=saved.pk) == ["q1", "q2"]
    post(world, url, {"name": "Birds", "typed": "q2\nq5"}, "ada")
    assert list_set_ids(set_id=saved.pk) == ["q2", "q5"]
    assert not SavedSet.objects.get().is_held_out


def test_who_may_not_change_a_set_is_told_why(world):
    make_set(world=world, qids=["q1"])
    url = reverse("set-change", args=["books", "canaries"])
    response = signed_in(world.dora).get(url, follow=True)
    assert "Only its creator or a lead can change this set." in text_of(response)


def test_a_large_set_costs_a_few_statements(world, django_assert_max_num_queries):
    rows = [
        world.queries[0].__class__(collection=world.collection, qid=f"x{n}") for n in range(2000)
    ]
    world.collection.queries.bulk_create(rows)
    saved = create(world, ids=ids(*(row.qid for row in rows)))
    # on SQLite a row is a statement of its own, in one call
    with django_assert_max_num_queries(2100 if connection.vendor == "sqlite" else 30):
        change(world, saved, ids=ids("q1", *(row.qid for row in rows[:500])))
    assert len(list_set_ids(set_id=saved.pk)) == 501


def archive(world: World, saved: SavedSet, username: str = "dora", **more):
    return archive_set(access=access_of(world, username), at=NOW, saved_set=saved, **more)


def test_an_archived_set_is_no_longer_offered_but_its_address_and_looks_stay(world):
    saved = create(world, "ada", is_held_out=True)
    look(world, saved)
    archive(world, saved, "ada")
    judgments = world.judgments
    access = access_of(world, "dora")
    assert choose_set(access=access, judgment_list=judgments, slug="").options == ()
    chosen = choose_set(access=access, judgment_list=judgments, slug="tail")
    assert (chosen.options, chosen.chosen) == ((saved,), saved)
    assert look(world, saved, after=SAME_LOOK).count == 2
    page = get_sets_page(access=access)
    assert (page.rows, [row.looks.count for row in page.archived]) == ([], [2])
    assert AuditEntry.objects.get(action="set.archived").subject == "tail"
    with pytest.raises(SetRefused, match="set tail already exists"):
        create(world)


def test_an_archived_set_can_be_offered_again_and_each_is_told_once(world):
    saved = create(world)
    for _ in range(2):
        archive(world, saved)
    for _ in range(2):
        restore_set(access=access_of(world, "dora"), at=NOW, saved_set=saved)
    assert SavedSet.objects.get().archived_at is None
    told = AuditEntry.objects.filter(action__in=["set.archived", "set.restored"])
    assert sorted(told.values_list("action", flat=True)) == ["set.archived", "set.restored"]


def test_a_set_is_archived_by_whoever_made_it_or_a_lead_and_a_held_out_one_by_leads(world):
    with pytest.raises(SetRefused, match="Only its creator"):
        archive(world, create(world, "ada"))
    held = create(world, "ada", slug="last", is_held_out=True)
    with pytest.raises(SetRefused, match="Only leads"):
        archive(world, held)
    assert not SavedSet.objects.exclude(archived_at=None).exists()


def test_the_page_archives_a_set_and_brings_it_back(world):
    create(world)
    page = reverse("set", args=["books", "tail"])
    browser = signed_in(world.dora)
    said = browser.post(reverse("set-archive", args=["books", "tail"]), follow=True)
    assert "This set is archived." in text_of(said)
    sets = text_of(browser.get(reverse("sets", args=["books"])))
    assert "Archived Tail 2 queries, archived" in sets
    assert "Unarchive" in text_of(browser.get(page))
    browser.post(reverse("set-restore", args=["books", "tail"]))
    assert "Archive" in text_of(browser.get(page))
    assert "Archived" not in text_of(browser.get(reverse("sets", args=["books"])))


def test_another_name_leaves_the_address_as_it_was(world):
    saved = change(world, create(world), name="The long tail")
    assert (saved.name, saved.slug) == ("The long tail", "tail")
