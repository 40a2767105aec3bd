"""A judge beside people: agreement, bias, and the boards of both."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotation.consolidation.services import consolidate
from annotation.machine_judges.agreement import Graded, Single, drift_of, trust_of
from annotation.machine_judges.campaigns import start_judging
from annotation.models import MachineLabel
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Ranker
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Query
from judgments.outgoing.rules import read_origins
from judgments.triggers import AppendOnly, install_triggers, remove_triggers
from tests.annotation.machine_judges.endpoint import grades, make_judge, running
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run
from touchstone.agreement.alpha import alpha
from touchstone.agreement.counts import count_labels
from touchstone.statistics.wilson import wilson_interval

VALUES = [0.0, 1.0, 2.0]


def graded(rows):
    """Rows of (query, people's step, the machine's)."""
    return Graded(*np.array(rows, np.int64).T)


def twice(own):
    """Two people who say the same of each pair."""
    places = np.tile(np.arange(len(own)), 2)
    return Single(places, np.concatenate([own.people, own.people]))


def test_one_who_says_what_people_say_agrees_wholly_and_has_no_bias():
    own = graded([(1, 0, 0), (1, 2, 2), (2, 1, 1), (2, 0, 0)])
    found = trust_of(own, twice(own), VALUES)
    for figure in (found.alpha, found.ceiling, found.kappa, found.weighted, found.same):
        assert (figure.value, figure.pairs) == (1.0, 4)
    assert (found.bias.value, found.bias.low, found.bias.high) == (0.0, 0.0, 0.0)
    assert found.table == ((2, 0, 0), (0, 1, 0), (0, 0, 1))
    assert [(one.bias, one.same) for one in found.by_query] == [(0.0, 1.0)] * 2


def test_bias_is_in_steps_and_its_interval_over_queries():
    # query 1: +1, +1; query 2: 0, 0; query 3: +2, 0
    own = graded([(1, 0, 1), (1, 1, 2), (2, 0, 0), (2, 2, 2), (3, 0, 2), (3, 1, 1)])
    found = trust_of(own, twice(own), VALUES)
    assert found.bias.value == pytest.approx(4 / 6)
    # sums of (difference − mean) by query: 2/3, −4/3, 2/3
    error = (3 / 2 * (4 / 9 + 16 / 9 + 4 / 9)) ** 0.5 / 6
    assert found.bias.high - found.bias.value == pytest.approx(4.302652729911275 * error)
    assert (found.bias.pairs, found.bias.queries) == (6, 3)
    assert [one and round(one.value, 6) for one in found.by_grade] == [1.0, 0.5, 0.0]
    rows = [(one.query, one.bias, one.same) for one in found.by_query]
    assert rows == [(1, 1.0, 0.0), (3, 1.0, 0.5), (2, 0.0, 1.0)]
    first, second, third = found.by_query
    assert (first.low, first.high, third.low) == (None, None, None)  # all pairs differ alike
    assert second.bias - second.low == pytest.approx(12.706204736432095 * 1.0)  # differences 0, 2
    assert (second.same_low, second.same_high) == wilson_interval(1, 2)
    assert found.same.value == pytest.approx(3 / 6)


def test_alpha_with_single_people_is_alpha_where_each_pair_has_one_label():
    own = graded([(1, 0, 1), (1, 1, 2), (2, 0, 0), (2, 2, 2), (3, 0, 2), (3, 1, 1)])
    once = Single(np.arange(6), own.people)
    found = trust_of(own, once, VALUES)
    both = count_labels(np.tile(np.arange(6), 2), np.concatenate([own.people, own.machine]), VALUES)
    expected = alpha(both).value
    assert expected is not None
    assert found.alpha.value == pytest.approx(expected)
    assert found.ceiling.value is None


def test_drift_is_of_the_later_revision_against_the_earlier():
    found = drift_of(3, graded([(1, 0, 1), (1, 1, 1), (2, 2, 2), (2, 1, 1)]), VALUES)
    assert (found.revision, found.same.value, found.same.pairs) == (3, 0.75, 4)
    assert found.bias.value == 0.25
    same = drift_of(1, graded([(1, 0, 0), (2, 2, 2)]), VALUES)
    assert (same.alpha.value, same.bias.value) == (1.0, 0.0)


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    world = make_world(queries=4, documents=3)
    Query.objects.update(segment="tail")
    Query.objects.filter(qid__in=("q1", "q2")).update(segment="head")
    return world


def judged(world, settings, respond):
    """Two people graded d1 … d3 as 4, 2, 0, in three queries of four; the machine said its own."""
    queries = {query.qid: ["d1", "d2", "d3"] for query in world.queries}
    make_run(collection=world.collection, rankings=queries, ranker="good")
    upside = {qid: docids[::-1] for qid, docids in queries.items()}
    make_run(collection=world.collection, rankings=upside, ranker="bad")
    campaign = make_campaign(world=world)
    own = {"d1": 4, "d2": 2, "d3": 0}
    for pair in campaign.pairs.exclude(query__qid="q4").select_related("campaign", "document"):
        for username in ("ben", "cem"):
            label(pair=pair, username=username, grade=own[pair.document.docid])
    consolidate(list_id=campaign.list_id, at=NOW)
    refresh_evaluations(list_id=campaign.list_id, at=NOW)
    with running(lambda shown: grades(respond(shown.partition("Title ")[2][0]))) as endpoint:
        settings.OUTGOING = read_origins([endpoint.entry])
        revision = make_judge(world, endpoint.url)
        access = make_access(collection=world.collection)
        start_judging(access=access, judge=revision.judge, campaign=campaign, at=NOW)
        while work_jobs():
            pass
    assert MachineLabel.objects.count() == 12
    return reverse("machine-judge-trust", args=["books", revision.judge_id])


@pytest.mark.django_db
def test_the_page_shows_one_who_agrees(world, settings):
    path = judged(world, settings, {"1": 4, "2": 2, "3": 0}.__getitem__)
    page = words(client_of("ada").get(path))
    assert "9 pairs of 3 queries" in page
    assert "with single people 1.000 – 9" in page
    assert "Kendall’s tau, all 2 runs 1.00 –" in page
    assert "swaps near the top count more 1.00 –" in page
    assert page.count("below 15") == 2
    assert "head 1.000" in page


@pytest.mark.django_db
def test_the_page_shows_one_who_turns_the_order_round(world, settings):
    path = judged(world, settings, {"1": 0, "2": 2, "3": 4}.__getitem__)
    page = words(client_of("ada").get(path))
    assert "Kendall’s tau, all 2 runs −1.00 –" in page
    assert "as high than" not in page
    assert client_of("dora").get(path).status_code == 404
    assert client_of("ada").get(path, {"revision": "7"}).status_code == 404


@pytest.mark.django_db
def test_rest_says_the_same_as_numbers(world, settings):
    path = judged(world, settings, {"1": 0, "2": 2, "3": 4}.__getitem__)
    judge_id = int(path.split("/")[-2])
    base = "/api/v1/collections/books/machine-judges"
    ada = client_of("ada")
    (row,) = ada.get(f"{base}/").json()["results"]
    assert (row["id"], row["name"], row["revision"]) == (judge_id, "Model", 1)
    (done,) = ada.get(f"{base}/{judge_id}/campaigns/").json()["results"]
    assert (done["state"], done["pairs"], done["labelled"], done["failed"]) == ("done", 12, 12, 0)
    state = ada.get(f"{base}/campaigns/{done['id']}").json()
    assert (state["requests"], state["tokens"], state["row"]["name"]) == (12, 12 * 110, "First")
    assert state["outcomes"] == [
        {"outcome": "labelled", "words": "labelled", "count": 12, "is_failed": False}
    ]
    found = ada.get(f"{base}/{judge_id}/agreement", {"list": "main", "revision": "1"}).json()
    assert (found["revision"], found["list"], found["labels"]) == (1, "main", 12)
    assert [(one["pairs"], one["bias"], one["same"]) for one in found["queries"]] == [
        (3, 0.0, pytest.approx(1 / 3))
    ] * 3
    few = ada.get(f"{base}/{judge_id}/agreement", {"limit": "2"}).json()
    assert few["queries"] == found["queries"][:2]
    assert found["agreement"]["table"][4] == [3, 0, 0, 0, 0]
    assert [one and one["value"] for one in found["agreement"]["by_grade"]] == [
        4,
        None,
        0,
        None,
        -4,
    ]
    assert (found["boards"]["tau"], found["boards"]["queries"]) == (-1.0, 3)
    assert [one["first_place"] for one in found["boards"]["runs"]] == [1, 2]
    (tail,) = [one for one in found["segments"] if one["name"] == "tail"]
    assert [tail[name]["pairs"] for name in ("alpha", "weighted", "same", "bias")] == [3] * 4
    values = [tail[name]["value"] for name in ("weighted", "same")]
    assert values == pytest.approx([-1.0, 1 / 3])
    assert found["drift"] is None
    assert ada.get(f"{base}/{judge_id}/agreement", {"list": "other"}).status_code == 404
    campaign = world.judgments.campaigns.get()
    again = ada.post(
        f"{base}/{judge_id}/campaigns/",
        {"campaign": str(campaign.public_id)},
        content_type="application/json",
    )
    assert (again.status_code, again.json()) == (202, {"id": again["Location"][-36:], "pairs": 12})
    assert ada.get(again["Location"]).json()["row"]["state"] == "running"


@pytest.mark.django_db
def test_rest_sets_the_family_of_a_judge(world, settings):
    path = judged(world, settings, {"1": 4, "2": 2, "3": 0}.__getitem__)
    Ranker.objects.filter(slug="bad").update(tags=["gpt"])
    ada = client_of("ada")
    base = f"/api/v1/collections/books/machine-judges/{path.split('/')[-2]}"

    def put(client, family):
        body = {"family": family}
        return client.put(f"{base}/family", body, content_type="application/json")

    answer = put(ada, "gpt")
    assert (answer.status_code, answer.json()["name"], answer.json()["family"]) == (
        200,
        "Model",
        "gpt",
    )
    runs = ada.get(f"{base}/agreement").json()["boards"]["runs"]
    assert [one["is_family"] for one in runs] == [False, True]
    refused = put(ada, "gpt llama")
    assert (refused.status_code, refused.json()["code"]) == (422, "one_family")
    assert put(ada, "-no-").json()["code"] == "tag_invalid"
    assert put(client_of("dora"), "gpt").status_code == 404
    assert put(ada, "").json()["family"] == ""
    said = AuditEntry.objects.filter(action="judge.family_chosen").order_by("pk")
    assert [one.after for one in said] == [{"family": "gpt"}, {"family": ""}]


@pytest.mark.django_db
def test_agreement_by_week_and_the_family_of_the_judge(world, settings):
    path = judged(world, settings, {"1": 4, "2": 2, "3": 0}.__getitem__)
    ada = client_of("ada")
    assert "By week" not in words(ada.get(path))
    late = MachineLabel.objects.filter(query__qid="q1").values_list("pk", flat=True)
    table = [AppendOnly("annotation_machinelabel")]
    remove_triggers(connection, table)
    MachineLabel.objects.filter(pk__in=list(late)).update(
        created_at=timezone.now() + timedelta(days=7)
    )
    install_triggers(connection, table)
    Ranker.objects.filter(slug="bad").update(tags=["gpt"])
    refused = ada.post(path.replace("agreement", "family"), {"family": "gpt llama"}, follow=True)
    assert "One tag only" in words(refused)
    ada.post(path.replace("agreement", "family"), {"family": "gpt"})
    judge_id = path.split("/")[-2]
    found = ada.get(f"/api/v1/collections/books/machine-judges/{judge_id}/agreement").json()
    assert [one["same"]["pairs"] for one in found["weeks"]] == [3, 6]
    assert found["weeks"][0]["begins"] > found["weeks"][1]["begins"]
    assert found["boards"]["family"]["why"] == "few_queries"
    assert [one["is_family"] for one in found["boards"]["runs"]] == [False, True]
    assert AuditEntry.objects.get(action="judge.family_chosen").after == {"family": "gpt"}
    assert "own family" in words(ada.get(path))
