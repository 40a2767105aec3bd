"""The planner: allocation, cost and standard error from past paired differences."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from evaluation.evaluations.measure_sets import measures_of
from evaluation.evaluations.query_values import get_query_values
from evaluation.models import Leaderboard
from evaluation.samples.planning import FEWEST, PlanFilters, PlanPage, get_plan_page
from judgments.budgets.services import COLLECTION, set_budgets
from judgments.models import Budget
from judgments.samples.designs import SEARCHES, Design, allocate
from judgments.samples.forms import SampleForm
from judgments.traffic.queries import get_concentration
from tests.builders import NOW, make_access
from tests.evaluation.samples.builders import Sampled, make_sampled
from tests.judgments.samples.builders import usual_traffic
from touchstone.sampling.planning import PlannedStrata, expected_standard_error

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

WIDE = Design(by_size=True, cuts=(0.7,), n=40, allocation=SEARCHES)


@pytest.fixture
def sampled() -> Sampled:
    return make_sampled(design=WIDE)


def planned(sampled: Sampled, **asked: Any) -> PlanPage:
    access = make_access(collection=sampled.world.collection, username="dora")
    return get_plan_page(
        access=access, slug="main", filters=PlanFilters(cuts="70", **asked), now=NOW
    )


def past(sampled: Sampled) -> dict[int, float]:
    measure = measures_of(Leaderboard.objects.get().measure_set)[0]
    one, two = (
        get_query_values(run=run, judgment_list=sampled.world.judgments, version=1, measure=measure)
        for run in sampled.runs
    )
    both = one.counted & two.counted
    rows = zip(one.query_ids[both].tolist(), (two.values - one.values)[both].tolist(), strict=True)
    return dict(rows)


def test_a_budget_is_allocated_by_the_spread_of_past_differences_in_each_stratum(sampled):
    found = planned(sampled, labels="400", cost="10").planned
    assert found is not None
    differences = past(sampled)
    by_stratum: dict[int, list[float]] = {}
    for one in sampled.members:
        if one.query_id in differences:
            by_stratum.setdefault(one.stratum, []).append(differences[one.query_id])
    for code, row in enumerate(found.strata):
        own = by_stratum[code]
        expected = own if len(own) >= FEWEST else list(differences.values())
        assert row.spread == pytest.approx(np.std(expected, ddof=1))
    assert found.cost == 10 * found.n <= 400
    counts = np.array(sorted(usual_traffic(sampled.world).values(), reverse=True), float)
    heads = [counts[: found.strata[0].queries], counts[found.strata[0].queries :]]
    effects = [np.sqrt(len(t) * (t**2).sum() / t.sum() ** 2) for t in heads]
    strata = PlannedStrata.of(
        [row.name for row in found.strata],
        [row.queries for row in found.strata],
        [row.spread * effect for row, effect in zip(found.strata, effects, strict=True)],
        [10.0, 10.0],
        [row.search_share for row in found.strata],
    )
    n = np.array([row.n for row in found.strata])
    assert found.standard_error == pytest.approx(expected_standard_error(strata, n))


def test_the_cheapest_sample_that_detects_a_difference_does_so_and_one_label_less_does_not(sampled):
    wanted = planned(sampled, labels="300", cost="10").planned
    assert wanted is not None
    found = planned(sampled, difference=f"{1.0001 * wanted.detectable:.8f}", cost="10").planned
    assert found is not None
    assert found.detectable <= 1.0001 * wanted.detectable
    assert found.cost <= wanted.cost
    fewer = planned(sampled, labels=f"{found.cost - 10:g}", cost="10").planned
    assert fewer is not None
    assert fewer.detectable > found.detectable


def test_what_is_planned_is_what_the_form_draws(sampled):
    page = planned(sampled, labels="300", cost="10")
    found = page.planned
    assert found is not None
    access = make_access(collection=sampled.world.collection)
    concentration = get_concentration(sampled.plan.frame)
    form = SampleForm(
        {
            "judgment_list": sampled.world.judgments.pk,
            "cuts": found.cuts,
            "spreads": found.spreads,
            "costs": found.costs,
            "budget": found.cost,
            "target": "search",
            "allocation": "optimal",
            "chances": "equal",
            "seed": 1,
        },
        access=access,
        concentration=concentration,
    )
    assert form.is_valid(), form.errors
    assert form.allocated.n.tolist() == [row.n for row in found.strata]
    assert allocate(form.cleaned_data["design"], concentration).cost == found.cost


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"labels": "1"}, "is too little for 2 strata"),
        ({"labels": "many"}, "no number of labels"),
        ({"difference": "0"}, "above 0"),
        ({"difference": "0.1", "labels": "5"}, "not both"),
        ({"labels": "100", "cost": "1,2,3"}, "one for each of 2"),
    ],
)
def test_what_cannot_be_planned_says_why(sampled, asked, said):
    page = planned(sampled, **asked)
    assert page.planned is None
    assert said in page.problem


def test_the_page_leads_to_the_form_with_the_plan_in_it(sampled):
    client = Client()
    client.force_login(sampled.world.ada)
    url = reverse("plan-sample", args=["books", "main"])
    page = client.get(url, {"labels": "300", "cost": "10", "cuts": "70"}).text
    assert "Min. detectable difference" in page
    start = page.index(reverse("sample-create", args=["books", 1]) + "?")
    address = page[start : page.index('"', start)].replace("&amp;", "&")
    form = client.get(address).text
    assert 'name="budget" value="300' in form
    assert 'value="10, 10"' in form


def test_without_a_goal_a_lead_plans_what_the_collections_budgets_leave(sampled):
    world = sampled.world
    lead = make_access(collection=world.collection)
    limits = {("labels", "month"): 300, ("money", "total"): 2_500}
    set_budgets(
        access=lead,
        subject=COLLECTION,
        name="Books",
        limits=limits,
        warn_percent=80,
        stops=True,
        at=NOW,
    )
    Budget.objects.filter(unit="labels").update(used=40, used_in="2026-01")
    Budget.objects.filter(unit="money").update(used=500)

    def page(**asked: Any) -> PlanPage:
        filters = PlanFilters(cuts="70", cost="10", **asked)
        return get_plan_page(
            access=lead, slug="main", filters=filters, now=datetime(2026, 1, 9, tzinfo=UTC)
        )

    found = page()
    assert (found.left, found.asked.labels, found.planned.cost) == (260, "260", 260)
    priced = page(price="0.1")
    assert (priced.left, priced.planned.cost, priced.planned.money) == (200, 200, 20)
    assert page(labels="290").planned.is_over
    assert planned(sampled, labels="290", cost="10").left is None
    client = Client()
    client.force_login(world.ada)
    address = reverse("plan-sample", args=["books", "main"])
    text = client.get(address, {"labels": "400", "cuts": "70", "price": "0.1"}).text
    assert "Over budget." in text
    assert "EUR 40.00" in text
