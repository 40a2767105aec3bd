"""Labelling over REST: what a page or a program sends and gets."""

import gzip
import json
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.campaigns.services import close_campaign
from annotation.models import Assignment, Campaign, Label
from judgments.models import Query, User
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world()
    return world, make_campaign(world=world)


def client_of(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


def post(client: Client, campaign: Campaign, what: str, body: object) -> Any:
    url = reverse(f"api-campaign-{what}", args=[campaign.public_id])
    return client.post(url, json.dumps(body), content_type="application/json")


def label_of(pair: dict[str, Any], grade: int | None = 3, **more: Any) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "assignment": pair["assignment"],
        "grade": grade,
        "guideline_revision": 1,
        "content_hash": pair["content_hash"],
        "seconds": 4.2,
        "made_at": NOW.isoformat(),
        **more,
    }


def pairs_of(client: Client, campaign: Campaign, count: int = 5) -> list[dict[str, Any]]:
    answer = post(client, campaign, "next", {"count": count})
    assert answer.status_code == 200, answer.content
    pairs: list[dict[str, Any]] = answer.json()["pairs"]
    return pairs


def test_the_next_pairs_are_the_same_until_they_are_labelled(campaign: Campaign) -> None:
    ben = client_of("ben")
    first = pairs_of(ben, campaign)
    again = ben.get(reverse("api-campaign-next", args=[campaign.public_id]), {"count": 5})
    assert first
    assert again.json()["pairs"] == first


def test_pairs_that_the_caller_holds_are_not_sent_again(campaign: Campaign) -> None:
    ben = client_of("ben")
    first, *rest = pairs_of(ben, campaign)
    answer = post(ben, campaign, "next", {"count": 5, "held": [first["assignment"]]})
    assert answer.json()["pairs"] == rest


def test_an_answer_holds_no_more_text_than_was_wished_and_says_what_is_left(
    campaign: Campaign,
) -> None:
    ben = client_of("ben")
    every = [pair["assignment"] for pair in pairs_of(ben, campaign)]
    wish: dict[str, object] = {"count": 5, "characters": 1, "begins": True}
    answer = post(ben, campaign, "next", wish).json()
    assert [pair["assignment"] for pair in answer["pairs"]] == every[:1]
    assert answer["rest"] == len(every) - 1
    assert answer["pace"] == {"labels": 0, "seconds": 0.0}
    wish = {"count": 5, "characters": 1_000_000, "held": every[:1]}
    answer = post(ben, campaign, "next", wish).json()
    assert [pair["assignment"] for pair in answer["pairs"]] == every[1:]
    assert answer["rest"] == 0
    assert "pace" not in answer


def test_the_page_is_kept_by_the_browser_until_something_on_it_changes(campaign: Campaign) -> None:
    ben = client_of("ben")
    url = reverse("label", args=[campaign.public_id])
    first = ben.get(url, headers={"Accept-Encoding": "gzip"})
    token = ben.cookies["csrftoken"].value
    assert token.encode() not in gzip.decompress(first.content)
    assert b"csrf" not in gzip.decompress(first.content).lower()
    asked = {"If-None-Match": first["ETag"], "Accept-Encoding": "gzip"}
    pair = pairs_of(ben, campaign)[0]
    assert post(ben, campaign, "labels", label_of(pair)).status_code == 200
    again = ben.get(url, headers=asked)
    assert (again.status_code, again.content) == (304, b"")
    assert "private" in again["Cache-Control"]
    assert client_of("cem").get(url, headers=asked).status_code == 200
    Campaign.objects.update(name="Renamed")
    assert b"Renamed" in gzip.decompress(ben.get(url, headers=asked).content)


def test_one_label_is_taken_and_the_next_pair_comes_with_the_answer(campaign: Campaign) -> None:
    ben = client_of("ben")
    first, second = pairs_of(ben, campaign)[:2]
    sent = label_of(first)
    answer = post(ben, campaign, "labels", sent)
    assert answer.status_code == 200
    assert answer.json()["labels"] == [{"id": sent["id"], "status": "stored"}]
    assert second in answer.json()["pairs"]
    assert answer.json()["progress"]["done"] == 1
    stored = Label.objects.get(pk=sent["id"])
    assert (stored.grade, stored.seconds, stored.is_blind) == (3, 4.2, True)


def test_a_label_that_wants_no_pairs_costs_few_statements(campaign: Campaign) -> None:
    ben = client_of("ben")
    first = pairs_of(ben, campaign)[0]
    with CaptureQueriesContext(connection) as queries:
        answer = post(ben, campaign, "labels", {"labels": [label_of(first)], "count": 0})
    assert answer.json()["labels"][0]["status"] == "stored"
    # the session, the person, their place, and what storing a label takes: see test_labelling.py
    assert len(queries) == 3 + 9


