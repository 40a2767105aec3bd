"""Questions, answers and announcements over REST: what the pages say."""

from typing import Any
from uuid import uuid4

import pytest

from annotation.models import Campaign
from tests.api.callers import ROOT, by_token, is_problem, post_json
from tests.builders import World, make_world
from tests.builders_annotation import make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=4)


@pytest.fixture
def base(world: World) -> str:
    campaign: Campaign = make_campaign(world=world)
    return f"{ROOT}campaigns/{campaign.public_id}"


def first_pair(base: str, user: str = "ben") -> dict[str, Any]:
    pair: dict[str, Any] = by_token(user).get(f"{base}/next").json()["pairs"][0]
    return pair


def test_a_question_its_answer_and_the_news_of_it(base: str) -> None:
    ben, ada, pair = by_token("ben"), by_token("ada"), first_pair(base)
    asked = {"assignment": pair["assignment"], "text": "Is it enough?"}
    made = post_json(ben, f"{base}/questions", asked)
    assert made.status_code == 201
    question = made.json()
    assert (question["pair"], question["query"]) == (pair["name"], pair["query"]["text"])
    assert (question["state"], question["has_news"], question["label"]) == ("waiting", False, None)
    thread = f"{base}/questions/{question['id']}"
    listed = ada.get(f"{base}/questions/all").json()
    assert (listed["waiting"], listed["pages"]) == (1, 1)
    assert [(row["id"], row["asker"]) for row in listed["questions"]] == [
        (question["id"], "person 2")
    ]
    assert ada.get(f"{thread}?names=true").json()["asker"] == "Ben"
    answered = post_json(ada, f"{thread}/answer", {"text": "Yes."})
    assert (answered.status_code, answered.json()["state"]) == (201, "answered")
    announced = post_json(ada, f"{base}/announcements", {"text": "Read r2."}).json()
    assert (announced["read"], announced["readers"]) == (0, 2)
    assert ben.get(f"{base}/next").json()["news"] == 2
    news = ben.get(f"{base}/news").json()
    assert [one["text"] for one in news["announcements"]] == ["Read r2."]
    (told,) = news["answers"]
    assert [(one["is_answer"], one["text"]) for one in told["messages"]] == [
        (False, "Is it enough?"),
        (True, "Yes."),
    ]
    read = {"questions": {question["id"]: 2}, "announcements": [announced["id"]]}
    assert post_json(ben, f"{base}/news", read).json() == {"announcements": [], "answers": []}
    assert ben.get(f"{base}/next").json()["news"] == 0
    assert ada.get(f"{base}/announcements").json()[0]["read"] == 1
    again = post_json(ben, f"{thread}/messages", {"text": "Even so?"})
    assert (again.status_code, again.json()["state"]) == (201, "waiting")
    closed = post_json(ada, f"{thread}/answer", {"text": "Even so.", "close": True})
    assert closed.json()["state"] == "closed"
    is_problem(post_json(ben, f"{thread}/messages", {"text": "But"}), 422, "question_closed")
    assert post_json(ada, f"{thread}/reopen", {}).json()["state"] == "answered"
    assert [one["id"] for one in ben.get(f"{base}/questions").json()] == [question["id"]]


def test_no_answer_names_people_or_kinds_of_pairs_to_an_annotator(base: str) -> None:
    ben = by_token("ben")
    asked = {"assignment": first_pair(base)["assignment"], "text": "Why?"}
    question = post_json(ben, f"{base}/questions", asked).json()
    assert set(question) == {
        "id", "assignment", "pair", "query", "title", "state", "has_news", "asked_at",
        "changed_at", "label", "messages",
    }  # fmt: skip
    assert set(question["messages"][0]) == {"is_answer", "is_return", "text", "written_at"}


def test_what_is_not_theirs_is_not_there(base: str) -> None:
    asked = {"assignment": first_pair(base)["assignment"], "text": "Why?"}
    question = post_json(by_token("ben"), f"{base}/questions", asked).json()
    thread, cem = f"{base}/questions/{question['id']}", by_token("cem")
    is_problem(post_json(cem, f"{base}/questions", asked), 404, "not_found")
    is_problem(post_json(cem, f"{thread}/messages", {"text": "x"}), 404, "not_found")
    assert cem.get(f"{base}/questions").json() == []
    for user in ("ben", "cem", "dora", "eve"):
        is_problem(by_token(user).get(thread), 404, "not_found")
        is_problem(by_token(user).get(f"{base}/questions/all"), 404, "not_found")
        is_problem(post_json(by_token(user), f"{thread}/answer", {"text": "x"}), 404, "not_found")
    is_problem(by_token("ada").get(f"{base}/questions/{uuid4()}"), 404, "not_found")


@pytest.mark.parametrize(
    "body", [{}, {"text": ""}, {"text": "x" * 4_001}, {"text": "x", "more": 1}, {"text": "a\0"}]
)
def test_a_message_that_cannot_be_read_is_refused(base: str, body: dict[str, Any]) -> None:
    pair = first_pair(base)
    sent = post_json(
        by_token("ben"), f"{base}/questions", {"assignment": pair["assignment"]} | body
    )
    assert sent.status_code == 400
    wrong = {"questions": {"nope": 1}}
    assert post_json(by_token("ben"), f"{base}/news", wrong).status_code == 400


def test_a_list_is_searched_and_filtered(base: str) -> None:
    asked = {"assignment": first_pair(base)["assignment"], "text": "Zebras?"}
    post_json(by_token("ben"), f"{base}/questions", asked)
    ada = by_token("ada")
    for query, found in (("search=zebra", 1), ("search=horse", 0), ("state=closed", 0)):
        assert len(ada.get(f"{base}/questions/all?{query}").json()["questions"]) == found
    is_problem(ada.get(f"{base}/questions/all?state=nope"), 400, "invalid")
