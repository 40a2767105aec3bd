"""A version that is written in parts: unseen before it is made, all or nothing, one at a time."""

import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from annotation.consolidation.services import consolidate
from config.reconciling import reconcile
from config.sweep import list_due
from judgments.archiving.services import archive_list
from judgments.imports.services import import_qrels
from judgments.jobs.services import JobLost, submit_job, work_jobs
from judgments.models import Document, Job, Judgment, JudgmentList, JudgmentVersion
from judgments.storage import bulk
from judgments.versions import parts
from judgments.versions.parts import ListBusy, list_abandoned, take_back
from judgments.versions.queries import at_head, get_judged, list_differences
from judgments.versions.services import Change, CommitRefused
from tests.builders import NOW, World, commit, make_access, make_world
from tests.builders_annotation import label, make_campaign
from tests.judgments.versions.test_many_grades import commit_many, make_other, rows_of
from touchstone.files.trec import read_qrels
from touchstone.scales import Scale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.first_pass]
Rows = list[tuple[int, int, int]]
PART = 3


class Killed(BaseException):
    """As if the process ended here."""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("one transaction on PostgreSQL")
    monkeypatch.setattr(parts, "MANY", 1)
    monkeypatch.setattr(parts, "SHORT", PART)
    monkeypatch.setattr(bulk, "SHORT", PART)
    monkeypatch.setattr("judgments.versions.services.BLOCK", 10)
    monkeypatch.setattr("judgments.storage.short_transactions.sleep", lambda _: None)


