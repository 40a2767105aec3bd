"""A run as a file, to be evaluated elsewhere or uploaded again."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.models import Run
from evaluation.rankings.queries import list_answered, load_answers
from judgments.collections.queries import list_document_ids, list_query_ids
from touchstone.files.ids import id_problem
from touchstone.files.trec import format_run

AT_ONCE: Final = 50_000
MEDIA_TYPE: Final = "text/plain; charset=utf-8"


def file_name_of(run: Run) -> str:
    """What the file is called where it is kept."""
    return f"{run.ranker.slug}-{run.name}.run"


def write_run(*, run: Run, lines: int = AT_ONCE) -> Iterator[bytes]:
    """The run as TREC lines, about so many at a time; what they say has the run's SHA-256.

    Queries come in the collection's order, lines as they were in the file that was uploaded. The
    rank is the one that values are of: by score, then by descending document id.
    """
    collection = run.ranker.collection
    tag = run.ranker.slug if id_problem(run.tag) else run.tag
    query_ids = sorted(list_answered(run_ids=[run.pk]))
    step = max(1, lines * run.query_count // max(1, run.row_count))
    for start in range(0, len(query_ids), step):
        chunk = query_ids[start : start + step]
        answers = load_answers(run_id=run.pk, query_ids=chunk)
        qids = list_query_ids(collection=collection, pks=chunk)
        shown = np.unique(np.concatenate([answer.documents for answer in answers]))
        docids = list_document_ids(collection=collection, pks=shown.tolist())
        yield format_run(
            (
                (
                    qids[query_id],
                    [docids[document] for document in answer.documents.tolist()],
                    answer.scores.tolist(),
                    _ranks(answer.order).tolist(),
                )
                for query_id, answer in zip(chunk, answers, strict=True)
            ),
            tag=tag,
        )


def _ranks(order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rank of each line, from the lines best first."""
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks
