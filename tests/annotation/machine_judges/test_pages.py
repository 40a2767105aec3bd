"""The pages of machine judges."""

import json

import pytest
from django.urls import reverse

from annotation.gold.services import mark_gold
from annotation.models import JudgeRevision, MachineJudge
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Secret
from judgments.outgoing.rules import read_origins
from tests.annotation.machine_judges.endpoint import completion, fails, grades, make_judge, running
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db
SECRET = "Bearer sesame-8Q2x"


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=2, documents=3)


def url(name, *more):
    return reverse(name, args=["books", *more])


def filled(endpoint, revision, **given):
    """The form of a new judge that asks this endpoint."""
    return {
        "name": "Model",
        "url": endpoint.url,
        "model": "m1",
        "guideline": revision.pk,
        "template": "Grade it. {{guideline}}\n{{grades}}",
        "gives_reason": "on",
        "answer_format": "json_schema",
        "parameters": '{"temperature": 0, "seed": 7}',
        "document_characters": 1_000,
        "at_once": 2,
        "rate": 0,
        "timeout": 5,
        "attempts": 1,
        "prompt_price": "0.15",
        "completion_price": "0.6",
    } | given


def test_a_judge_is_tried_created_and_revised(world, settings):
    campaign = make_campaign(world=world)
    revision = campaign.guideline.revisions.get()
    ada = client_of("ada")
    assert "No machine judges yet" in words(ada.get(url("machine-judges")))
    with running(lambda _: grades(3, "It <b>answers</b> it.")) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        form = filled(endpoint, revision)
        asked = form | {"try": "1", "qid": "q2", "docid": "d3"}
        tried = ada.post(url("machine-judge-create"), asked)
        page = words(tried)
        assert "labelled Grade 3" in page
        assert "100 + 10 tokens" in page
        assert "<b>answers</b>" not in tried.content.decode()
        assert not MachineJudge.objects.exists()
        made = ada.post(url("machine-judge-create"), form)
        judge = MachineJudge.objects.get()
        assert made["Location"] == url("machine-judge", judge.pk)
        again = ada.post(url("machine-judge-edit", judge.pk), form)
        assert again.status_code == 302
        assert judge.revisions.count() == 1
        ada.post(url("machine-judge-edit", judge.pk), form | {"model": "m2"})
        taken = ada.post(url("machine-judge-create"), form)
        assert "already exists" in words(taken)
    body = endpoint.asked[0]
    assert (body["model"], body["seed"], body["temperature"]) == ("m1", 7, 0)
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["grade"]["enum"] == [0, 1, 2, 3, 4]
    assert "For example: Like 4." in body["messages"][0]["content"]
    assert "query number 2" in endpoint.shown[0]
    assert judge.revisions.get(number=1).configuration["prompt_price"] == 1_500
    shown = words(ada.get(url("machine-judge", judge.pk)))
    assert "m2" in shown
    assert "m1" in words(ada.get(url("machine-judge-revision", judge.pk, 1)))
    assert "Revision 1 of 2" in words(ada.get(url("machine-judge-revision", judge.pk, 1)))


def test_the_secret_is_sent_to_its_server_and_never_shown(world, settings):
    campaign = make_campaign(world=world)
    ada = client_of("ada")
    with running(lambda _: fails(401)) as endpoint, running(lambda _: grades(1)) as other:
        settings.OUTGOING = read_origins([endpoint.entry, other.entry])
        own = filled(endpoint, campaign.guideline.revisions.get(), secret_header="Authorization")
        assert "Enter the secret" in words(ada.post(url("machine-judge-create"), own))
        pages = [ada.post(url("machine-judge-create"), own | {"secret": SECRET, "try": "1"})]
        assert endpoint.headers[0]["authorization"] == SECRET
        assert "HTTP 401" in words(pages[0])
        ada.post(url("machine-judge-create"), own | {"secret": SECRET})
        judge = MachineJudge.objects.get()
        elsewhere = ada.post(url("machine-judge-edit", judge.pk), own | {"url": other.url})
        assert "Enter the one of" in words(elsewhere)
        assert not other.asked
    pages += [elsewhere]
    pages += [ada.get(url(n, judge.pk)) for n in ("machine-judge", "machine-judge-edit")]
    assert not any("sesame" in page.content.decode() for page in pages)
    assert "sesame" not in Secret.objects.get().ciphertext
    assert not any("sesame" in str(one.detail_id) for one in AuditEntry.objects.all())
    ada.post(url("machine-judge-secret-remove", judge.pk))
    assert "removed: enter it again" in words(ada.get(url("machine-judge", judge.pk)))


def test_an_answer_that_repeats_the_secret_is_masked(world, settings):
    campaign = make_campaign(world=world)
    with running(lambda _: completion(f"your key is {SECRET}")) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        form = filled(
            endpoint,
            campaign.guideline.revisions.get(),
            secret_header="Authorization",
            secret=SECRET,
        )
        page = client_of("ada").post(url("machine-judge-create"), form | {"try": "1"})
    assert "your key is ••••••" in page.content.decode()
    assert "No label" in words(page)
    assert "sesame" not in page.content.decode()


