"""Tasks: thin, named for ever, safe to run twice or for nothing."""

import pytest
from celery import current_app

from config.sweep import list_due
from evaluation.models import Evaluation, StabilityReport
from evaluation.tasks import (
    compute_measures,
    compute_tools,
    refresh,
    refresh_large,
    report_order_stability,
)
from tests.builders import World, commit, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 2})
    return world


def test_the_sweep_announces_a_list_on_which_a_run_is_due_until_it_is_done(world: World) -> None:
    own = ("evaluation.refresh", (world.judgments.pk,))
    assert own in set(list_due())
    refresh(world.judgments.pk)
    assert own not in set(list_due())


def test_a_task_run_twice_leaves_the_same_rows(world: World) -> None:
    refresh(world.judgments.pk)
    rows = list(Evaluation.objects.values())
    refresh(world.judgments.pk)
    refresh_large(world.judgments.pk)
    assert list(Evaluation.objects.values()) == rows
    assert len(rows) == 1


def test_a_task_for_a_list_that_is_not_there_does_nothing() -> None:
    refresh(12345)
    refresh_large(12345)
    compute_measures(12345, 1, "P@5")
    compute_tools(12345, 1, 10, 0)
    report_order_stability(12345, 1, '{"measure": "nDCG@10", "runs": [1], "segment": "", "set": 0}')
    assert not StabilityReport.objects.exists()
    assert not Evaluation.objects.exists()


def test_what_takes_long_goes_to_the_queue_of_long_jobs_and_is_done_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.evaluations.due.SMALL", 0)
    sent: list[tuple[str, tuple[int, ...]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append((name, args)))
    refresh(world.judgments.pk)
    assert sent == [("evaluation.refresh_large", (world.judgments.pk,))]
    assert current_app.conf.task_routes["evaluation.refresh_large"] == {"queue": "jobs"}
    assert not Evaluation.objects.exists()
    refresh_large(world.judgments.pk)
    assert Evaluation.objects.count() == 1


def test_a_commit_announces_a_refresh_of_its_list(
    world: World, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks
) -> None:
    sent: list[tuple[str, tuple[int, ...]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 1})
    assert sent == [("evaluation.refresh", (world.judgments.pk,))]


def test_an_import_announces_a_refresh_of_every_list_that_has_a_version(
    world: World, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks
) -> None:
    sent: list[tuple[str, tuple[int, ...]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        make_run(collection=world.collection, rankings={"q2": ["d1"]}, ranker="other")
    assert sent == [("evaluation.refresh", (world.judgments.pk,))]