def test_an_answer_is_compressed_where_it_brings_documents(campaign: Campaign) -> None:
    ben = client_of("ben")
    pairs = pairs_of(ben, campaign)
    address = reverse("api-campaign-labels", args=[campaign.public_id])
    packed = {}
    for pair, count in zip(pairs, (0, 5), strict=False):
        answer = ben.post(
            address,
            {"labels": [label_of(pair)], "count": count},
            content_type="application/json",
            headers={"Accept-Encoding": "gzip"},
        )
        packed[count] = answer.headers.get("Content-Encoding")
    assert packed == {0: None, 5: "gzip"}
    assert json.loads(gzip.decompress(answer.content))["pairs"]


def test_the_same_label_again_is_the_same_label(campaign: Campaign) -> None:
    ben = client_of("ben")
    sent = label_of(pairs_of(ben, campaign)[0])
    statuses = [post(ben, campaign, "labels", sent).json()["labels"][0] for _ in range(2)]
    assert [status["status"] for status in statuses] == ["stored", "repeated"]
    assert Label.objects.count() == 1


def test_what_is_left_is_less_at_once_when_a_query_is_skipped(campaign: Campaign) -> None:
    ben = client_of("ben")
    before = post(ben, campaign, "next", {"count": 5}).json()
    skip = {"assignment": before["pairs"][0]["assignment"], "reason": "other", "count": 5}
    after = post(ben, campaign, "skips", skip).json()
    now = post(ben, campaign, "next", {"count": 5}).json()
    assert after["progress"]["left"] < before["progress"]["left"]
    assert now["progress"] == after["progress"]
    skip = {"assignment": now["pairs"][-1]["assignment"], "reason": "other", "count": 0}
    again = post(ben, campaign, "skips", skip).json()
    assert again["progress"]["left"] < now["progress"]["left"]


def test_an_id_that_was_used_for_another_grade_is_refused(campaign: Campaign) -> None:
    ben = client_of("ben")
    sent = label_of(pairs_of(ben, campaign)[0])
    post(ben, campaign, "labels", sent)
    answer = post(ben, campaign, "labels", {**sent, "grade": 0})
    assert answer.status_code == 422
    assert answer.json()["labels"][0]["code"] == "label_conflict"
    assert Label.objects.get().grade == 3


def test_a_refused_label_of_a_batch_holds_up_no_other(campaign: Campaign) -> None:
    ben = client_of("ben")
    first, second, third = pairs_of(ben, campaign)[:3]
    batch = [label_of(first, 1), label_of(second, 99), label_of(third, 2)]
    answer = post(ben, campaign, "labels", {"labels": batch})
    assert answer.status_code == 200
    receipts = answer.json()["labels"]
    assert [receipt["status"] for receipt in receipts] == ["stored", "refused", "stored"]
    assert receipts[1]["code"] == "grade_unknown"
    assert set(Label.objects.values_list("grade", flat=True)) == {1, 2}


def test_undo_takes_the_label_back_and_gives_the_seat_again(campaign: Campaign) -> None:
    ben = client_of("ben")
    pair = pairs_of(ben, campaign)[0]
    post(ben, campaign, "labels", label_of(pair))
    undo = label_of(pair, None, outcome="retracted")
    answer = post(ben, campaign, "labels", {"labels": [undo], "count": 5})
    assert answer.json()["labels"][0]["status"] == "stored"
    assert pair in answer.json()["pairs"]
    assert answer.json()["progress"]["done"] == 0


def test_queries_with_the_same_text_are_told_apart_by_an_id_in_pairs_labels_and_skips(
    world: World, campaign: Campaign
) -> None:
    Query.objects.update(text="jaguar")
    for query in world.queries:
        Query.objects.filter(pk=query.pk).update(description=f"What {query.qid} asks for.")
    ben, cem = client_of("ben"), client_of("cem")
    pairs = pairs_of(ben, campaign, 60)
    by_id = {pair["query"]["id"]: pair["query"]["description"] for pair in pairs}
    assert sorted(by_id.values()) == sorted(
        {f"What {query.qid} asks for." for query in world.queries}
    )
    assert not set(by_id) & {pair["query"]["id"] for pair in pairs_of(cem, campaign, 60)}
    post(ben, campaign, "labels", label_of(pairs[0]))
    (own,) = ben.get(reverse("api-campaign-labels", args=[campaign.public_id])).json()
    assert own["pair"]["query"] == pairs[0]["query"]
    wish = {"assignment": pairs[0]["assignment"], "reason": "unclear"}
    answer = post(ben, campaign, "skips", {**wish, "count": 60}).json()
    same = {pair["assignment"] for pair in pairs[1:] if pair["query"] == pairs[0]["query"]}
    assert set(answer["released"]) == same
    assert {pair["query"]["id"] for pair in answer["pairs"]} == set(by_id) - {
        pairs[0]["query"]["id"]
    }
    (skip,) = ben.get(reverse("api-campaign-skips", args=[campaign.public_id])).json()
    assert skip["shown_query"] == pairs[0]["query"]


