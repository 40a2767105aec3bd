"""Nothing that an annotator can ask for, at any address and by any method, gives away more.

Canaries stand wherever something could leak from: rankers, runs, scores, gold, clicks, machine
judges, other people's labels and addresses. Ben, who annotates, asks at every address of the
URLconf, with arguments that exist; no answer, no header and no error may hold one.
"""

import json
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.middleware import csrf
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import open_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from annotation.gold.services import change_checks, mark_gold
from annotation.labelling.skipping import skip_query
from annotation.models import (
    Assignment,
    Campaign,
    Guideline,
    JudgeAttempt,
    JudgeCampaign,
    MachineJudge,
    MachineLabel,
    Pair,
    Question,
)
from annotation.pooling.queries import PoolPlan
from annotation.pooling.services import build_pool
from annotation.questions.services import answer, ask
from judgments.lists.services import release_version
from judgments.models import JudgmentVersion, User
from judgments.versions.services import Change, commit_judgments
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import context_of, label, lease, make_draft
from tests.evaluation.builders import make_run
from tests.evaluation.corrected.builders import make_revision
from tests.judgments.clicks.builders import make_clicks, make_interleaving, page_rows

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

BACKEND = "django.contrib.auth.backends.ModelBackend"
CANARIES = re.compile(
    r"canary|7319\.62|731,?962|cem@|dora@|ada@|\bgold|is_planted|\brepeat_percent|purpose|"
    r"\brank(er|ed|ing)?\b|\bclick(s|ed)\b|impression|\bcoec\b|interleav|\bmachine|\bjudge_",
    re.IGNORECASE,
)
# Documentation, the same for everyone, and made without a collection.
PUBLIC = {"api-schema", "api-docs", "measures", "api-measures", "api-presets"}
# They would end the session, or the person's part in it.
LAST = {"logout"}
METHODS = ("get", "post", "delete")


@pytest.fixture(autouse=True)
def _tokens_of_one_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """CSRF tokens are random in every answer: now and then one would begin like a canary."""
    monkeypatch.setattr(csrf, "get_random_string", lambda length, allowed_chars: "x" * length)


@pytest.fixture
def world() -> World:
    world = make_world(queries=4, documents=10)
    User.objects.filter(username="cem").update(name="Canary Cem")
    User.objects.filter(username="dora").update(name="Canary Dora")
    make_member(collection=world.collection, username="canaryfay", role="annotator")
    return world


@pytest.fixture
def campaign(world: World) -> Campaign:
    """An open campaign in which everything has happened that an annotator must not learn."""
    access = make_access(collection=world.collection)
    lines = [
        f"{query.qid} Q0 {document.docid} {place} {7319.625 - place / 1000} t\n"
        for query in world.queries
        for place, document in enumerate(world.documents, start=1)
    ]
    run = make_run(
        collection=world.collection, text="".join(lines), ranker="canary-ranker", name="canary-run"
    )
    campaign = make_draft(
        world=world, pairs=[], depth=10, name="Spring", people=("ben", "cem", "canaryfay")
    )
    build_pool(
        access=access, campaign=campaign, plan=PoolPlan(runs=(run.public_id,), depth=10), at=NOW
    )
    campaign = open_campaign(access=access, campaign=campaign, at=NOW)
    pairs = list(campaign.pairs.select_related("campaign__list", "list", "query", "document"))
    for pair in pairs[20:40:3]:  # among ten in a query, so that some is planted there for certain
        mark_gold(access=access, pair=pair, low=4, high=4, reason="canary-gold", at=NOW)
    change_checks(access=access, campaign=campaign, at=NOW, gold_percent=20, repeat_percent=10)
    asked_by_cem(campaign)
    for pair in pairs[:6]:
        label(pair=pair, username="cem", grade=4, note="canary-note")
    for pair in pairs[:3]:
        label(pair=pair, username="ben", grade=1, note="an own note")
    adjudicate(access=access, pair=pairs[0], grade=3, reason="canary-decision", at=NOW)
    seen_by_users(world, pairs[45:])
    seen_by_a_machine(world, campaign, pairs)
    check_labels(list_id=world.judgments.pk, at=NOW)
    consolidate(list_id=world.judgments.pk, at=NOW)
    release_version(
        access=access, at=NOW, judgment_list=world.judgments, number=1, name="canary-release"
    )
    return Campaign.objects.get(pk=campaign.pk)


