"""Why means are not corrected: each reason on the board, on Estimates, on Compare and over REST."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.corrected.services import correct_means
from evaluation.evaluations.measure_set_services import choose_measures
from judgments.models import QueryOrigin, User
from judgments.samples.origins import record_origins
from tests.builders import NOW, make_access
from tests.evaluation.corrected.builders import Judged, equal, make_judged
from touchstone.measures.grammar import parse_measure

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
LIST = ["books", "main"]
WEIGHTED = "nDCG(average='weighted')@10"


def too_few() -> Judged:
    return make_judged(design=equal(14))


def by_judge_next() -> Judged:
    judged = make_judged(without_plan=True)
    record_origins(
        list_id=judged.world.judgments.pk,
        query_ids=[query.pk for query in judged.world.queries],
        origin=QueryOrigin.Origin.JUDGE_NEXT,
        at=NOW,
    )
    return judged


def partly() -> Judged:
    return make_judged(unjudged=1)


def weighted() -> Judged:
    judged = make_judged()
    choose_measures(
        access=make_access(collection=judged.world.collection),
        judgment_list=judged.world.judgments,
        measures=[parse_measure(WEIGHTED)],
        at=NOW,
    )
    return judged


REASONS: dict[Callable[[], Judged], str] = {
    too_few: "people judged 14 queries; the correction takes 15 or more",
    by_judge_next: "not drawn at random (20 added by Judge next)",
    partly: "people judged 19 of the 20 drawn queries completely",
    weighted: "only plain means over queries can be corrected, not means by weight or segment",
}


def reader() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="dora"))
    return client


def refused_of(answers: list[dict[str, Any]]) -> str:
    """The one reason, which comes with no means."""
    (one,) = answers
    assert not any(run["means"] for run in one.get("runs", one.get("differences")))
    return str(one["refused"])


@pytest.mark.parametrize("make", REASONS, ids=lambda make: make.__name__)
def test_the_reason_is_said_wherever_means_are_shown(make):
    judged, reason = make(), REASONS[make]
    if judged.plan:
        correct_means(plan_id=judged.plan.pk, at=NOW)
    client = reader()
    for name in ("leaderboard", "estimates"):
        assert reason in client.get(reverse(name, args=LIST)).text
    answer = client.get(reverse("api-estimates", args=LIST)).json()["corrections"]
    assert reason in refused_of(answer)
    measure = {"measure": WEIGHTED} if make is weighted else {}
    page = client.get(reverse("compare", args=LIST), measure)
    answer = client.get(reverse("api-compare", args=LIST), measure)
    if make is weighted:  # which Compare itself refuses
        assert (page.status_code, answer.status_code) == (400, 422)
        return
    assert reason in page.text
    assert reason in refused_of(answer.json()["corrected"])


def test_a_segment_s_means_are_not_corrected_and_the_reason_is_said():
    judged = make_judged()
    correct_means(plan_id=judged.plan.pk, at=NOW)
    segment = judged.world.queries[0].segment
    assert segment
    client, reason = reader(), "not of a segment or a saved set"
    for name in ("leaderboard", "compare"):
        assert reason in client.get(reverse(name, args=LIST), {"segment": segment}).text
        assert reason not in client.get(reverse(name, args=LIST)).text
    answer = client.get(reverse("api-compare", args=LIST), {"segment": segment}).json()
    assert reason in refused_of(answer["corrected"])
