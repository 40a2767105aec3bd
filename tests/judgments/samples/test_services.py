"""Samples: drawn from their seed, stored once, with queries of the collection."""

import csv
import io
from functools import partial

import numpy as np
import pytest
from django.utils import timezone

from judgments.jobs.services import work_jobs
from judgments.models import Query, SampledQuery, SamplePlan
from judgments.samples.designs import OPTIMAL, PER_QUERY, QUERIES, SEARCHES, Design
from judgments.samples.drawing import is_reproduced
from judgments.samples.queries import get_sample_file, get_sample_page
from judgments.samples.services import request_sample
from judgments.traffic import services as traffic_services
from tests.builders import commit, make_access, make_world
from tests.judgments.samples.builders import make_frame, make_sample, usual_traffic
from touchstone.sampling.designs import (
    expected_overlap,
    inclusion_probabilities,
    sequential_poisson,
)
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.frames import Frame

pytestmark = pytest.mark.django_db


def drawn(plan: SamplePlan) -> dict[str, float]:
    rows = SampledQuery.objects.filter(plan=plan).order_by("pk")
    return dict(rows.values_list("query__text", "pi"))


def test_a_sample_is_the_librarys_and_its_new_queries_come_into_the_collection():
    world = make_world()
    traffic = usual_traffic(world)
    design = Design(by_size=True, cuts=(), n=12, allocation=SEARCHES)
    plan = make_sample(world=world, frame=make_frame(world=world, traffic=traffic), design=design)
    frame = Frame.of(list(traffic), sizes=list(traffic.values()))
    own = sequential_poisson(frame, 12, seed=7)
    assert drawn(plan) == dict(zip(own.queries, own.pi.tolist(), strict=True))
    assert list(drawn(plan)) == own.queries
    known = {query.text: query.pk for query in world.queries}
    members = SampledQuery.objects.filter(plan=plan).select_related("query")
    assert any(one.query.text in known for one in members)
    for one in members:
        assert one.searches == traffic[one.query.text]
        assert one.query_id == known.get(one.query.text, one.query_id)
        assert not one.query.is_stub


@pytest.mark.parametrize("by_size", [True, False])
def test_a_sample_is_drawn_again_from_its_seed_across_blocks(monkeypatch, by_size):
    monkeypatch.setattr(traffic_services, "BLOCK", 7)
    monkeypatch.setattr("judgments.samples.drawing.BLOCK", 7)
    world = make_world()
    design = Design(by_size=by_size, cuts=(0.7,), n=20, allocation=QUERIES)
    plan = make_sample(world=world, design=design)
    assert is_reproduced(plan)
    plan.seed = 8
    assert not is_reproduced(plan)


# the same draw on every database and machine: a digest that was computed once
DIGEST = "93d87846b23d629a9e6966daacaf7e0c476aa94b7f532a5553da1175f8e2eb5f"


def test_a_seed_draws_the_same_on_both_databases():
    assert make_sample(world=make_world()).digest == DIGEST


def test_queries_are_in_the_next_months_sample_as_theory_says():
    world = make_world()
    rng = np.random.default_rng(5)
    before = {f"query {n}": int(1 + 4000 / (n + 1)) for n in range(400)}
    after = {query: max(1, int(count * rng.lognormal(0, 0.4))) for query, count in before.items()}
    months = [
        make_frame(world=world, traffic=one, name=str(k)) for k, one in enumerate((before, after))
    ]
    design = Design(by_size=True, cuts=(), n=60, allocation=SEARCHES)
    shared, expected = [], []
    for seed in range(8):
        own = [make_sample(world=world, frame=one, design=design, seed=seed) for one in months]
        chances = [dict(zip(frame, _pi(frame), strict=True)) for frame in (before, after)]
        shared.append(len(drawn(own[0]).keys() & drawn(own[1]).keys()))
        expected.append(
            expected_overlap(
                np.array([chances[0][query] for query in before]),
                np.array([chances[1][query] for query in before]),
            )
        )
    assert abs(np.mean(shared) - np.mean(expected)) < 2
    assert np.mean(shared) > 40