def seen_by_users(world: World, pairs: Sequence[Pair]) -> None:
    """Clicks found these pairs too, and graded them; an experiment interleaved their ranker."""
    query = world.queries[0].text
    documents = [document.docid for document in world.documents[:5]]
    rows = [row for page in range(20) for row in page_rows(page, query, documents, [1, 2])]
    make_clicks(world=world, rows=rows, name="canary-log")
    make_interleaving(world=world, name="canary-experiment", rankers=("canary-a", "canary-b"))
    clicks = {"log": 1, "score": "examined", "value": 0.5, "low": 0.4, "high": 0.6}
    evidence = {"clicks": clicks | {"impressions": 731_962, "clicks": 731_962}}
    commit_judgments(
        judgment_list=world.judgments,
        changes=[Change(one.query_id, one.document_id, 2, evidence) for one in pairs],
        by=world.ada,
        at=NOW,
        reason="canary-clicks",
        source=JudgmentVersion.Source.CLICKS,
    )


def seen_by_a_machine(world: World, campaign: Campaign, pairs: Sequence[Pair]) -> None:
    """A machine judge labelled all pairs."""
    revision = make_revision(world, campaign)
    MachineJudge.objects.update(name="canary-judge", family="canary-family")
    own = JudgeCampaign.objects.get()
    texts = {"digest": "a" * 64, "content_hash": "b" * 64}
    for one in pairs:
        pair = {"query_id": one.query_id, "document_id": one.document_id, "grade": 3}
        attempt = JudgeAttempt.objects.create(
            campaign=own,
            outcome="labelled",
            detail="canary-reason",
            is_last=True,
            seconds=1,
            ended_at=NOW,
            **pair,
            **texts,
        )
        MachineLabel.objects.create(
            revision=revision, attempt=attempt, created_at=NOW, **pair, **texts
        )


def asked_by_cem(campaign: Campaign) -> Question:
    """A question of another annotator, with an answer; the first call asks."""
    found = Question.objects.filter(asker__username="cem").first()
    if found is not None:
        return found
    seat = lease(campaign=campaign, username="cem")[0]
    access = make_access(collection=campaign.list.collection)
    context = context_of(campaign, "cem")
    made = ask(context=context, assignment=seat.public_id, text="canary-question", at=NOW)
    named: dict[str, Any] = {"access": access, "campaign": campaign, "question_id": made.public_id}
    return answer(**named, text="canary-answer", at=NOW)


@pytest.fixture
def ben(campaign: Campaign) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username="ben"), BACKEND)
    return client


def addresses(
    patterns: list[URLPattern | URLResolver], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """The name and the route of every address."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        else:
            yield pattern.name or route, route


def filled(route: str, world: World, campaign: Campaign) -> list[str]:
    """The route with arguments that exist; also another person's pair where it takes one."""
    pair = Pair.objects.filter(campaign=campaign)[0]
    known: dict[str, object] = {
        "slug": world.collection.slug,
        "list_slug": world.judgments.slug,
        "ranker_slug": "canary-ranker",
        "campaign_id": campaign.public_id,
        "pair_id": pair.pk,
        "guideline_id": Guideline.objects.latest("pk").pk,
        "number": 1,
        "doc_id": pair.document.docid,
        "qid": pair.query.qid,
        "username": "ben",
        "run_id": uuid.uuid4(),
        "skip_id": uuid.uuid4(),
        "question_id": asked_by_cem(campaign).public_id,
        "judge_id": MachineJudge.objects.get().pk,
        "public_id": JudgeCampaign.objects.get().public_id,
    }
    by_kind = {"int": 1, "uuid": uuid.uuid4(), "slug": "main", "str": "1", "path": "x"}

    def argument(found: re.Match[str]) -> str:
        kind, _, name = found.group(1).rpartition(":")
        return str(known.get(name, by_kind.get(kind, "1")))

    path = re.sub(r"<([^>]+)>", argument, route)
    return ["/" + re.sub(r"[\^$]|\\Z|\(\?P[^)]*\)", "", path)]


def leaks(response: Any) -> list[str]:
    """The canaries of an answer, its headers included."""
    body = b"".join(response.streaming_content) if response.streaming else response.content
    text = body.decode("utf-8", "replace") + repr(dict(response.headers))
    return sorted({found.group(0) for found in CANARIES.finditer(text)})


def test_no_address_tells_an_annotator_what_is_hidden(
    world: World, campaign: Campaign, ben: Client
) -> None:
    found = {}
    everything = sorted(addresses(get_resolver().url_patterns), key=lambda one: one[0] in LAST)
    asked = 0
    for name, route in everything:
        if name in PUBLIC:
            continue
        for path in filled(route, world, campaign):
            for method in METHODS:
                for more in ({}, {"headers": {"HX-Request": "true"}}) if method == "get" else ({},):
                    response = getattr(ben, method)(path, **more)
                    asked += 1
                    assert response.status_code < 500, (method, path)
                    if leaked := leaks(response):
                        found[method, path] = leaked
    assert asked > 300
    assert found == {}


def test_the_answer_of_a_training_pair_comes_with_its_label_and_not_before(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    change_checks(access=access, campaign=campaign, at=NOW, training_pairs=5, training_percent=50)
    for item in campaign.gold.all():
        item.reason = f"because of {item.pair_id}."
        item.save(update_fields=["reason"])
    fay = Client()
    fay.force_login(User.objects.get(username="canaryfay"), BACKEND)
    base = f"/api/v1/campaigns/{campaign.public_id}"
    words = re.compile(rb"because of (\d+)\.")

    def said_in(*paths: str) -> set[bytes]:
        return {found for path in paths for found in words.findall(fay.get(path).content)}

    def post(what: str, body: dict[str, Any]) -> Any:
        return fay.post(f"{base}/{what}", json.dumps(body), "application/json")

    answer, told = post("next", {"count": 60}), set[bytes]()
    pairs = answer.json()["pairs"]
    assert len(pairs) == 5
    assert words.findall(answer.content) == []
    seats = Assignment.objects.in_bulk(
        [pair["assignment"] for pair in pairs], field_name="public_id"
    )
    own = f"/label/{campaign.public_id}"
    for pair in pairs:
        assert said_in(own, f"{base}/next?count=1", f"{base}/labels", "/my-campaigns") <= told
        label = {"id": str(uuid.uuid4()), "assignment": pair["assignment"], "grade": 4}
        label |= {"guideline_revision": 1, "made_at": timezone.now().isoformat()}
        answer = post("labels", {"labels": [label], "count": 60})
        (of_this,) = words.findall(answer.content)
        assert of_this == str(seats[uuid.UUID(pair["assignment"])].pair_id).encode()
        told.add(of_this)
    assert answer.json()["labels"][0]["training"]["state"] == "passed"


def test_no_answer_of_labelling_tells_what_is_hidden_and_all_pairs_look_alike(
    campaign: Campaign, ben: Client
) -> None:
    base = f"/api/v1/campaigns/{campaign.public_id}"

    def post(what: str, body: dict[str, Any]) -> Any:
        response = ben.post(f"{base}/{what}", json.dumps(body), "application/json")
        assert leaks(response) == [], what
        return response.json()

    shapes, met = set(), 0
    answer = post("next", {"count": 60})
    while answer["pairs"]:
        for pair in answer["pairs"]:
            shown = {"assignment", "name", "query", "document", "content_hash", "is_training"}
            assert set(pair) == shown
            assert re.fullmatch("[0-9a-f]{16}", pair["name"])
            assert not pair["is_training"]
            shapes.add((*sorted(pair["query"]), *sorted(pair["document"])))
            said = {
                "id": str(uuid.uuid4()),
                "assignment": pair["assignment"],
                "grade": 0,
                "guideline_revision": 1,
                "made_at": timezone.now().isoformat(),
            }
            answer = post("labels", {"labels": [said], "count": 60})
            assert set(answer["labels"][0]) == {"id", "status"}
            met += 1
    purposes = Assignment.objects.filter(annotator__username="ben", state="done")
    assert {"pool", "gold"} <= set(purposes.values_list("purpose", flat=True))
    assert len(shapes) == 1
    assert met > 30
    assert leaks(ben.get(f"{base}/labels")) == []
    refused = {**said, "id": str(uuid.uuid4()), "assignment": str(uuid.uuid4())}
    for wrong in (refused, {**said, "grade": 77}, {**said, "id": "no"}, {}):
        post("labels", {"labels": [wrong]})
    post("skips", {"assignment": said["assignment"], "reason": "unclear"})
    post("release", {})


def test_a_question_about_any_pair_is_answered_alike_and_tells_nothing(
    campaign: Campaign, ben: Client
) -> None:
    base = f"/api/v1/campaigns/{campaign.public_id}"
    access = make_access(collection=campaign.list.collection)

    def post(what: str, body: dict[str, Any]) -> Any:
        return ben.post(f"{base}/{what}", json.dumps(body), "application/json")

    pairs = post("next", {"count": 60}).json()["pairs"]
    seats = Assignment.objects.select_related("stand_in").in_bulk(
        [pair["assignment"] for pair in pairs], field_name="public_id"
    )
    shapes, kinds = set(), set()
    for pair in pairs:
        asked = post("questions", {"assignment": pair["assignment"], "text": "Why?"})
        assert leaks(asked) == []
        question = asked.json()
        assert question["pair"] == pair["name"]
        shapes.add((asked.status_code, *sorted(question), question["state"], question["label"]))
        stand_in = seats[uuid.UUID(pair["assignment"])].stand_in
        kinds.add(stand_in.purpose if stand_in else "")
        answer(
            access=access,
            campaign=campaign,
            question_id=uuid.UUID(question["id"]),
            text="So.",
            at=timezone.now(),
        )
        own = f"/label/{campaign.public_id}"
        ask_path = f"{own}/questions/ask?assignment={pair['assignment']}"
        for path in (f"{own}/questions/{question['id']}", ask_path):
            assert leaks(ben.get(path, headers={"HX-Request": "true"})) == [], path
    assert len(shapes) == 1
    assert {"", "gold"} <= kinds
    for path in (f"{base}/questions", f"{base}/news", f"/label/{campaign.public_id}/news"):
        assert leaks(ben.get(path, headers={"HX-Request": "true"})) == [], path


def test_the_crawl_finds_what_a_lead_is_shown(world: World, campaign: Campaign) -> None:
    """The canaries are really there: the same look at a lead's page finds them."""
    seat = lease(campaign=campaign, username="canaryfay", at=NOW + timedelta(minutes=1))[0]
    skip_query(
        context=context_of(campaign, "canaryfay"),
        assignment=seat.public_id,
        reason="unclear",
        at=NOW,
    )
    ada = Client()
    ada.force_login(User.objects.get(username="ada"), BACKEND)
    own = f"/c/{world.collection.slug}"
    own_paths = ("/rankers", "/members", f"/campaigns/{campaign.public_id}/live", "/audit")
    of_others = ("/clicks", "/clicks/1", "/clicks/1/pairs", "/machine-judges")
    for path in (*own_paths, *of_others):
        assert leaks(ada.get(own + path)), path