def test_own_labels_can_be_read_back(campaign: Campaign) -> None:
    ben = client_of("ben")
    pair = pairs_of(ben, campaign)[0]
    sent = label_of(pair, 4, note="“exactly” 🎯")
    post(ben, campaign, "labels", sent)
    own = ben.get(reverse("api-campaign-labels", args=[campaign.public_id])).json()
    assert [(label["id"], label["grade"], label["note"]) for label in own] == [
        (sent["id"], 4, "“exactly” 🎯")
    ]
    assert own[0]["pair"] == pair


def test_pairs_that_are_released_are_free_for_others(campaign: Campaign) -> None:
    ben = client_of("ben")
    pairs_of(ben, campaign)
    held = Assignment.objects.filter(state=Assignment.State.LEASED)
    count = held.count()
    assert count > 0
    assert post(ben, campaign, "release", {}).json() == {"released": count}
    assert not held.exists()


def test_a_closed_campaign_has_no_next_pairs_but_takes_what_was_said_before(
    world: World, campaign: Campaign
) -> None:
    ben = client_of("ben")
    pair = pairs_of(ben, campaign)[0]
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    answer = post(ben, campaign, "labels", label_of(pair))
    assert answer.json()["labels"][0]["status"] == "stored"
    assert (answer.json()["is_open"], answer.json()["pairs"]) == (False, [])


@pytest.mark.parametrize("username", ["dora", "ada"])
def test_who_has_no_place_in_the_campaign_finds_no_campaign(
    campaign: Campaign, username: str
) -> None:
    client = client_of(username)
    for what in ("next", "labels", "release"):
        answer = post(client, campaign, what, {})
        assert answer.status_code == 404
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_without_signing_in_the_answer_is_401(campaign: Campaign) -> None:
    assert post(Client(), campaign, "next", {}).status_code == 401


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("[]", 400),
        ("3", 400),
        ("{", 400),
        ('{"labels": []}', 400),
        ('{"labels": 7}', 400),
        ('{"labels": [7]}', 400),
        ('{"grade": NaN}', 400),
        ('{"note": "\\u0000"}', 400),
        ('{"note": "\\ud800"}', 400),
        ("[" * 5000, 400),
        ('{"count": 1e400}', 400),
    ],
)
def test_a_body_of_another_form_is_refused_in_words(
    campaign: Campaign, body: str, status: int
) -> None:
    url = reverse("api-campaign-labels", args=[campaign.public_id])
    answer = client_of("ben").post(url, body, content_type="application/json")
    assert answer.status_code == status
    assert answer.json()["status"] == status
    assert not Label.objects.exists()


def test_an_unknown_parameter_is_refused(campaign: Campaign) -> None:
    url = reverse("api-campaign-next", args=[campaign.public_id])
    assert client_of("ben").get(url, {"cuont": 3}).status_code == 400


def test_a_field_that_is_not_known_is_refused_wherever_it_stands(campaign: Campaign) -> None:
    ben = client_of("ben")
    pair = pairs_of(ben, campaign)[0]
    misspelt = label_of(pair, supersedse=str(uuid.uuid4()))
    for body in (misspelt, {"labels": [misspelt]}, {"labels": [label_of(pair)], "cuont": 1}):
        answer = post(ben, campaign, "labels", body)
        assert answer.status_code == 400
        assert "Unknown field." in answer.json()["errors"].values()
    assert post(ben, campaign, "next", {"cuont": 1}).status_code == 400
    assert post(ben, campaign, "release", {"pairs": []}).status_code == 400
    assert not Label.objects.exists()


@pytest.mark.parametrize("what", ["next", "labels", "release"])
def test_what_one_person_kept_is_not_taken_from_another_who_signed_in_meanwhile(
    what: str, campaign: Campaign
) -> None:
    cem = client_of("cem")
    body = {"labels": [label_of(pair) for pair in pairs_of(cem, campaign, 1)]}
    url = reverse(f"api-campaign-{what}", args=[campaign.public_id])
    seen = {}
    for name in ("ben", "cem"):
        account = str(User.objects.get(username=name).public_id)
        seen[name] = cem.post(
            url,
            json.dumps(body if what == "labels" else {}),
            content_type="application/json",
            headers={"Touchstone-Account": account},
        ).status_code
    assert seen == {"ben": 403, "cem": 200}
