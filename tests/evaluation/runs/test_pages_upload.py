"""Uploading a run in the browser: by a job, all or nothing, and at once where it is small."""

import gzip
import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse

from evaluation.models import Ranking, Run
from judgments.jobs.services import work_jobs
from judgments.models import Document, Job
from tests.builders import World, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_ranker, make_run, run_text
from touchstone.measures.packing import unpack_scores

GOOD = run_text({"q1": ["d1", "d2"], "q2": ["d3"]}).encode()


@pytest.fixture
def world(settings, tmp_path) -> World:
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    world = make_world()
    make_ranker(collection=world.collection)
    return world


def upload(world: World, content: bytes, *, file_name: str = "my run.txt", **more: str):
    data = {"ranker": "bm25", "file": SimpleUploadedFile(file_name, content)} | more
    return signed_in(world.dora).post(reverse("run-upload", args=["books"]), data)


def after_the_job(world: World, answer):
    """The job's page when a worker has been at it."""
    assert work_jobs() == 1
    return signed_in(world.dora).get(answer["Location"])


@pytest.mark.django_db
def test_an_uploaded_run_is_named_after_its_file_and_the_job_leads_to_it(world):
    page = after_the_job(world, upload(world, GOOD))
    run = Run.objects.get()
    assert (run.name, run.query_count, run.row_count) == ("my run", 2, 3)
    assert run.created_by == world.dora
    assert reverse("run", args=["books", run.public_id]) in links_of(page)
    # PostgreSQL gives a result's numbers back in an order of its own
    assert "queries 2" in text_of(page)
    assert "rows 3" in text_of(page)
    assert "created" not in text_of(page)


@pytest.mark.django_db
def test_the_rank_column_can_be_trusted_and_ties_are_told(world):
    tied = b"q1 Q0 d1 1 7 t\nq1 Q0 d2 2 7 t\n"
    page = after_the_job(world, upload(world, tied))
    assert "2 lines in 1 query have the same score" in text_of(page)
    page = after_the_job(world, upload(world, tied, name="by rank", by_rank="on"))
    assert "ordered by rank" in text_of(page)
    rankings = Ranking.objects.order_by("pk")
    assert [unpack_scores(bytes(own.scores)).tolist() for own in rankings] == [[7, 7], [-1, -2]]


@pytest.mark.django_db
def test_a_gzipped_run_with_a_name_of_its_own_is_taken(world):
    after_the_job(world, upload(world, gzip.compress(GOOD), file_name="a.run.gz", name='"é" 🙂'))
    assert Run.objects.get().name == '"é" 🙂'


@pytest.mark.django_db
def test_every_wrong_line_is_named_with_its_rule_and_nothing_is_taken(world):
    broken = b"q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 nan x\nq1 Q0 d1 3 1.0 x\n"
    page = after_the_job(world, upload(world, broken))
    text = text_of(page)
    assert "my run.txt" in text
    assert "line 2 the score “nan” is not a finite number." in text
    assert "line 3 document “d1” of query “q1” is already on line 1." in text
    assert f"{reverse('run-upload', args=['books'])}?ranker=bm25" in links_of(page)
    assert not Run.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("create", [False, True])
def test_unknown_documents_become_stubs_only_where_that_is_asked_for(world, create):
    unknown = b"q1 Q0 d1 1 2.0 x\nq1 Q0 elsewhere 2 1.0 x\n"
    more = {"create": "on"} if create else {}
    page = after_the_job(world, upload(world, unknown, **more))
    assert Run.objects.exists() == create
    assert Document.objects.filter(docid="elsewhere", is_stub=True).exists() == create
    refused = "line 2 this collection has no document" in text_of(page)
    assert refused is not create


@pytest.mark.django_db
def test_the_form_says_what_a_stub_is(world):
    page = signed_in(world.dora).get(reverse("run-upload", args=["books"]))
    assert "A stub is an id without text." in text_of(page)


@pytest.mark.django_db
def test_without_a_ranker_the_page_says_to_register_one_first(world):
    other = make_world(slug="films")
    page = signed_in(other.dora).get(reverse("run-upload", args=["films"]))
    assert "Register a ranker first" in text_of(page)
    assert reverse("ranker-create", args=["films"]) in links_of(page)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"ranker": "nope"}, "not one of the available choices"),
        ({"file": ""}, "This field is required"),
        ({"name": "a\u202eb"}, "visible characters"),
        ({"name": "x" * 201}, "at most 200 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_and_what_was_typed_stays(world, change, complaint):
    data = {"ranker": "bm25", "file": SimpleUploadedFile("a", GOOD), "name": "kept"} | change
    answer = signed_in(world.dora).post(reverse("run-upload", args=["books"]), data)
    assert answer.status_code == 200
    assert complaint in text_of(answer)
    assert data["name"] in answer.content.decode()
    assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("again", [False, True])
def test_the_answer_to_a_small_run_is_the_run_itself(world, again):
    if again:
        make_run(collection=world.collection, text=GOOD.decode(), name="earlier")
    worker = threading.Thread(target=_work_one_job)
    worker.start()
    try:
        answer = upload(world, GOOD)
    finally:
        worker.join()
    run = Run.objects.get()
    assert answer["Location"] == reverse("run", args=["books", run.public_id])
    page = signed_in(world.dora).get(reverse("rankers", args=["books"]))
    assert ("earlier" if again else "my run") in text_of(page)


def _work_one_job() -> None:
    """As a worker does, for at most some seconds."""
    waiting = threading.Event()
    try:
        for _ in range(500):
            if work_jobs():
                return
            waiting.wait(0.01)
    finally:
        connection.close()


@pytest.mark.django_db
def test_the_same_content_under_a_new_name_is_said_to_be_stored_under_the_old_one(world):
    after_the_job(world, upload(world, GOOD))
    text = text_of(after_the_job(world, upload(world, GOOD, name="tuned")))
    run = Run.objects.get()
    assert (run.name, [one.name for one in run.aliases.all()]) == ("my run", ["tuned"])
    assert "bm25/my run" in text
    assert "did not work" not in text
    page = signed_in(world.dora).get(reverse("run", args=["books", run.public_id]))
    assert "Uploaded again as tuned." in text_of(page)
