"""Traffic logs become frames: packed blocks, exact totals, one digest."""

import io

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from evaluation.samples.verifying import verify_samples
from judgments.jobs.services import submit_job, work_jobs
from judgments.models import Query, TrafficBlock, TrafficFrame
from judgments.permissions import NotFound
from judgments.samples.designs import QUERIES, Design
from judgments.samples.services import SampleRefused, request_sample
from judgments.traffic import packing, services
from judgments.traffic.queries import get_concentration, get_frame_page, get_traffic_page
from tests.builders import make_access, make_world
from tests.judgments.samples.builders import make_frame, make_sample
from touchstone.files.errors import FileRefused
from touchstone.sampling.frame_files import read_frame
from touchstone.sampling.traffic import read_traffic

pytestmark = pytest.mark.django_db


def held(frame: TrafficFrame) -> list[tuple[str, int, str]]:
    rows: list[tuple[str, int, str]] = []
    for block in frame.blocks.order_by("position"):
        texts = packing.unpack_texts(bytes(block.texts))
        codes = packing.unpack_segments(bytes(block.segments), len(texts)).tolist()
        counts = packing.unpack_searches(bytes(block.searches)).tolist()
        names = (frame.segments[code] for code in codes)
        rows += zip((text.decode() for text in texts), counts, names, strict=True)
    return rows


def test_a_frame_holds_every_query_and_makes_no_query_of_the_collection(monkeypatch):
    monkeypatch.setattr(services, "BLOCK", 4)
    world = make_world()
    traffic = {f"ünï {place}, “x”": place + 1 for place in range(11)}
    segments = {query: "abc"[count % 3] for query, count in traffic.items()}
    frame = make_frame(world=world, traffic=traffic, segments=segments)
    assert held(frame) == [(query, count, segments[query]) for query, count in traffic.items()]
    assert TrafficBlock.objects.filter(frame=frame).count() == 3
    assert (frame.queries, frame.searches) == (11, 66)
    assert Query.objects.filter(collection=world.collection).count() == len(world.queries)


def test_the_digest_is_that_of_the_same_frame_in_a_file():
    world = make_world()
    traffic = {"b": 3, "a": 9, "c": 1}
    segments = {"b": "y", "a": "z", "c": "x"}
    frame = make_frame(world=world, traffic=traffic, segments=segments)
    text = "query,searches,segment\nc,1,x\na,9,z\nb,3,y\n"
    file = read_frame(io.BytesIO(text.encode()), name="f", strata="segment", size="searches")
    assert frame.digest == file.digest


def test_the_same_traffic_is_refused_and_other_traffic_is_the_next():
    world = make_world()
    make_frame(world=world, traffic={"a": 2, "b": 1})
    with pytest.raises(services.TrafficRefused, match="already uploaded as"):
        make_frame(world=world, traffic={"b": 1, "a": 2})
    assert make_frame(world=world, traffic={"a": 2, "b": 2}).number == 2


def test_a_repeated_query_is_refused_with_both_lines_and_nothing_is_stored():
    world = make_world()
    file = io.BytesIO(b"query,searches\na,1\nb,2\na,3\n")
    with pytest.raises(FileRefused) as refused:
        services.store_frame(
            collection=world.collection,
            name="x",
            blocks=read_traffic(file, name="x.csv", columns={}),
            file_name="x.csv",
            by=None,
            at=timezone.now(),
        )
    assert [(one.line, one.message) for one in refused.value.problems] == [
        (4, "the query is already on line 2.")
    ]
    assert not TrafficFrame.objects.exists()


def test_a_log_is_imported_by_a_job_with_the_columns_that_a_person_named(settings, tmp_path):
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    world = make_world()
    job = submit_job(
        access=make_access(collection=world.collection),
        kind="import_traffic",
        file=ContentFile(b"what\thow often\tx\na \xe2\x80\x9cb\t5\t1\nc\t7\t1\n", name="log.tsv"),
        params={"name": "June", "columns": {"what": "query", "how often": "searches"}},
        at=timezone.now(),
    )
    work_jobs()
    job.refresh_from_db()
    assert job.state == "done", job.result
    assert job.result["next_page"] == ["traffic-frame", "books", 1]
    assert held(TrafficFrame.objects.get()) == [("a “b", 5, ""), ("c", 7, "")]


def test_the_pages_show_the_exact_concentration_and_strata_of_any_cuts():
    world = make_world()
    frame = make_frame(world=world, traffic={f"q {n}": max(1, 1000 // (n + 1)) for n in range(200)})
    counts = np.array(sorted((max(1, 1000 // (n + 1)) for n in range(200)), reverse=True))
    access = make_access(collection=world.collection, username="dora")
    page = get_frame_page(access=access, number=frame.number, cuts="60")
    (top,) = [row for row in page.top if row.share == 0.05]
    assert top.searches == counts[:10].sum() / counts.sum()
    head, tail = page.strata
    assert counts[: head.queries].sum() == head.searches >= 0.6 * counts.sum()
    assert counts[: head.queries - 1].sum() < 0.6 * counts.sum()
    assert head.queries + tail.queries == 200
    assert page.curve[-1] == (1.0, 1.0)
    assert get_frame_page(access=access, number=1, cuts="60, 50").problem
    assert get_frame_page(access=access, number=1, cuts="half").problem
    assert get_concentration(frame).total_queries == 200


def test_the_list_of_frames_counts_their_samples():
    world = make_world()
    make_sample(world=world)
    access = make_access(collection=world.collection, username="dora")
    page = get_traffic_page(access=access)
    assert [(row.name, row.samples) for row in page.frames] == [("May", 1)]
    assert [(row.list_slug, row.size) for row in page.samples] == [("main", 10)]


def test_a_lead_deletes_what_users_searched_for_and_samples_stay():
    world = make_world()
    plan = make_sample(world=world)
    lead = make_access(collection=world.collection)
    services.delete_queries(access=lead, frame=plan.frame, at=timezone.now())
    assert not TrafficBlock.objects.exists()
    assert plan.members.count() == 10
    page = get_frame_page(access=lead, number=1, cuts=None)
    assert (page.has_queries, page.log.queries) == (False, 63)
    assert verify_samples(judgment_list=world.judgments).problems == ()
    with pytest.raises(services.TrafficRefused, match="deleted already"):
        services.delete_queries(access=lead, frame=plan.frame, at=timezone.now())
    design = Design(by_size=False, cuts=(), n=4, allocation=QUERIES)
    with pytest.raises(SampleRefused, match="were deleted"):
        request_sample(
            access=lead,
            at=timezone.now(),
            frame=plan.frame,
            judgment_list=world.judgments,
            name="",
            design=design,
            seed=1,
        )
    dora = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        services.delete_queries(access=dora, frame=plan.frame, at=timezone.now())