def test_gold_other_peoples_labels_and_rankers_never_get_into_a_prompt(world, settings):
    make_run(
        collection=world.collection,
        rankings={"q1": ["d1", "d2", "d3"], "q2": ["d1", "d2", "d3"]},
        ranker="zebra-ranker",
    )
    campaign = make_campaign(world=world)
    access = make_access(collection=world.collection)
    first, second, *_ = campaign.pairs.select_related("campaign", "list").order_by("pk")
    label(pair=first, username="ben", grade=3, note="zebra-note")
    label(pair=first, username="cem", grade=3, note="zebra-note")
    mark_gold(access=access, pair=second, low=2, high=4, reason="zebra-gold", at=NOW)
    with running(lambda _: grades(1)) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        revision = campaign.guideline.revisions.get()
        client = client_of("ada")
        for pair in (first, second):
            asked = {"try": "1", "qid": pair.query.qid, "docid": pair.document.docid}
            page = client.post(url("machine-judge-create"), filled(endpoint, revision) | asked)
            assert "Grade 1" in words(page)
    assert len(endpoint.asked) == 2
    for body, pair in zip(endpoint.asked, (first, second), strict=True):
        told = json.dumps(body)
        for hidden in ("zebra", "gold", "ben", "cem", "bm25", '"rank', "ranker"):
            assert hidden not in told.lower(), hidden
        # the texts of the pair, and not one character more
        shown, document = body["messages"][1]["content"], pair.document
        texts = f"Title: {document.title}\n" * bool(document.title) + document.body
        mark = shown[7:23]
        assert shown == (
            f"<query {mark}>\n{pair.query.text}\n{pair.query.description}\n</query {mark}>\n"
            f"<document {mark}>\n{texts}\n</document {mark}>\n"
            "How relevant is this document to this query?"
        )
        assert body.keys() == {"model", "messages", "response_format", "temperature", "seed"}


def test_every_mistake_is_shown_at_its_field(world, settings):
    campaign = make_campaign(world=world)
    ada = client_of("ada")
    with running(lambda _: grades(1)) as endpoint:
        revision = campaign.guideline.revisions.get()
        settings.OUTGOING = ()
        off = ada.post(url("machine-judge-create"), filled(endpoint, revision))
        assert "makes no requests to other servers" in words(off)
        settings.OUTGOING = read_origins([endpoint.entry])
        for wrong, said in (
            ({"url": "ftp://a.example/"}, "must begin with http"),
            ({"url": "http://127.0.0.2/v1"}, "not on the list of allowed hosts"),
            ({"template": "Grade it."}, "must contain {{grades}}"),
            ({"parameters": "{"}, "Not accepted"),
            ({"parameters": '{"temperature": NaN}'}, "Not accepted"),
            ({"parameters": '{"model": "other"}'}, "model is set by Touchstone"),
            ({"secret_header": "a b", "secret": "x"}, "Not the name of a header"),
            ({"secret": "x"}, "Enter the header"),
            ({"at_once": 33}, "less than or equal to 32"),
            ({"guideline": 999_999}, "Select a valid choice"),
            ({"try": "1", "qid": "no", "docid": "no"}, "no such query or document"),
        ):
            page = words(ada.post(url("machine-judge-create"), filled(endpoint, revision, **wrong)))
            assert said in page, said
    assert not endpoint.asked
    assert not JudgeRevision.objects.exists()


def test_a_judge_of_another_collection_is_not_found(world, settings):
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.0/8"])
    revision = make_judge(world, "http://127.0.0.1:9/")
    assert client_of("ben").get(url("machine-judge", revision.judge_id)).status_code == 404
    assert client_of("dora").get(url("machine-judges")).status_code == 404


def test_a_judge_is_started_watched_stopped_and_kept_to_a_budget(world, settings):
    campaign = make_campaign(world=world)
    ada = client_of("ada")

    def respond(shown):
        return fails(400) if "Title 2" in shown else grades(3)

    with running(respond) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        judge = make_judge(world, endpoint.url).judge
        wrong = ada.post(url("machine-judge-budget", judge.pk), LIMIT | {"money_total": 5})
        assert "Enter the prices of tokens" in words(wrong)
        ada.post(url("machine-judge-budget", judge.pk), LIMIT)
        started = ada.post(
            url("judge-campaign-start", judge.pk), {"campaign": campaign.public_id, "queries": ""}
        )
        assert "0 of 6" in words(ada.get(started["Location"]))
        while work_jobs():
            pass
    page = ada.get(started["Location"])
    assert "Labelled 4" in words(page)
    assert "HTTP error 2" in words(page)
    assert "Pairs without a label" in words(page)
    shown = words(ada.get(url("machine-judge", judge.pk)))
    assert "440 tokens" in shown
    assert "1,000 tokens" in shown
    assert "4 of 6" in shown
    assert client_of("dora").get(started["Location"]).status_code == 404
    again = {"campaign": campaign.public_id, "queries": ""}
    other = ada.post(url("judge-campaign-start", judge.pk), again)["Location"]
    ada.post(f"{other}/stop")
    assert "stopped" in words(ada.get(other))


LIMIT = {"tokens_total": 1_000, "warn_percent": 80, "stops": "on"}
