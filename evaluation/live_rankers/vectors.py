"""Vectors of queries: read from a file, stored once, and put into requests."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from evaluation.live_rankers.configuration import Configuration
from evaluation.models import LiveRevision, QueryVector, QueryVectors, Ranker
from judgments.audit import services as audit
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.models import Job, Query, User
from judgments.permissions import Access, NotFound, check_may_upload_runs
from judgments.rest.uploads import Upload
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.json_lines import JsonRefusedError, json_object
from touchstone.files.reading import MB, Limits, Progress, read_lines

Vector = npt.NDArray[np.float32]

KIND: Final = "import_vectors"
MOST_DIMENSIONS: Final = 4_096
LIMITS: Final = Limits(line=1 * MB)
BATCH: Final = 500


def read_vectors(
    file: BinaryIO, *, name: str, progress: Progress | None = None
) -> Iterator[tuple[int, str, Vector]]:
    """Line, query id and vector of each line: {"query_id": "q1", "vector": [0.12, …]}.

    Raises FileRefused for lines of another form, an id twice, vectors of different lengths, and
    numbers that are not finite as 32-bit floats.
    """
    problems = Problems(name)
    first: dict[str, int] = {}
    dimensions = 0
    for line, text in read_lines(file, limits=LIMITS, problems=problems, progress=progress):
        parsed = _parse(line, text, problems) if text.strip(" \t") else None
        if parsed is None:
            continue
        qid, vector = parsed
        if qid in first:
            message = f"duplicate query {quoted(qid)} (first on line {first[qid]})."
            problems.add(line, Rule.DUPLICATE, message)
        elif dimensions and len(vector) != dimensions:
            message = f"{len(vector):,} numbers; the vectors before have {dimensions:,}."
            problems.add(line, Rule.FIELD, message)
        else:
            first[qid], dimensions = line, len(vector)
            yield line, qid, vector
    problems.raise_if_any()
    if not first:
        raise problems.stop(1, Rule.EMPTY, "no vectors.")


def _parse(line: int, text: str, problems: Problems) -> tuple[str, Vector] | None:
    try:
        values = json_object(text)
    except JsonRefusedError as refused:
        problems.add(line, refused.rule, refused.message, column=refused.column)
        return None
    qid, vector = values.get("query_id"), _vector_of(values.get("vector"))
    if not isinstance(qid, str) or not qid:
        problems.add(line, Rule.FIELD, "query_id is missing, or not a string.")
    elif vector is None:
        message = f"vector is not an array of 1 to {MOST_DIMENSIONS:,} finite numbers."
        problems.add(line, Rule.FIELD, message)
    else:
        return qid, vector
    return None


def _vector_of(value: object) -> Vector | None:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_DIMENSIONS:
        return None
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in value):
        return None
    with np.errstate(over="ignore"):
        vector = np.array(value, np.float64).astype("<f4")
    return vector if np.isfinite(vector).all() else None


def store_vectors(
    *,
    ranker: Ranker,
    vectors: Iterable[tuple[int, str, Vector]],
    file_name: str,
    by: User | None,
    at: datetime,
    work: Work | None = None,
) -> QueryVectors:
    """Store a ranker's next vectors; all or nothing.

    A revision that uses vectors gets a successor that uses these. work: the job that this ends.
    Raises FileRefused for a query that the collection does not have.
    """
    problems = Problems(file_name)
    queries = dict(Query.objects.filter(collection=ranker.collection_id).values_list("qid", "pk"))
    rows: list[tuple[int, bytes]] = []
    dimensions = 0
    for line, qid, vector in vectors:
        if qid not in queries:
            problems.add(line, Rule.ID, f"the collection has no query {quoted(qid)}.")
            continue
        dimensions = len(vector)
        rows.append((queries[qid], vector.tobytes()))
    problems.raise_if_any()
    rows.sort()
    digest = sha256(b"".join(b"%d:%b" % row for row in rows)).hexdigest()
    with transaction.atomic():
        Ranker.objects.select_for_update(no_key=True).get(pk=ranker.pk)
        own = QueryVectors.objects.filter(ranker=ranker)
        stored = QueryVectors.objects.create(
            ranker=ranker,
            number=(own.aggregate(last=Max("number"))["last"] or 0) + 1,
            dimensions=dimensions,
            queries=len(rows),
            sha256=digest,
            created_at=at,
            created_by=by,
        )
        QueryVector.objects.bulk_create(
            (QueryVector(vectors=stored, query_id=pk, values=packed) for pk, packed in rows),
            batch_size=BATCH,
        )
        audit.record(
            collection=ranker.collection,
            actor=by,
            at=at,
            action="live.vectors_imported",
            subject=ranker.slug,
            after={"vectors": stored.number, "queries": len(rows), "dimensions": dimensions},
        )
        _use_from_now_on(stored, by=by, at=at)
        if work is not None:
            page = ["live", ranker.collection.slug, ranker.slug]
            work.finish({"queries": len(rows), "dimensions": dimensions, "next_page": page})
    return stored


def _use_from_now_on(stored: QueryVectors, *, by: User | None, at: datetime) -> None:
    last = LiveRevision.objects.filter(source__ranker=stored.ranker).order_by("-number").first()
    if last is None or not Configuration.from_json(last.configuration).vectors:
        return
    LiveRevision.objects.create(
        source_id=last.source_id,
        number=last.number + 1,
        configuration=last.configuration | {"vectors": stored.number},
        created_at=at,
        created_by=by,
    )


@dataclass(frozen=True)
class VectorsRow:
    """Vectors as they were uploaded. dimensions: of each. queries: how many have one."""

    number: int
    dimensions: int
    queries: int
    sha256: str
    created_at: datetime


def list_vectors(*, ranker: Ranker) -> list[VectorsRow]:
    """What was uploaded for a ranker, newest first; the caller has checked who asks."""
    own = QueryVectors.objects.filter(ranker=ranker).order_by("-number")
    return [
        VectorsRow(one.number, one.dimensions, one.queries, one.sha256, one.created_at)
        for one in own
    ]


def submit_vectors(*, access: Access, ranker: Ranker, file: Upload, at: datetime) -> Job:
    """Have a worker import the vectors of a ranker's queries; for researchers and leads."""
    check_may_upload_runs(access)
    if ranker.collection_id != access.collection.pk:
        raise NotFound("ranker")
    params = {"ranker": ranker.pk, "retry_page": ["live", access.collection.slug, ranker.slug]}
    return submit_job(access=access, kind=KIND, file=file, params=params, at=at)


def get_vectors(
    *, ranker_id: int, configuration: Configuration, query_ids: Iterable[int]
) -> dict[int, tuple[float, ...]]:
    """The vectors of some queries (pk), as a revision uses them; of none where it uses none."""
    if not configuration.vectors:
        return {}
    own = QueryVector.objects.filter(
        vectors__ranker=ranker_id, vectors__number=configuration.vectors, query__in=list(query_ids)
    )
    return {
        query: tuple(np.frombuffer(bytes(packed), "<f4").tolist())
        for query, packed in own.values_list("query", "values")
    }


def work_on_vectors(work: Work) -> None:
    """The job kind `import_vectors`. params: ranker, its id."""
    ranker = Ranker.objects.select_related("collection").get(
        pk=work.params["ranker"], collection=work.collection_id
    )
    author = work.created_by_id
    with work.open() as file:
        store_vectors(
            ranker=ranker,
            vectors=read_vectors(file, name=work.file_name, progress=work.progress),
            file_name=work.file_name,
            by=None if author is None else User.objects.get(pk=author),
            at=timezone.now(),
            work=work,
        )
