"""Whether a run has its values, and waiting until it has."""

from threading import Thread
from time import monotonic

import pytest
from django.db import connections
from django.utils import timezone

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import RefreshAttempt
from evaluation.runs import progress
from evaluation.runs.progress import MOST_WAITING, wait_for_run
from tests.builders import NOW, commit, make_world
from tests.evaluation.builders import make_run


def judged_world():
    world = make_world()
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 2})
    return world


@pytest.fixture
def judged(db):
    return judged_world()


def test_a_run_is_evaluated_when_it_has_values_of_every_list_with_judgments(judged):
    run = make_run(collection=judged.collection, rankings={"q1": ["d1"]})
    found = wait_for_run(run=run, seconds=0)
    assert (found.state, [(one.list, one.version, one.state) for one in found.lists]) == (
        "waiting",
        [("main", 0, "waiting")],
    )
    refresh_evaluations(list_id=judged.judgments.pk, at=NOW)
    found = wait_for_run(run=run, seconds=60)  # at once
    assert (found.state, found.lists[0].version) == ("evaluated", 1)
    commit(judgment_list=judged.judgments, grades={(judged.queries[1], judged.documents[0]): 2})
    assert wait_for_run(run=run, seconds=0).state == "waiting"


def test_without_judgments_there_is_nothing_to_wait_for(db):
    run = make_run(collection=make_world().collection, rankings={"q1": ["d1"]})
    assert wait_for_run(run=run, seconds=60).state == "evaluated"


def test_a_run_that_was_given_up_or_withdrawn_is_not_waited_for(judged):
    run = make_run(collection=judged.collection, rankings={"q1": ["d1"]})
    RefreshAttempt.objects.create(
        run=run,
        list=judged.judgments,
        attempts=RefreshAttempt.MOST,
        not_before=NOW,
        problem="no memory",
    )
    found = wait_for_run(run=run, seconds=60)
    assert (found.state, found.lists[0].problem) == ("failed", "no memory")
    run.withdrawn_at = timezone.now()
    run.save(update_fields=["withdrawn_at"])
    assert wait_for_run(run=run, seconds=60).state == "withdrawn"


def test_the_wait_ends_when_its_time_is_over(judged):
    run = make_run(collection=judged.collection, rankings={"q1": ["d1"]})
    began = monotonic()
    assert wait_for_run(run=run, seconds=0.2).state == "waiting"
    assert monotonic() - began >= 0.2


def test_beyond_a_few_waits_the_answer_comes_at_once(judged, monkeypatch):
    run = make_run(collection=judged.collection, rankings={"q1": ["d1"]})
    monkeypatch.setattr(progress, "LONGEST", 0.0)
    for _ in range(MOST_WAITING):
        assert progress._waiting.acquire(blocking=False)
    try:
        found = wait_for_run(run=run, seconds=1)
        assert (found.state, found.is_cut) == ("waiting", True)
    finally:
        for _ in range(MOST_WAITING):
            progress._waiting.release()
    assert not wait_for_run(run=run, seconds=1).is_cut


@pytest.mark.django_db(transaction=True)
def test_the_wait_ends_as_soon_as_a_worker_has_evaluated_the_run():
    world = judged_world()
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]})

    def work() -> None:
        refresh_evaluations(list_id=world.judgments.pk, at=NOW)
        connections.close_all()

    worker = Thread(target=work)
    worker.start()
    began = monotonic()
    found = wait_for_run(run=run, seconds=30)
    worker.join()
    assert found.state == "evaluated"
    assert monotonic() - began < 20
