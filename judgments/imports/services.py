"""Files into a collection: the work behind the import pages and commands."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from django.db import transaction
from django.utils import timezone

from judgments.collections.queries import Keys, find_documents, map_queries, map_query_texts
from judgments.collections.services import (
    ensure_documents,
    ensure_queries,
    load_documents,
    load_queries,
)
from judgments.jobs.kinds import Work
from judgments.models import Collection, JudgmentList, JudgmentVersion, User
from judgments.versions.parts import check_not_busy, is_in_parts, take_back
from judgments.versions.services import PairGrades, commit_grades
from judgments.versions.takes import check_takes_people
from touchstone.files.collections import read_documents, read_queries
from touchstone.files.errors import Problems
from touchstone.files.format_detection import AUTO, choose_format
from touchstone.files.ratings import FORMATS, TREC, RatingFormat, grade_ratings, read_ratings
from touchstone.files.reading import Progress, Source
from touchstone.files.signals import Signals
from touchstone.files.trec import QrelsFile, read_qrels
from touchstone.scales import Scale


@dataclass(frozen=True)
class QrelsImported:
    """What importing qrels did. version: None if the list held all of it already."""

    version: JudgmentVersion | None
    pairs: int
    new_queries: int
    new_documents: int

    def counts(self) -> dict[str, int | None]:
        """The same as plain values."""
        version = self.version
        return {
            "version": version.number if version else None,
            "pairs": self.pairs,
            "added": version.added if version else 0,
            "changed": version.changed if version else 0,
            "new_queries": self.new_queries,
            "new_documents": self.new_documents,
        }


def import_qrels(
    *,
    judgment_list: JudgmentList,
    qrels: QrelsFile,
    create: bool,
    by: User | None,
    at: datetime,
    reason: str,
    signals: Signals | None = None,
    finish: Callable[[QrelsImported], None] = lambda _: None,
) -> QrelsImported:
    """Make the next version of the list with the grades of a file; all or nothing.

    signals: what the file's signals meant, which is kept with the version. finish: called in the
    transaction that makes the version; what it raises undoes all.

    Where many grades are written in parts, new queries and documents are written before, and stay
    as stubs if no version comes of it.

    Pairs that the file does not name keep their grades; a grade that is there already keeps its
    evidence. create: unknown queries and documents become stubs; without it they are refused.
    Raises FileRefused, which names each unknown id with the line where it first comes.
    """
    collection = judgment_list.collection
    check_takes_people(judgment_list)
    take_back(judgment_list.pk)
    check_not_busy(judgment_list)
    queries = map_queries(collection=collection, qids=qrels.query_ids)
    documents = find_documents(collection=collection, docids=qrels.documents)
    new_queries = len(qrels.query_ids) - len(queries)
    new = np.flatnonzero(documents == 0)
    if (new_queries or len(new)) and not create:
        raise _unknown_ids(qrels, queries, documents)
    result: list[QrelsImported] = []

    def end(version: JudgmentVersion | None) -> None:
        result.append(QrelsImported(version, len(qrels), new_queries, len(new)))
        finish(result[0])

    # the savepoint: as in `judgments.versions.parts.writing`
    whole = nullcontext() if is_in_parts(len(qrels)) else transaction.atomic(savepoint=False)
    with whole:
        if new_queries:
            queries = ensure_queries(collection=collection, qids=qrels.query_ids)
        documents[new] = ensure_documents(collection=collection, docids=qrels.documents.at(new))
        commit_grades(
            judgment_list=judgment_list,
            pairs=PairGrades(
                np.array([queries[one] for one in qrels.query_ids], np.int64),
                qrels.starts,
                documents,
                qrels.codes,
                qrels.grades,
            ),
            by=by,
            at=at,
            reason=reason.strip() or f"imported from {Path(qrels.name).name}",
            source=JudgmentVersion.Source.IMPORT,
            signals=signals.steps() if signals else (),
            finish=end,
        )
    return result[0]


def read_judgments(
    source: Source,
    *,
    collection: Collection,
    scale: Scale,
    name: str,
    form: RatingFormat = FORMATS[TREC],
    signals: Signals | None = None,
    progress: Progress | None = None,
) -> QrelsFile:
    """The grades of a file in any format, of the scale, every query by its id.

    collection: where the texts are looked up by which a file may name its queries.
    Raises FileRefused for what is wrong in it.
    """
    if form.reader is None and signals is None:
        return read_qrels(source, name=name, progress=progress, scale=scale)
    ratings = read_ratings(source, form, name=name, progress=progress)
    queries = None
    if form.by_text:
        texts = {rating.query for rating in ratings}
        queries = map_query_texts(collection=collection, texts=texts)
    return grade_ratings(ratings, name=name, scale=scale, signals=signals, queries=queries)


def _unknown_ids(qrels: QrelsFile, queries: dict[str, int], documents: Keys) -> Exception:
    problems = Problems(qrels.name)
    for position, query_id in enumerate(qrels.query_ids):
        if query_id not in queries:
            line = int(qrels.lines[qrels.span(position)].min())
            problems.add(line, "unknown-query", f"the collection has no query {query_id}.")
    first = np.full(len(qrels.documents), np.iinfo(np.int64).max)
    np.minimum.at(first, qrels.codes, qrels.lines)
    pairs = np.flatnonzero((documents == 0)[qrels.codes])
    # in order of first appearance
    new = qrels.codes[np.sort(pairs[np.unique(qrels.codes[pairs], return_index=True)[1]])]
    for doc_id, line in zip(qrels.documents.at(new).texts(), first[new].tolist(), strict=True):
        problems.add(line, "unknown-document", f"the collection has no document {doc_id}.")
    return problems.refusal()


def work_on_queries(work: Work) -> None:
    """The job kind `import_queries`. params: columns, as for `read_queries`."""
    with work.open() as file, transaction.atomic():
        loaded = load_queries(
            collection=Collection.objects.get(pk=work.collection_id),
            records=read_queries(
                file, name=work.file_name, columns=_columns(work), progress=work.progress
            ),
            by=_author(work),
            at=timezone.now(),
        )
        work.finish(asdict(loaded))


def work_on_documents(work: Work) -> None:
    """The job kind `import_documents`. params: columns, as for `read_queries`."""
    with work.open() as file, transaction.atomic():
        loaded = load_documents(
            collection=Collection.objects.get(pk=work.collection_id),
            records=read_documents(
                file, name=work.file_name, columns=_columns(work), progress=work.progress
            ),
            by=_author(work),
            at=timezone.now(),
        )
        work.finish(asdict(loaded))


def work_on_qrels(work: Work) -> None:
    """The job kind `import_qrels`. params: list (slug), reason, create, format, signals."""
    judgment_list = JudgmentList.objects.select_related("collection").get(
        collection=work.collection_id, slug=work.params["list"]
    )
    check_not_busy(judgment_list)
    scale = Scale.from_json(judgment_list.scale)
    signals = Signals.parse(str(work.params.get("signals", "")), scale=scale)
    with work.open() as file:
        recognised = choose_format(file, str(work.params.get("format", AUTO)))
        qrels = read_judgments(
            file,
            collection=judgment_list.collection,
            scale=scale,
            name=work.file_name,
            form=recognised.form,
            signals=signals,
            progress=work.progress,
        )
    read_as = {"remarks": [f"Read as {recognised.read_as}."]}
    import_qrels(
        judgment_list=judgment_list,
        qrels=qrels,
        create=bool(work.params["create"]),
        by=_author(work),
        at=timezone.now(),
        reason=str(work.params["reason"]),
        signals=signals,
        finish=lambda imported: work.finish(imported.counts() | read_as),
    )


def _columns(work: Work) -> dict[str, str]:
    return {str(name): str(part) for name, part in work.params.get("columns", {}).items()}


def _author(work: Work) -> User | None:
    return None if work.created_by_id is None else User.objects.get(pk=work.created_by_id)