@pytest.fixture
def after_each(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Have something done after every part, as others do it in the pause."""

    def install(look: Callable[[], None]) -> None:
        monkeypatch.setattr("judgments.storage.short_transactions.sleep", lambda _: look())

    return install


@pytest.fixture
def world() -> World:
    """Two versions: 40 of 54 pairs are judged."""
    world = make_world(queries=6, documents=9)
    rows = some_rows(world, 1, 40)
    commit(judgment_list=world.judgments, grades=[Change(*row, {"old": 1}) for row in rows])
    changed = [(query, document, (grade + 1) % 3) for query, document, grade in rows[:7]]
    commit(judgment_list=world.judgments, grades=[Change(*row, {"old": 2}) for row in changed])
    return world


def some_rows(world: World, seed: int, count: int) -> Rows:
    rng = np.random.default_rng(seed)
    pairs = [(query.pk, document.pk) for query in world.queries for document in world.documents]
    rng.shuffle(pairs)
    return [(*pair, int(rng.integers(0, 3))) for pair in pairs[:count]]


def read(judgment_list: JudgmentList) -> tuple[Any, ...]:
    """What readers of a list see, at its head and at each version."""
    head = JudgmentList.objects.get(pk=judgment_list.pk).head
    columns = ("query", "document", "grade", "since", "evidence")
    own_qs = Judgment.objects.filter(at_head(), list=judgment_list).order_by("query", "document")
    return (
        head,
        list(JudgmentVersion.objects.filter(list=judgment_list).values_list("pk", "number")),
        list(own_qs.values_list(*columns)),
        [get_judged(list_id=judgment_list.pk, version=at).pairs() for at in range(head + 1)],
        [
            list_differences(list_id=judgment_list.pk, before=at, after=head)
            for at in range(head + 1)
        ],
    )


def age_mark() -> None:
    JudgmentList.objects.exclude(unfinished=None).update(
        unfinished_at=timezone.now() - parts.SILENCE - timedelta(seconds=1)
    )


def copy_of(world: World) -> JudgmentList:
    """Another list with the same rows."""
    other = make_other(world)
    for number in (1, 2):
        own = Judgment.objects.filter(list=world.judgments, since=number).order_by("pk")
        changes = [Change(one.query_id, one.document_id, one.grade, one.evidence) for one in own]
        commit(judgment_list=other, grades=changes)
    assert rows_of(other) == rows_of(world.judgments)
    return other


def write_at_once(judgment_list: JudgmentList, rows: Rows) -> None:
    with transaction.atomic():
        commit_many(judgment_list, rows)


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_those_of_one_transaction_and_unseen_until_the_version(
    seed: int, world: World, after_each: Callable[[Callable[[], None]], None]
) -> None:
    other, rows = copy_of(world), some_rows(world, seed + 10, 45)
    write_at_once(other, rows)
    before, seen, stored = read(world.judgments), [], []
    query, document = world.queries[0].pk, world.documents[0].pk

    def look() -> None:
        seen.append(read(world.judgments))
        stored.append(len(rows_of(world.judgments)))
        with pytest.raises(ListBusy):
            commit(judgment_list=world.judgments, grades=[Change(query, document, 4)])
        with pytest.raises(ListBusy):
            commit_many(world.judgments, rows)
        with pytest.raises(ListBusy):
            write_at_once(world.judgments, rows)
        with pytest.raises(ListBusy):
            archive_list(
                access=make_access(collection=world.collection),
                judgment_list=world.judgments,
                at=NOW,
            )

    after_each(look)
    version = commit_many(world.judgments, rows)
    assert version is not None
    assert len(seen) > 15
    assert all(one == before for one in seen)
    assert len(set(stored)) > 10
    assert rows_of(world.judgments) == rows_of(other)
    expected = other.versions.get(number=3)
    assert (version.number, version.added, version.changed) == (3, expected.added, expected.changed)
    own = JudgmentList.objects.get(pk=world.judgments.pk)
    assert (own.head, own.unfinished, own.unfinished_at) == (3, None, None)
    assert world.judgments.head == 3
    after_each(lambda: None)
    assert commit_many(world.judgments, rows) is None
    assert commit(judgment_list=world.judgments, grades=[Change(query, document, 4)]).number == 4


def kill_after(count: int, after_each: Any, monkeypatch: pytest.MonkeyPatch, work: Any) -> bool:
    """Do the work and kill it after so many parts; whether it was killed before its end."""
    left = iter(range(count))

    def look() -> None:
        if next(left, None) is None:
            raise Killed

    after_each(look)
    with monkeypatch.context() as patch:
        patch.setattr(parts, "_give_up", lambda *_: None)
        try:
            work()
        except Killed:
            return True
        finally:
            after_each(lambda: None)
    return False


def test_what_a_killed_import_left_is_taken_back_after_any_part(
    world: World, after_each: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, rows = copy_of(world), some_rows(world, 20, 25)
    before, rows_before = read(world.judgments), rows_of(world.judgments)
    write_at_once(other, rows)
    count = 0
    while kill_after(count, after_each, monkeypatch, lambda: commit_many(world.judgments, rows)):
        own = JudgmentList.objects.get(pk=world.judgments.pk)
        assert own.unfinished is not None
        assert read(own) == before
        assert not take_back(own.pk)  # it may still be alive
        with pytest.raises(ListBusy):
            commit_many(own, rows)
        age_mark()
        assert list_abandoned(timezone.now()) == [own.pk]
        # who takes back can be killed as well
        kill_after(count % 4, after_each, monkeypatch, lambda pk=own.pk: take_back(pk))
        assert read(own) == before
        age_mark()
        take_back(own.pk)
        assert rows_of(own) == rows_before
        assert not JudgmentList.objects.exclude(unfinished=None).exists()
        count += 1
    assert count > 8
    assert rows_of(world.judgments) == rows_of(other)


def test_an_import_takes_over_what_a_killed_one_left(
    world: World, after_each: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, rows = copy_of(world), some_rows(world, 30, 45)
    assert kill_after(12, after_each, monkeypatch, lambda: commit_many(world.judgments, rows))
    age_mark()
    rows = some_rows(world, 31, 30)
    write_at_once(other, rows)
    version = commit_many(world.judgments, rows)
    assert version is not None
    assert version.number == 3
    assert rows_of(world.judgments) == rows_of(other)


def test_an_import_that_was_taken_over_writes_and_deletes_nothing_more(
    world: World, after_each: Any
) -> None:
    rows, parts_left = some_rows(world, 40, 45), iter(range(12))
    theirs: list[Any] = []

    def look() -> None:
        if next(parts_left, None) is None and not theirs:
            JudgmentList.objects.update(unfinished=uuid4(), unfinished_at=timezone.now())
            theirs.append(rows_of(world.judgments))

    after_each(look)
    with pytest.raises(ListBusy):
        commit_many(world.judgments, rows)
    assert rows_of(world.judgments) == theirs[0]
    assert JudgmentList.objects.get(pk=world.judgments.pk).unfinished is not None


def test_what_fails_is_taken_back_at_once(world: World, after_each: Any) -> None:
    rows, before = some_rows(world, 50, 45), rows_of(world.judgments)

    def lose(_: JudgmentVersion | None) -> None:
        raise JobLost

    with pytest.raises(JobLost):
        commit_many(world.judgments, rows, finish=lose)
    parts_left = iter(range(12))

    def fail() -> None:
        if next(parts_left, None) == 11:
            raise OSError("no space left")

    after_each(fail)
    with pytest.raises(OSError, match="no space"):
        commit_many(world.judgments, rows)
    after_each(lambda: JudgmentList.objects.update(archived_at=NOW) and None)
    with pytest.raises(CommitRefused, match="archived"):
        commit_many(world.judgments, rows)
    JudgmentList.objects.update(archived_at=None)
    after_each(lambda: None)
    with pytest.raises(CommitRefused, match="no grade 9"):
        commit_many(world.judgments, [(*rows[0][:2], 9)])
    assert rows_of(world.judgments) == before
    own = JudgmentList.objects.get(pk=world.judgments.pk)
    assert (own.head, own.unfinished) == (2, None)


def test_triggers_keep_all_rows_from_everything_else(
    world: World, after_each: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses() -> None:
        own_qs = Judgment.objects.filter(list=world.judgments)
        for refused in (
            lambda: own_qs.filter(since=1)._raw_delete("default"),
            lambda: own_qs.filter(since=3)._raw_delete("default"),
            lambda: own_qs.filter(until=2).update(until=None),
            lambda: own_qs.filter(until=3).update(until=None),
            lambda: own_qs.filter(since=3).update(grade=0),
        ):
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                refused()

    rows = some_rows(world, 60, 54)
    for count in (20, 25):
        assert kill_after(
            count, after_each, monkeypatch, lambda: commit_many(world.judgments, rows)
        )
        refuses()
        age_mark()
        # killed between two parts of taking back
        kill_after(3, after_each, monkeypatch, lambda: take_back(world.judgments.pk))
        assert Judgment.objects.filter(until=3).exists()
        if Judgment.objects.filter(since=3).exists():
            refuses()
        age_mark()


def test_labels_are_consolidated_when_the_import_has_ended(
    world: World, after_each: Any, settings: Any
) -> None:
    settings.LIVE_COMMIT_INTERVAL = 0.0
    pairs = [(world.queries[0], world.documents[0])]
    campaign = make_campaign(world=world, pairs=pairs, overlap=1)
    waits: list[float] = []

    def look() -> None:
        if not waits:
            label(pair=campaign.pairs.get(), username="ben", grade=4)
            waits.append(consolidate(list_id=world.judgments.pk, at=timezone.now()).wait_seconds)

    after_each(look)
    commit_many(world.judgments, some_rows(world, 70, 45))
    assert waits == [5.0]
    made = consolidate(list_id=world.judgments.pk, at=timezone.now())
    assert made.version is not None
    assert (made.version.number, made.pairs) == (4, 1)


QRELS = "".join(f"q{n % 8} 0 d{n} {n % 3}\n" for n in range(1, 40))


def job_of(world: World) -> Job:
    params = {"list": world.judgments.slug, "reason": "", "create": True}
    return submit_job(
        access=make_access(collection=world.collection),
        kind="import_qrels",
        file=ContentFile(QRELS.encode(), name="qrels"),
        params=params,
        at=NOW,
    )


@pytest.fixture
def files(settings: Any, tmp_path: Any) -> Iterator[None]:
    settings.MEDIA_ROOT = str(tmp_path)
    return iter(())


def test_a_job_ends_with_its_version_and_makes_unknown_ids_stubs(
    world: World, after_each: Any, files: None
) -> None:
    job, states = job_of(world), []

    def look() -> None:
        job.refresh_from_db()
        states.append((job.state, JudgmentList.objects.get(pk=world.judgments.pk).head))

    after_each(look)
    work_jobs()
    job.refresh_from_db()
    assert set(states) == {(Job.State.RUNNING, 2)}
    assert job.state == Job.State.DONE
    assert job.result["version"] == 3
    assert Document.objects.filter(is_stub=True).count() == 30


def test_a_job_waits_for_another_import_without_losing_an_attempt(
    world: World, files: None
) -> None:
    JudgmentList.objects.update(unfinished=uuid4(), unfinished_at=timezone.now())
    job = job_of(world)
    work_jobs()
    job.refresh_from_db()
    assert (job.state, job.attempts) == (Job.State.QUEUED, 0)
    assert job.not_before is not None
    assert Document.objects.filter(is_stub=True).count() == 0
    JudgmentList.objects.update(unfinished=None, unfinished_at=None)
    Job.objects.update(not_before=None)
    work_jobs()
    job.refresh_from_db()
    assert (job.state, job.result["version"]) == (Job.State.DONE, 3)


def test_rest_refuses_with_409_and_says_when_to_try_again(world: World, client: Any) -> None:
    JudgmentList.objects.update(unfinished=uuid4(), unfinished_at=timezone.now())
    client.force_login(world.ada, backend="django.contrib.auth.backends.ModelBackend")
    refused = client.post("/api/v1/collections/books/lists/main/archive")
    assert (refused.status_code, refused.json()["code"]) == (409, "list_busy")
    assert refused["Retry-After"] == "10"


def test_the_sweep_and_reconcile_find_what_was_left(
    world: World, after_each: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rows = rows_of(world.judgments), some_rows(world, 80, 45)
    for _ in range(2):
        assert kill_after(12, after_each, monkeypatch, lambda: commit_many(world.judgments, rows))
        wake = (parts.TASK, (world.judgments.pk,))
        assert wake not in set(list_due())
        age_mark()
        assert wake in set(list_due())
        said = reconcile(lists=[world.judgments], with_jobs=False, clock=timezone.now)
        assert said == ["books/main: an unfinished import removed"]
        assert rows_of(world.judgments) == before


def test_a_small_import_takes_back_first(
    world: World, after_each: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = some_rows(world, 90, 45)
    assert kill_after(12, after_each, monkeypatch, lambda: commit_many(world.judgments, rows))
    age_mark()
    monkeypatch.setattr(parts, "MANY", 1_000)
    scale = Scale.from_json(world.judgments.scale)
    done = import_qrels(
        judgment_list=world.judgments,
        qrels=read_qrels(io.BytesIO(QRELS.encode()), name="qrels", scale=scale),
        create=True,
        by=None,
        at=NOW,
        reason="",
    )
    assert done.version is not None
    assert done.version.number == 3
