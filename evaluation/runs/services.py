"""Runs: taken in whole or not at all, withdrawn but never deleted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.utils import timezone

from evaluation.models import Ranker, Ranking, Run, RunAlias
from evaluation.permissions import RunRefused, check_may_withdraw
from evaluation.runs.details import RunDetails
from evaluation.runs.findings import FileFindings, OrderedBy, get_findings
from evaluation.runs.names import name_of
from judgments.audit import services as audit
from judgments.collections.queries import Keys, find_documents, map_queries
from judgments.collections.services import ensure_documents, ensure_queries
from judgments.jobs.kinds import Work
from judgments.models import JudgmentList, Query, User
from judgments.permissions import Access, NotFound, check_may_upload_runs
from judgments.storage.bulk import insert_rows
from judgments.waking import wake
from touchstone.files.errors import SHOWN, FileProblem, FileRefused, quoted
from touchstone.files.reading import Source
from touchstone.files.trec import RunFile, read_run
from touchstone.measures.ordering import rank_orders
from touchstone.measures.packing import Packed, pack, run_digest
from touchstone.measures.wording import answers_words

Progress = Callable[[int], None]
TOGETHER = 16 * 1024 * 1024  # bytes of rankings that go into the database at once
LONGEST_NAME = 200
NO_DETAILS = RunDetails()
UNKNOWN_QUERY = "unknown-query"
UNKNOWN_DOCUMENT = "unknown-document"


@dataclass(frozen=True)
class RunImported:
    """What an import did. created: False where the same content was there already.

    queries: that the run answers. collection_queries: those that the collection has. findings: in
    the file. note: what the person who uploaded it has to know; "" where it was stored as asked.
    """

    run: Run
    created: bool
    queries: int
    rows: int
    collection_queries: int
    findings: FileFindings
    note: str

    @property
    def answers_words(self) -> str:
        """How many queries the run answers; "" where it answers all."""
        return answers_words(self.queries, self.collection_queries)


@dataclass(frozen=True, eq=False)
class ReadRun:
    """A run file that has been read, and what can be worked out of it without the database.

    order: the rank order of each query's documents, as positions among them, query by query.
    digest: of the content.
    """

    file: RunFile
    order: npt.NDArray[np.int32]
    digest: str


def import_run(
    *,
    access: Access,
    ranker: Ranker,
    source: Source,
    name: str,
    file_name: str,
    at: datetime,
    create: bool = False,
    progress: Progress | None = None,
) -> RunImported:
    """Take a TREC run as one of the ranker's, all of it or nothing; for researchers and leads.

    source: a path or a binary file, gzipped or not. file_name: what problems call it.
    create: unknown queries and documents become stubs instead of being refused.
    progress: called with the number of bytes of the source read so far.
    The same content again returns the run that has it; another name becomes its alias.
    Raises FileRefused, which names every problem with its line; RunRefused for the name.
    """
    check_may_upload_runs(access)
    if ranker.collection_id != access.collection.pk:
        raise NotFound("ranker")
    return store_run(
        ranker=ranker,
        read=read_run_file(source=source, file_name=file_name, progress=progress),
        name=name,
        by=access.user,
        at=at,
        create=create,
    )


def read_run_file(
    *,
    source: Source,
    file_name: str,
    order: OrderedBy = "score",
    progress: Progress | None = None,
) -> ReadRun:
    """The part of an import that needs no database, and so should hold no transaction open.

    order: "rank" lets a file's rank column decide instead of its scores.
    """
    file = read_run(source, name=file_name, progress=progress, by_rank=order == "rank")
    # what is made of some queries at once takes little memory
    ranked = np.concatenate([_order(chunk) for chunk in file.chunks()])
    return ReadRun(file, ranked, run_digest(file.rankings(by_id=True)))


def _order(file: RunFile) -> npt.NDArray[np.int32]:
    places = rank_orders(file.ids, file.starts, file.scores)
    return (places - np.repeat(file.starts[:-1], np.diff(file.starts))).astype(np.int32)


def store_run(
    *,
    ranker: Ranker,
    read: ReadRun,
    name: str,
    by: User | None,
    at: datetime,
    create: bool,
    details: RunDetails = NO_DETAILS,
    is_named: bool = True,
) -> RunImported:
    """`import_run` of a file that has been read, without a viewer; may run in a transaction.

    details: of a new run; one that is there already keeps its own. is_named: False where no one
    asked for the name: it becomes no alias, and where it is taken, a number is put behind it.
    """
    check_run_name(name)
    with transaction.atomic():
        # one upload after the other, so that no content and no name is taken twice
        Ranker.objects.select_for_update(no_key=True).get(pk=ranker.pk)
        run = _same_content(ranker, read)
        if run is not None:
            other = _name_again(run, name=name, by=by, at=at) if is_named else ""
            note = f"This content is already stored as {name_of(run)}{other and f'; {other}'}."
            return _imported(run, read, created=False, note=note)
        if not is_named:
            name = _free_name(ranker, name)
        elif _has_name(ranker, name):
            message = f"{ranker.slug} already has a run named {name}. Choose another name."
            raise RunRefused("name_taken", message)
        run = _store(ranker, read, details, name=name, by=by, at=at, create=create)
    return _imported(run, read, created=True)


def work_on_run(work: Work) -> None:
    """The job kind `import_run`.

    params: ranker (slug), name, is_named, create, order; parameters, commit, tags.
    """
    with work.open() as source:
        read = read_run_file(
            source=source,
            file_name=work.file_name,
            order=work.params.get("order", "score"),
            progress=work.progress,
        )
    ranker = Ranker.objects.select_related("collection").get(
        collection=work.collection_id, slug=work.params["ranker"]
    )
    by = None if work.created_by_id is None else User.objects.get(pk=work.created_by_id)
    with transaction.atomic():
        done = store_run(
            ranker=ranker,
            read=read,
            name=str(work.params["name"]),
            by=by,
            at=timezone.now(),
            create=bool(work.params["create"]),
            # a job that an older version submitted has none of these
            is_named=bool(work.params.get("is_named", True)),
            details=RunDetails(
                work.params.get("parameters", {}),
                work.params.get("commit", ""),
                work.params.get("tags", ()),
            ),
        )
        work.finish(
            {
                "ranker": ranker.slug,
                "run": str(done.run.public_id),
                "created": done.created,
                "queries": done.queries,
                "collection_queries": done.collection_queries,
                "rows": done.rows,
                "name": done.run.name,
                "note": done.note,
                "remarks": done.findings.remarks,
                "next_page": ["run", ranker.collection.slug, str(done.run.public_id)],
            }
        )


def withdraw_run(*, access: Access, run: Run, at: datetime) -> None:
    """Remove a run from every leaderboard permanently; for leads and its uploader.

    Its rows stay, so what was computed of it can still be explained.
    """
    check_may_withdraw(access, run)
    with transaction.atomic():
        taken = Run.objects.filter(pk=run.pk, withdrawn_at__isnull=True).update(withdrawn_at=at)
        if not taken:
            raise RunRefused("already_withdrawn", "This run is already withdrawn.")
        audit.record_by(
            access,
            at,
            "run.withdrawn",
            f"{run.ranker.slug}/{run.name}",
            before={"run": str(run.public_id)},
        )
    run.withdrawn_at = at


def run_name_of(file_name: str) -> str:
    """What to call a run whose file is called so: the name without what says its kind."""
    name = file_name
    for ending in (".gz", ".run", ".txt", ".trec", ".res"):
        name = name.removesuffix(ending)
    return (name.strip() or file_name)[:LONGEST_NAME]


def check_run_name(name: str) -> None:
    """Raises RunRefused for a name that no one could read."""
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise RunRefused(
            "name_invalid", f"A run’s name must have 1 to {LONGEST_NAME} visible characters."
        )


def _same_content(ranker: Ranker, read: ReadRun) -> Run | None:
    return (
        Run.objects.select_related("ranker")
        .filter(ranker=ranker, sha256=read.digest, withdrawn_at__isnull=True)
        .first()
    )


def _name_again(run: Run, *, name: str, by: User | None, at: datetime) -> str:
    """Make another name of a run its alias, unless it has it already; what became of the name."""
    if name == run.name:
        return ""
    if not run.aliases.filter(name=name).exists():
        if _has_name(run.ranker, name):
            return f"the name “{name}” is taken by another run"
        RunAlias.objects.create(run=run, ranker=run.ranker, name=name, created_at=at, created_by=by)
        audit.record(
            collection=run.ranker.collection,
            actor=by,
            at=at,
            action="run.alias_added",
            subject=name_of(run),
            after={"run": str(run.public_id), "alias": name},
        )
    return f"“{name}” is an alias of it"


def _has_name(ranker: Ranker, name: str) -> bool:
    named = {"ranker": ranker, "name": name}
    return Run.objects.filter(**named).exists() or RunAlias.objects.filter(**named).exists()


def _free_name(ranker: Ranker, wanted: str) -> str:
    """The name; where it is taken, with a number from 2 on behind it."""
    name, number = wanted, 1
    while _has_name(ranker, name):
        number += 1
        name = f"{wanted[:180]} ({number})"
    return name


def _imported(run: Run, read: ReadRun, *, created: bool, note: str = "") -> RunImported:
    known = Query.objects.filter(collection=run.ranker.collection_id).count()
    findings = get_findings(collection=run.ranker.collection, file=read.file)
    return RunImported(run, created, run.query_count, run.row_count, known, findings, note)


def _store(
    ranker: Ranker,
    read: ReadRun,
    details: RunDetails,
    *,
    name: str,
    by: User | None,
    at: datetime,
    create: bool,
) -> Run:
    file = read.file
    queries, documents = _resolve(ranker, file, create=create)
    run = Run.objects.create(
        ranker=ranker,
        name=name,
        tag=file.tag[:200],
        sha256=read.digest,
        query_count=len(file.query_ids),
        row_count=len(file),
        parameters=dict(details.parameters),
        commit=details.commit,
        tags=list(details.tags),
        created_at=at,
        created_by=by,
    )
    _insert_rankings(_packed(run.pk, read, queries, documents))
    audit.record(
        collection=ranker.collection,
        actor=by,
        at=at,
        action="run.imported",
        subject=f"{ranker.slug}/{name}",
        after={
            "run": str(run.public_id),
            "file": file.name,
            "sha256": read.digest,
            "queries": run.query_count,
            "rows": run.row_count,
        },
    )
    lists = JudgmentList.objects.filter(collection_id=ranker.collection_id, head__gt=0)
    for list_id in lists.values_list("pk", flat=True):
        wake("evaluation.refresh", list_id)
    return run


def _insert_rankings(rankings: Iterator[tuple[int, int, Packed]]) -> None:
    columns = ("run_id", "query_id", "documents", "scores", "order")
    rows: list[tuple[object, ...]] = []
    size = 0
    for run_id, query_id, packed in rankings:
        rows.append((run_id, query_id, *packed))
        size += sum(map(len, packed))
        if size >= TOGETHER:
            insert_rows(Ranking, columns, rows)
            rows.clear()
            size = 0
    insert_rows(Ranking, columns, rows)


def _packed(
    run_id: int,
    read: ReadRun,
    queries: Mapping[str, int],
    documents: Keys,
) -> Iterator[tuple[int, int, Packed]]:
    """One row a query, with the primary keys of its documents."""
    file = read.file
    for position, qid in enumerate(file.query_ids):
        span = file.span(position)
        packed = pack(documents[file.codes[span]], file.scores[span], read.order[span])
        yield run_id, queries[qid], packed


def _resolve(ranker: Ranker, file: RunFile, *, create: bool) -> tuple[Mapping[str, int], Keys]:
    """The primary keys of the file's queries and documents. Raises FileRefused for unknown ones."""
    collection = ranker.collection
    queries = map_queries(collection=collection, qids=file.query_ids)
    documents = find_documents(collection=collection, docids=file.documents)
    new = np.flatnonzero(documents == 0)
    if (len(queries) < len(file.query_ids) or len(new)) and not create:
        raise _unknown(file, queries, documents)
    if len(queries) < len(file.query_ids):
        queries = ensure_queries(collection=collection, qids=file.query_ids)
    documents[new] = ensure_documents(collection=collection, docids=file.documents.at(new))
    return queries, documents


def _unknown(file: RunFile, queries: Mapping[str, int], documents: Keys) -> FileRefused:
    """Names the first lines with a query or a document that the collection does not have."""
    no_query = np.repeat([qid not in queries for qid in file.query_ids], np.diff(file.starts))
    no_document = (documents == 0)[file.codes]
    pairs = np.flatnonzero(no_query | no_document)
    first = pairs[np.argsort(file.lines[pairs], kind="stable")][:SHOWN]
    rows = np.searchsorted(file.starts, first, "right") - 1
    problems: list[FileProblem] = []
    for pair, row in zip(first.tolist(), rows.tolist(), strict=True):
        if no_query[pair]:
            message = f"this collection has no query {quoted(file.query_ids[row])}."
            problems.append(file.problem(pair, UNKNOWN_QUERY, message))
        else:
            (docid,) = file.ids.at(slice(pair, pair + 1)).texts()
            message = f"this collection has no document {quoted(docid)}."
            problems.append(file.problem(pair, UNKNOWN_DOCUMENT, message))
    return FileRefused(tuple(problems), len(pairs))
