"""Drawing a sample, whose queries become queries of the collection."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from judgments.audit import services as audit
from judgments.collections.queries import map_exact_texts, map_queries
from judgments.collections.services import load_queries
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.lists.services import check_own_list
from judgments.models import (
    Job,
    JudgmentList,
    SampledQuery,
    SamplePlan,
    TrafficFrame,
    User,
    ZeroResultQuery,
)
from judgments.permissions import Access, check_may_lead
from judgments.samples.designs import Allocated, Design, allocate
from judgments.samples.drawing import Drawn, draw_queries, read_numbers
from judgments.samples.refreshing import find_refresh
from judgments.storage.bulk import insert_rows
from judgments.storage.serialization import from_plain, to_plain
from judgments.traffic.packing import unpack_histogram
from touchstone.errors import DomainError
from touchstone.files.collections import QueryRecord
from touchstone.sampling.designs import check_seed


class SampleRefused(DomainError):
    """The sample can't be stored like this."""


def request_sample(
    *,
    access: Access,
    at: datetime,
    frame: TrafficFrame,
    judgment_list: JudgmentList,
    name: str,
    design: Design,
    seed: int,
) -> Job:
    """Queue the drawing of a sample, which reads the whole frame; for leads.

    Raises SamplingError for a design that can't be drawn, SampleRefused where the log's queries
    were deleted.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    check_seed(seed)
    if not frame.blocks.exists():
        raise SampleRefused("no_queries", "The queries of this log were deleted.")
    allocate(design, unpack_histogram(bytes(frame.histogram)))
    return submit_job(
        access=access,
        kind="draw_sample",
        file=None,
        params={
            "frame": frame.number,
            "list": judgment_list.slug,
            "name": name,
            "design": to_plain(design),
            "seed": str(seed),
        },
        at=at,
        units=frame.queries,
    )


def work_on_sample(work: Work) -> None:
    """The job kind `draw_sample`. params: frame (number), list (slug), name, design, seed."""
    params = work.params
    author = work.created_by_id
    judgment_list = JudgmentList.objects.select_related("collection").get(
        collection=work.collection_id, slug=params["list"]
    )
    draw_sample(
        frame=TrafficFrame.objects.get(collection=work.collection_id, number=params["frame"]),
        judgment_list=judgment_list,
        name=str(params["name"]),
        design=from_plain(Design, params["design"]),
        seed=int(params["seed"]),
        by=None if author is None else User.objects.get(pk=author),
        at=timezone.now(),
        work=work,
    )


def draw_sample(
    *,
    frame: TrafficFrame,
    judgment_list: JudgmentList,
    name: str,
    design: Design,
    seed: int,
    by: User | None,
    at: datetime,
    work: Work | None = None,
) -> SamplePlan:
    """Draw a sample and store it; its queries become queries of the collection where they are none.

    A query of the collection with exactly the same text is the drawn one. work: the job that this
    ends. Raises SamplingError for a design that can't be drawn.
    """
    allocated = allocate(design, unpack_histogram(bytes(frame.histogram)))
    stored = allocated.as_json()
    numbers = read_numbers(frame, seed, work.progress if work else None)
    drawn = draw_queries(frame, stored, numbers)
    earlier = judgment_list.plans.filter(seed=seed).select_related("frame").order_by("-number")
    refresh = find_refresh(before=earlier.first(), design=stored, numbers=numbers)
    with transaction.atomic():
        locked = JudgmentList.objects.select_for_update(no_key=True).get(pk=judgment_list.pk)
        last = locked.plans.aggregate(last=Max("number"))["last"] or 0
        queries, new = _ensure_queries(judgment_list, drawn, by, at)
        plan = SamplePlan.objects.create(
            list=judgment_list,
            frame=frame,
            number=last + 1,
            name=name.strip()[:200] or f"Sample {last + 1}",
            seed=seed,
            design=stored,
            size=allocated.size,
            refresh=to_plain(refresh) if refresh else None,
            digest=drawn.digest(frame=frame.digest, seed=seed, design=stored),
            created_at=at,
            created_by=by,
        )
        _insert(plan, drawn, queries)
        audit.record(
            collection=judgment_list.collection,
            actor=by,
            at=at,
            action="sample.drawn",
            subject=plan.name,
            after=_told(plan, allocated),
        )
        if work is not None:
            slug = judgment_list.collection.slug
            page = ["sample", slug, judgment_list.slug, plan.number]
            work.finish({"queries": plan.size, "new_queries": new, "next_page": page})
    return plan


def _told(plan: SamplePlan, allocated: Allocated) -> dict[str, Any]:
    return {
        "list": plan.list.slug,
        "traffic": plan.frame.number,
        "queries": allocated.size,
        "seed": str(plan.seed),
        "digest": plan.digest,
    }


def _insert(plan: SamplePlan, drawn: Drawn, queries: Mapping[bytes, int]) -> None:
    parts = zip(
        drawn.texts,
        drawn.rows.tolist(),
        drawn.stratum.tolist(),
        drawn.pi.tolist(),
        drawn.searches.tolist(),
        strict=True,
    )
    insert_rows(
        SampledQuery,
        ("plan_id", "query_id", "row", "stratum", "pi", "searches"),
        [(plan.pk, queries[text], *rest) for text, *rest in parts],
    )


def _ensure_queries(
    judgment_list: JudgmentList, drawn: Drawn, by: User | None, at: datetime
) -> tuple[dict[bytes, int], int]:
    """The pk of each drawn query by its text, and how many are new to the collection."""
    collection = judgment_list.collection
    known = map_exact_texts(collection=collection, texts=[one.decode() for one in drawn.texts])
    records = {
        text: QueryRecord(query_id=_qid(text), text=text.decode(), segment=segment, line=line)
        for line, (text, segment) in enumerate(
            zip(drawn.texts, drawn.segments, strict=True), start=1
        )
        if text.decode() not in known
    }
    qids = [record.query_id for record in records.values()]
    if len(set(qids)) < len(qids) or map_queries(collection=collection, qids=qids):
        raise SampleRefused(
            "query_id_taken", "The collection has another query under the id of a drawn one."
        )
    if records:
        load_queries(collection=collection, records=records.values(), by=by, at=at)
    pks = map_queries(collection=collection, qids=qids)
    result = {text: pks[record.query_id] for text, record in records.items()}
    return result | {text.encode(): pk for text, pk in known.items()}, len(records)


def _qid(text: bytes) -> str:
    """The id of a drawn query that the collection did not have: it follows from its text."""
    return f"t{blake2b(text, digest_size=6).hexdigest()}"


def record_zero_results(
    *, access: Access, plan: SamplePlan, query_ids: Sequence[int], at: datetime
) -> None:
    """Note that rankers return nothing for these drawn queries; for leads. What is noted stays.

    plan: with its list.
    """
    check_may_lead(access)
    check_own_list(access, plan.list)
    with transaction.atomic():
        rows = [(plan.pk, query_id, at) for query_id in sorted(query_ids)]
        columns = ("plan_id", "query_id", "at")
        insert_rows(ZeroResultQuery, columns, rows, ignore_conflicts=True)
        audit.record_by(
            access, at, "sample.zero_results", plan.name, after={"queries": len(query_ids)}
        )