def test_the_next_months_sample_says_what_both_are_expected_to_share_and_how_traffic_moved():
    world = make_world()
    before = {f"query {n}": 1 + 900 // (n + 1) for n in range(200)}
    after = {query: count + 7 * (n % 3) for n, (query, count) in enumerate(before.items())}
    after |= {f"new {n}": 20 for n in range(10)}
    del after["query 3"]
    design = Design(by_size=True, cuts=(0.6,), n=40, allocation=SEARCHES)
    plans = [
        make_sample(world=world, frame=make_frame(world=world, traffic=one, name=n), design=design)
        for n, one in (("May", before), ("June", after))
    ]
    assert plans[0].refresh is None
    access = make_access(collection=world.collection, username="dora")
    (earlier,) = get_sample_page(access=access, list_slug="main", number=2, page="").earlier
    chances = [_chances(one, plan) for one, plan in zip((before, after), plans, strict=True)]
    assert earlier.expected == pytest.approx(
        sum(min(chances[0][query], chances[1][query]) for query in before.keys() & after.keys())
    )
    assert earlier.shared == len(drawn(plans[0]).keys() & drawn(plans[1]).keys())
    totals = sum(before.values()), sum(after.values())
    assert earlier.known == pytest.approx(1 - 200 / totals[1])
    same = (min(before[q] / totals[0], after[q] / totals[1]) for q in before.keys() & after.keys())
    assert earlier.drift == pytest.approx(1 - sum(same))


def _chances(searches: dict[str, int], plan: SamplePlan) -> dict[str, float]:
    """Of every query, stratum by stratum."""
    found: dict[str, float] = {}
    least = float("inf")
    for row in plan.design["strata"]:
        own = {query: n for query, n in searches.items() if row["least"] <= n < least}
        pi = inclusion_probabilities(np.array(list(own.values()), float), row["n"])
        found |= dict(zip(own, pi.tolist(), strict=True))
        least = row["least"]
    return found


def test_traffic_and_samples_over_rest(client):
    world = make_world()
    make_frame(world=world)
    client.force_login(world.ada)
    traffic = client.get("/api/v1/collections/books/traffic/").json()["results"]
    assert [(one["name"], one["queries"]) for one in traffic] == [("May", 63)]
    shown = client.get("/api/v1/collections/books/traffic/1?cuts=70").json()
    assert [one["name"] for one in shown["strata"]] == ["head", "tail"]
    address = "/api/v1/collections/books/lists/main/samples/"
    design = {"traffic": 1, "seed": 7, "n": 10, "cuts": "70", "by_size": True}
    ask = partial(client.post, address, content_type="application/json")
    assert ask({**design, "n": 1_000}).status_code == 422
    assert ask({**design, "budget": 100}).status_code == 400
    assert ask(design).status_code == 202
    work_jobs()
    (row,) = client.get(address).json()["results"]
    assert (row["queries"], row["seed"]) == (10, "7")
    assert client.get(f"{address}1").json()["digest"] == row["digest"]
    queries = client.get(f"{address}1/queries?limit=4").json()
    assert len(queries["results"]) == 4
    assert queries["next"]
    plan = SamplePlan.objects.get()
    assert {one["text"]: one["pi"] for one in queries["results"]}.items() <= drawn(plan).items()


def _pi(searches: dict[str, int]) -> list[float]:
    return inclusion_probabilities(np.array(list(searches.values()), float), 60).tolist()


def test_a_stratum_of_one_query_is_refused():
    world = make_world()
    frame = make_frame(world=world, traffic={"huge": 1000, "a": 3, "b": 2, "c": 1})
    design = Design(by_size=False, cuts=(0.5,), n=3, allocation=QUERIES)
    with pytest.raises(SamplingError, match="one query alone"):
        make_sample(world=world, frame=frame, design=design)


def test_a_budget_is_spent_where_it_lowers_the_standard_error_most():
    world = make_world()
    design = Design(
        by_size=False,
        cuts=(0.7,),
        n=None,
        allocation=OPTIMAL,
        target=PER_QUERY,
        spreads=(0.1, 0.4),
        costs=(10.0, 20.0),
        budget=400,
    )
    plan = make_sample(world=world, design=design)
    head, tail = plan.design["strata"]
    assert 10 * head["n"] + 20 * tail["n"] <= 400
    assert head["n"] >= 2
    assert tail["n"] > head["n"]
    access = make_access(collection=world.collection, username="dora")
    page = get_sample_page(access=access, list_slug="main", number=1, page="")
    assert page.allocation == "cost-optimal for the mean per query"


def test_a_request_is_checked_at_once_and_drawn_by_a_worker():
    world = make_world()
    frame = make_frame(world=world)
    access = make_access(collection=world.collection)
    ask = partial(
        request_sample,
        access=access,
        at=timezone.now(),
        frame=frame,
        judgment_list=world.judgments,
        name="First",
    )
    too_many = Design(by_size=False, cuts=(), n=10_000, allocation=QUERIES)
    with pytest.raises(SamplingError, match="can't be drawn"):
        ask(design=too_many, seed=1)
    design = Design(by_size=True, cuts=(0.7,), n=8, allocation=SEARCHES)
    job = ask(design=design, seed=2**63 - 1)
    work_jobs()
    job.refresh_from_db()
    assert job.result["next_page"] == ["sample", "books", "main", 1]
    plan = SamplePlan.objects.get()
    assert (plan.size, plan.seed, plan.created_by) == (8, 2**63 - 1, world.ada)
    assert is_reproduced(plan)


def test_the_page_and_the_file_say_what_was_drawn_and_what_is_judged():
    world = make_world()
    plan = make_sample(world=world)
    member = SampledQuery.objects.filter(plan=plan).first()
    query = Query.objects.get(pk=member.query_id)
    commit(judgment_list=world.judgments, grades={(query, world.documents[0]): 2})
    access = make_access(collection=world.collection, username="dora")
    page = get_sample_page(access=access, list_slug="main", number=1, page="")
    assert (page.size, page.judged, sum(one.judged for one in page.strata)) == (10, 1, 1)
    assert page.design == "sequential Poisson, in proportion to searches, in each stratum"
    rows = list(
        csv.DictReader(io.StringIO(get_sample_file(access=access, list_slug="main", number=1)))
    )
    assert {row["query"]: float(row["pi"]) for row in rows} == drawn(plan)
    names = [one["name"] for one in plan.design["strata"]]
    totals = dict.fromkeys(names, 0.0)
    for row in rows:
        totals[row["stratum"]] += 1
    assert [totals[name] for name in names] == [one["n"] for one in plan.design["strata"]]
