"""Jobs: long work whose state is a row."""

import uuid
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from judgments.accounts.retention import clear_old
from judgments.jobs import kinds as registry
from judgments.jobs.heartbeats import ATTEMPTS
from judgments.jobs.queries import gathered, get_job, is_job_due
from judgments.jobs.services import JobLost, submit_job, work_jobs
from judgments.models import Document, Job, JudgmentVersion, Query
from judgments.permissions import NotFound
from tests.builders import World, make_access, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings, tmp_path) -> World:
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    return make_world()


@pytest.fixture
def handler(monkeypatch):
    """A kind of job, `test`, whose handler each test sets."""

    class Settable:
        def __init__(self):
            self.turns = []
            self.do = lambda work: work.finish({})

        def __call__(self, work):
            self.turns.append(work)
            self.do(work)

    made = Settable()
    monkeypatch.setitem(registry._handlers, "test", made)
    return made


def submit(world, *, kind="test", text="", **params):
    return submit_job(
        access=make_access(collection=world.collection),
        kind=kind,
        file=ContentFile(text.encode(), name="file.tsv"),
        params=params,
        at=timezone.now(),
    )


def submit_qrels(world, text, *, create=False):
    return submit(world, kind="import_qrels", text=text, list="main", reason="", create=create)


def worked(job):
    work_jobs()
    job.refresh_from_db()
    return job


def test_queries_and_documents_are_loaded_and_the_upload_is_forgotten(world, tmp_path):
    queries = submit(world, kind="import_queries", text="new1\tone\nnew2\ttwo\n")
    documents = submit(world, kind="import_documents", text='{"id": "n", "text": "body"}\n')
    assert len(list(tmp_path.rglob("*-*"))) == 2
    assert work_jobs() == 2
    queries.refresh_from_db()
    documents.refresh_from_db()
    assert (queries.state, queries.result["added"]) == ("done", 2)
    assert (documents.state, documents.result["added"]) == ("done", 1)
    assert queries.done_units == queries.total_units > 0
    assert Query.objects.get(qid="new2").text == "two"
    assert Document.objects.get(docid="n").body == "body"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_refused_file_leaves_nothing_and_its_problems_on_the_row(world):
    job = worked(submit(world, kind="import_queries", text="new1\tone\nnew1\ttwo\n"))
    assert (job.state, job.attempts) == ("failed", 1)
    assert [(p["line"], p["rule"]) for p in job.problems] == [(2, "duplicate")]
    assert job.result["problem_count"] == 1
    assert not Query.objects.filter(qid="new1").exists()


def test_qrels_become_a_version(world):
    text = "q1 0 d1 3\nq2 0 d2 0\n"
    job = worked(submit_qrels(world, text))
    assert (job.state, job.result["version"], job.result["added"]) == ("done", 1, 2)
    version = JudgmentVersion.objects.get()
    assert (version.author, version.source) == (world.ada, "import")
    assert version.reason == "imported from file.tsv"
    again = worked(submit_qrels(world, text))
    assert (again.state, again.result["version"]) == ("done", None)


def test_unknown_ids_are_refused_with_their_lines_or_become_stubs(world):
    text = "q1 0 d1 3\nq1 0 other 2\nnew 0 d1 1\n"
    job = worked(submit_qrels(world, text))
    assert [(p["line"], p["rule"]) for p in job.problems] == [
        (2, "unknown-document"),
        (3, "unknown-query"),
    ]
    job = worked(submit_qrels(world, text, create=True))
    assert (job.result["new_queries"], job.result["new_documents"]) == (1, 1)
    assert Query.objects.get(qid="new").is_stub
    assert Document.objects.get(docid="other").is_stub


def test_a_failing_attempt_is_counted_and_tried_again_later(world, handler):
    def fail(work):
        raise OSError("disk")

    handler.do = fail
    job = worked(submit(world))
    assert (job.state, job.attempts) == ("queued", 1)
    assert job.not_before > timezone.now()
    assert not is_job_due(timezone.now())
    assert is_job_due(job.not_before + timedelta(seconds=1))
    assert work_jobs() == 0


def test_after_five_attempts_the_job_has_failed_and_says_so(world, handler):
    def fail(work):
        raise OSError("disk")

    handler.do = fail
    job = submit(world)
    for _ in range(ATTEMPTS + 2):
        Job.objects.update(not_before=None)
        work_jobs()
    job.refresh_from_db()
    assert (job.state, job.attempts, len(handler.turns)) == ("failed", ATTEMPTS, ATTEMPTS)
    assert "log" in job.result["message"]
    assert not is_job_due(timezone.now() + timedelta(days=1))


def test_the_upload_of_a_job_that_gave_up_is_deleted_within_the_hour(world, handler, tmp_path):
    def fail(work):
        raise OSError("disk")

    handler.do = fail
    gave_up, waiting = submit(world), submit(world)
    Job.objects.filter(pk=gave_up.pk).update(attempts=ATTEMPTS - 1)
    work_jobs()
    gave_up.refresh_from_db()
    assert gave_up.state == "failed"
    assert clear_old(at=timezone.now()).uploads == 1
    kept = [path.name for path in tmp_path.rglob("*-*") if path.is_file()]
    assert kept == [str(waiting.public_id)]
    gave_up.refresh_from_db()
    assert not gave_up.file


def test_a_job_whose_worker_fell_silent_is_taken_over(world, handler):
    job = submit(world)
    silent = timezone.now() - timedelta(seconds=31)
    Job.objects.update(state="running", token=uuid.uuid4(), heartbeat_at=silent, attempts=1)
    assert is_job_due(timezone.now())
    assert (worked(job).state, job.attempts) == ("done", 2)


def test_a_worker_that_dies_each_time_ends_in_a_failed_job(world, handler):
    job = submit(world)
    silent = timezone.now() - timedelta(seconds=31)
    Job.objects.update(state="running", token=uuid.uuid4(), heartbeat_at=silent, attempts=ATTEMPTS)
    assert worked(job).state == "failed"
    assert handler.turns == []


def test_a_worker_at_work_is_left_alone(world, handler):
    submit(world)
    Job.objects.update(state="running", token=uuid.uuid4(), heartbeat_at=timezone.now(), attempts=1)
    assert work_jobs() == 0


def test_what_a_worker_did_after_its_job_was_taken_over_is_undone(world, handler):
    def lose(work):
        with transaction.atomic():
            Query.objects.create(collection=world.collection, qid="lost")
            Job.objects.update(token=uuid.uuid4())
            with pytest.raises(JobLost):
                work.finish({})
            raise JobLost

    handler.do = lose
    job = worked(submit(world))
    assert job.state == "running"
    assert not Query.objects.filter(qid="lost").exists()


def test_only_its_owner_and_leads_see_a_job(world, handler):
    job = submit(world)
    dora = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        get_job(access=dora, public_id=job.public_id)
    assert get_job(access=make_access(collection=world.collection), public_id=job.public_id) == job


def test_a_kind_has_one_handler():
    def one(work): ...
    def other(work): ...

    registry.register("only-in-this-test", one)
    try:
        registry.register("only-in-this-test", one)
        with pytest.raises(ValueError, match="two handlers"):
            registry.register("only-in-this-test", other)
    finally:
        registry._handlers.pop("only-in-this-test")


def test_what_is_wrong_with_many_lines_is_said_once_with_the_lines():
    alike = [(line, "the grade is not on the scale.") for line in range(1, 13)]
    one, other = gathered([alike[0], (3, "too long"), *alike[1:]])
    assert (one.where, one.rule) == (
        "12 lines",
        "the grade is not on the scale. Lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more.",
    )
    assert (other.where, other.rule) == ("line 3", "too long")
