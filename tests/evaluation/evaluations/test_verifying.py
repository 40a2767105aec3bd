"""Verifying: whatever bit of what is stored is changed, it is found and named."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import pytest
from django.apps import apps
from django.db import connection

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.evaluations.verifying import Verified, verify_list, verify_runs
from evaluation.models import Evaluation, MeasureSet, Ranking, Run
from judgments.lists.services import release_version
from judgments.models import Judgment, Release
from judgments.triggers import install_triggers, remove_triggers
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@contextmanager
def tampering() -> Iterator[None]:
    """As someone who can write to the database file past every trigger."""
    tables = [table for app in apps.get_app_configs() for table in getattr(app, "append_only", [])]
    remove_triggers(connection, tables)
    yield
    install_triggers(connection, tables)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """Six queries, two runs, three versions; the second one is released."""
    world = make_world(queries=6)
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d5"]})
    make_run(collection=world.collection, rankings={"q1": ["d2"]}, ranker="other")
    d1, d2 = world.documents[:2]
    for grades in (
        {(query, d1): number % 5 for number, query in enumerate(world.queries)},
        {(world.queries[0], d2): 3},
        {(world.queries[1], d2): 1},
    ):
        commit(judgment_list=world.judgments, grades=grades)
        refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    release_version(
        access=make_access(collection=world.collection),
        at=NOW,
        judgment_list=world.judgments,
        number=2,
        name="paper",
    )
    world.judgments.refresh_from_db()
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def change_sums(version: int, *, place: int) -> None:
    """Change one byte of what is stored for the first run at a version."""
    row = Evaluation.objects.filter(version__number=version).order_by("pk")[0]
    sums = bytearray(bytes(row.sums))
    sums[place] ^= 1
    with tampering():
        Evaluation.objects.filter(pk=row.pk).update(sums=bytes(sums))


def test_what_was_computed_by_differences_is_what_comes_from_scratch(world: World) -> None:
    assert verify_list(judgment_list=world.judgments) == Verified(evaluations=4, releases=1)
    every = verify_list(judgment_list=world.judgments, every_step=True)
    assert every == Verified(evaluations=4, steps=4, releases=1)
    assert verify_runs(collection=world.collection) == Verified(runs=2)


def test_a_changed_bit_at_the_head_is_named_with_its_run_measure_and_column(world: World) -> None:
    change_sums(3, place=8)
    (problem,) = verify_list(judgment_list=world.judgments).problems
    assert problem.startswith("books/main version 3: bm25/one: nDCG@10: sum_high is stored as ")


def test_judgments_of_what_the_collection_does_not_have_are_counted(world: World) -> None:
    other = make_world(slug="films")
    own = {"list": world.judgments, "grade": 1, "since": 3}
    query, document = world.queries[0], other.documents[0]
    Judgment.objects.create(**own, query=query, document=document)
    Judgment.objects.create(**own, query=other.queries[0], document=document, until=4)
    found = verify_list(judgment_list=world.judgments).problems
    assert "books/main: 2 judgments name what its collection does not have" in found


def test_a_changed_bit_at_a_release_is_found(world: World) -> None:
    change_sums(2, place=48 + 40)
    (problem,) = verify_list(judgment_list=world.judgments).problems
    assert problem.startswith("books/main version 2: bm25/one: nDCG@5: square_low")


def test_a_changed_bit_between_is_found_by_the_steps_on_both_sides_of_it(world: World) -> None:
    change_sums(1, place=0)
    assert verify_list(judgment_list=world.judgments).problems == ()
    (problem,) = verify_list(judgment_list=world.judgments, every_step=True).problems
    assert "nDCG@10: n is stored as 6" in problem
    assert problem.endswith("(from version 1)")


def test_torn_sums_are_named(world: World) -> None:
    with tampering():
        Evaluation.objects.filter(version__number=3, run__ranker__slug="bm25").update(sums=b"1234")
    (problem,) = verify_list(judgment_list=world.judgments, every_step=True).problems
    assert "bm25/one: 4 bytes are stored" in problem


def test_a_grade_changed_behind_everybody_s_back_is_found(world: World) -> None:
    with tampering():
        Judgment.objects.filter(query=world.queries[0], document=world.documents[0]).update(grade=4)
    problems = verify_list(judgment_list=world.judgments).problems
    assert any("release paper" in problem for problem in problems)
    assert any("version 3: bm25/one" in problem for problem in problems)


def test_a_release_with_another_digest_is_named(world: World) -> None:
    with tampering():
        Release.objects.update(sha256="0" * 64)
    (problem,) = verify_list(judgment_list=world.judgments).problems
    assert problem.startswith("books/main release paper: its qrels no longer have the digest 0000")


def test_a_changed_score_or_order_of_a_run_is_named(world: World) -> None:
    run = Run.objects.get(ranker__slug="bm25")
    with tampering():
        Ranking.objects.filter(run=run, query=world.queries[0]).update(order=b"\1\0\0\0")
    assert verify_runs(collection=world.collection).problems == (
        "books run bm25/one: query q1 is not stored in the order of the tie rule",
    )
    with tampering():
        Ranking.objects.filter(run=run, query=world.queries[1]).update(scores=b"\0" * 8)
    assert (
        verify_runs(collection=world.collection)
        .problems[1]
        .startswith("books run bm25/one: its rankings no longer have the digest")
    )


def test_evaluations_by_an_arithmetic_that_is_no_more_are_counted_and_not_compared(
    world: World,
) -> None:
    with tampering():
        MeasureSet.objects.update(measures=[["nDCG@10", 0]])
    assert verify_list(judgment_list=world.judgments) == Verified(releases=1, outdated=6)
