"""Labels that are not good enough are released only by who says so, and their release says so."""

import pytest
from django.test import Client
from django.urls import reverse

from judgments.lists import label_quality
from judgments.lists.label_quality import ListVerdict
from judgments.lists.services import ListRefused, release_version
from judgments.models import AuditEntry, Release
from tests.builders import NOW, World, commit, make_access, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

BAD = "Not good enough to decide on."
RELEASE = ("books", "main", 1)
RELEASES = "/api/v1/collections/books/lists/main/releases/"


@pytest.fixture
def world() -> World:
    world = make_world()
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    world.judgments.refresh_from_db()
    return world


@pytest.fixture
def bad(monkeypatch) -> None:
    say(monkeypatch, ListVerdict("bad", BAD))


def say(monkeypatch, verdict: ListVerdict | None) -> None:
    monkeypatch.setattr(label_quality, "_providers", [lambda access, slug: verdict])


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, **data: object):
    return client.post(RELEASES, data, content_type="application/json")


def test_the_release_page_warns_and_asks_for_a_confirmation(world, bad):
    ada = client_of(world.ada)
    url = reverse("release", args=RELEASE)
    page = ada.get(url).content.decode()
    assert 'data-quality="bad"' in page
    assert 'name="accept_quality"' in page
    again = ada.post(url, {"name": "spring"})
    assert again.status_code == 200
    assert not Release.objects.exists()
    ada.post(url, {"name": "spring", "accept_quality": "on"})
    release = Release.objects.get()
    assert (release.quality, release.quality_tone) == (BAD, "bad")
    entry = AuditEntry.objects.get(action="list.released")
    assert entry.after["quality"] == BAD


def test_the_page_and_the_citation_of_such_a_release_say_so(world, bad):
    post(client_of(world.ada), name="spring", accept_quality=True)
    dora = client_of(world.dora)
    page = dora.get(reverse("version", args=["books", "main", "spring"])).content.decode()
    assert 'data-quality="bad"' in page
    shown = dora.get(f"{RELEASES}spring").json()
    assert (shown["quality"], shown["quality_tone"]) == (BAD, "bad")
    assert shown["citation"].endswith(f"Quality of the labels when released: {BAD}")
    assert BAD in shown["bibtex"]
    assert shown["bibtex"].count("{") == shown["bibtex"].count("}")
    assert dora.get(RELEASES).json()["results"][0]["quality"] == BAD


def test_over_rest_it_takes_a_flag(world, bad):
    ada = client_of(world.ada)
    refused = post(ada, name="spring")
    assert (refused.status_code, refused.json()["code"]) == (422, "not_good_enough")
    assert BAD in refused.json()["detail"]
    assert not Release.objects.exists()
    made = post(ada, name="spring", accept_quality=True)
    assert (made.status_code, made.json()["quality"]) == (201, BAD)


def test_a_verdict_that_turned_bad_while_the_form_was_open_is_not_passed_over(world, monkeypatch):
    say(monkeypatch, None)
    ada = client_of(world.ada)
    url = reverse("release", args=RELEASE)
    assert 'name="accept_quality"' not in ada.get(url).content.decode()
    say(monkeypatch, ListVerdict("bad", BAD))
    answer = ada.post(url, {"name": "spring"})
    assert 'name="accept_quality"' in answer.content.decode()
    assert not Release.objects.exists()
    access = make_access(collection=world.collection)
    with pytest.raises(ListRefused, match="Not good enough"):
        release_version(
            access=access, at=NOW, judgment_list=world.judgments, number=1, name="spring"
        )


@pytest.mark.parametrize("tone", ["good", "warn"])
def test_other_verdicts_are_kept_and_need_no_confirmation(world, monkeypatch, tone):
    say(monkeypatch, ListVerdict(tone, "Well."))
    ada = client_of(world.ada)
    page = ada.get(reverse("release", args=RELEASE)).content.decode()
    assert 'name="accept_quality"' not in page
    assert (f'data-quality="{tone}"' in page) == (tone == "warn")
    made = post(ada, name="spring").json()
    assert (made["quality"], made["quality_tone"]) == ("Well.", tone)
    assert "Quality" not in ada.get(f"{RELEASES}spring").json()["citation"]


def test_a_list_without_labels_has_no_verdict(world):
    made = post(client_of(world.ada), name="spring").json()
    assert (made["quality"], made["quality_tone"]) == ("", "")
