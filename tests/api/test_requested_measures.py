"""Measures on demand: a worker computes them, and the leaderboard of them is complete."""

import pytest
from celery import current_app
from django.core.cache import cache

from evaluation.evaluations import on_demand
from evaluation.tasks import compute_measures
from tests.api.callers import MAIN, by_token, is_problem, post_json
from tests.builders import commit
from tests.evaluation.builders import make_run

MEASURES = f"{MAIN}measures"
ASKED = "P@5,RR(rel=2)@7"


@pytest.fixture
def sent(world, monkeypatch) -> list[tuple[str, tuple[object, ...]]]:
    """The messages to workers. There are three runs, and two versions of the list."""
    cache.clear()
    d1, d2 = world.documents[:2]
    commit(judgment_list=world.judgments, grades=dict.fromkeys(((q, d1) for q in world.queries), 3))
    commit(judgment_list=world.judgments, grades={(world.queries[0], d2): 2})
    for name, documents in {"a": ("d1", "d2"), "b": ("d2", "d1"), "c": ("d3",)}.items():
        rankings = {query.qid: documents for query in world.queries}
        make_run(collection=world.collection, rankings=rankings, ranker=name)
    messages: list[tuple[str, tuple[object, ...]]] = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, args, **_: messages.append((name, tuple(args)))
    )
    return messages


@pytest.mark.parametrize("version", [1, 2])
def test_measures_are_asked_for_computed_and_then_on_the_leaderboard(
    world, sent, version, monkeypatch
):
    client = by_token("dora")
    body = {"measures": ASKED, "version": str(version)}
    asked = post_json(client, MEASURES, body)
    assert asked.status_code == 202
    told = {"version": version, "measures": ASKED.split(","), "state": "computing"}
    assert asked.json() == told | {"done": 0, "total": 3}
    (message,) = sent
    assert message == (
        "evaluation.compute_measures",
        (world.judgments.pk, version, "P@5 RR(rel=2)@7"),
    )
    assert client.get(asked["Location"]).json() == asked.json()
    assert len(sent) == 1, "a state that is polled wakes no second worker"

    compute_measures(*message[1])
    ready = told | {"state": "ready", "done": 3, "total": 3}
    assert client.get(asked["Location"]).json() == ready
    again = post_json(client, MEASURES, body)
    assert (again.status_code, again.json()) == (200, ready)
    assert len(sent) == 1

    # the leaderboard finds what was computed: it reads no ranking
    monkeypatch.setattr(on_demand, "compute_sums", None)
    monkeypatch.setattr(on_demand, "move_sums", None)
    board = client.get(f"{MAIN}leaderboard?measures={ASKED}&version={version}").json()
    means = {row["ranker"]: row["values"]["RR(rel=2)@7"]["mean"] for row in board["runs"]}
    assert not board["computing"]
    assert means == {"a": 1.0, "b": pytest.approx(2 / 3 if version == 2 else 0.5), "c": 0.0}


def test_a_task_run_twice_computes_nothing_twice(world, sent, monkeypatch):
    arguments = (world.judgments.pk, 1, "P@5")
    compute_measures(*arguments)
    monkeypatch.setattr(on_demand, "compute_sums", None)
    compute_measures(*arguments)
    compute_measures(world.judgments.pk, 9, "P@5")
    compute_measures(world.judgments.pk, 1, "nope")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"measures": "nope"}, 422, "bad_measure"),
        ({"measures": ","}, 422, "bad_measure"),
        ({"measures": "P@5", "version": "9"}, 404, "not_found"),
        ({}, 400, "invalid"),
        ({"measures": "P@5", "x": 1}, 400, "invalid"),
    ],
)
def test_what_makes_no_sense_is_refused(world, sent, body, status, code):
    is_problem(post_json(by_token("dora"), MEASURES, body), status, code)
    assert sent == []


def test_a_leaderboard_of_some_runs(world, sent):
    client = by_token("dora")

    def rankers(query: str) -> list[str]:
        body = client.get(f"{MAIN}leaderboard?measures=RR@10&{query}").json()
        return [row["ranker"] for row in body["runs"]]

    assert rankers("") == ["a", "b", "c"]
    assert rankers("runs=c,a/one") == ["a", "c"]
    assert rankers("runs=c&baseline=b/one") == ["b", "c"]
    make_run(collection=world.collection, rankings={"q1": ("d1",)}, ranker="a", name="two")
    assert rankers("runs=newest") == ["b", "a", "c"]
    is_problem(client.get(f"{MAIN}leaderboard?runs=nope"), 422, "no_run")
