"""Two workers at the same work, with two real connections: nothing is written twice or differs."""

import threading

import pytest
from django.db import connection, transaction

from evaluation.models import Evaluation
from evaluation.selectors import list_due_lists
from evaluation.services.refreshing import Refreshed, refresh_evaluations
from tests.builders import NOW, World, commit, make_world
from tests.evaluation.builders import evaluate_from_scratch, make_run

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world() -> World:
    world = make_world(queries=8, documents=6)
    docids = [document.docid for document in world.documents]
    for number in range(4):
        rankings = {
            query.qid: docids[(number + place) % 3 :] for place, query in enumerate(world.queries)
        }
        make_run(collection=world.collection, rankings=rankings, ranker=f"ranker-{number}")
    everything = {(query, world.documents[0]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=everything)
    return world


def at_once(count: int, world: World) -> list[Refreshed]:
    """As many refreshes as asked for, begun at the same moment, each on its own connection."""
    start = threading.Barrier(count)
    done: list[Refreshed] = []

    def work() -> None:
        try:
            start.wait(10)
            done.append(refresh_evaluations(list_id=world.judgments.pk, at=NOW))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return done


def test_workers_at_once_write_every_evaluation_once_and_the_same(world: World) -> None:
    for number in range(10):
        if number:
            pair = (world.queries[number % 3], world.documents[1 + number % 4])
            commit(judgment_list=world.judgments, grades={pair: number % 5})
        assert len(at_once(4, world)) == 4
    assert list_due_lists(at=NOW) == []
    stored = list(Evaluation.objects.select_related("run", "version"))
    assert len(stored) == 4 * 10
    for row in stored:
        assert bytes(row.sums) == evaluate_from_scratch(
            run=row.run, judgment_list=world.judgments, version=row.version.number
        )


def test_a_refresh_waits_for_no_commit_that_is_under_way(world: World) -> None:
    with transaction.atomic():
        commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 1})
        (done,) = at_once(1, world)
    assert (done.version, done.evaluated) == (1, 4)
