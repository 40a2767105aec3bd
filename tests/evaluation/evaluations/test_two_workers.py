"""Two workers at the same work, with two real connections: nothing is written twice or differs."""

from functools import partial

import pytest
from django.db import transaction

from evaluation.evaluations.due import list_due_lists
from evaluation.evaluations.refreshing import Refreshed, refresh_evaluations
from evaluation.models import Evaluation
from tests.builders import NOW, World, commit, make_world
from tests.evaluation.builders import evaluate_from_scratch, make_run
from tests.racing import ROUNDS, AtOnce

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


def refreshed_at_once(count: int, world: World, at_once: AtOnce) -> list[Refreshed]:
    """As many refreshes as asked for, begun at the same moment."""
    return at_once(*[partial(refresh_evaluations, list_id=world.judgments.pk, at=NOW)] * count)


def test_workers_at_once_write_every_evaluation_once_and_the_same(
    world: World, at_once: AtOnce
) -> None:
    for number in range(ROUNDS):
        if number:
            pair = (world.queries[number % 3], world.documents[1 + number % 4])
            commit(judgment_list=world.judgments, grades={pair: number % 5})
        done = refreshed_at_once(4, world, at_once)
        assert all(isinstance(one, Refreshed) for one in done), done
        stored = list(Evaluation.objects.filter(version__number=number + 1).select_related("run"))
        assert len(stored) == 4
        for row in stored:
            assert bytes(row.sums) == evaluate_from_scratch(
                run=row.run, judgment_list=world.judgments, version=number + 1
            )
    assert list_due_lists(at=NOW) == []


def test_a_refresh_waits_for_no_commit_that_is_under_way(world: World, at_once: AtOnce) -> None:
    with transaction.atomic():
        commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 1})
        (done,) = refreshed_at_once(1, world, at_once)
    assert (done.version, done.evaluated) == (1, 4)
