"""Reading rankers and runs: for choosing among them, for pools, and for their pages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection

from evaluation.models import Ranker, Run
from evaluation.runs.names import run_below, run_label
from judgments.permissions import Access, NotFound, check_may_see_rankings
from judgments.storage.bulk import rows_list, values_list
from touchstone.measures.packing import unpack_ranked

AT_ONCE = 2_000  # rankings unpacked together


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run as one may choose it."""

    run_id: int
    public_id: UUID
    name: str
    ranker_slug: str
    ranker_name: str
    queries: int
    rows: int
    created_at: datetime

    @property
    def run_below(self) -> str:
        """Its name where its ranker's stands beside it."""
        return run_below(self.ranker_name, f"{self.ranker_slug}/{self.name}")

    @property
    def label(self) -> str:
        """Its name with its ranker's."""
        return run_label(self.ranker_name, f"{self.ranker_slug}/{self.name}")


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """What a run returned first for a query: primary keys of documents, best first."""

    run_id: int
    query_id: int
    document_ids: list[int]


def get_ranker(*, access: Access, slug: str) -> Ranker:
    """A ranker of the collection, for those who may see rankings."""
    check_may_see_rankings(access)
    result = Ranker.objects.filter(collection=access.collection, slug=slug).first()
    if result is None:
        raise NotFound("ranker")
    result.collection = access.collection
    return result


def get_run(*, access: Access, public_id: UUID) -> Run:
    """A run of the collection, withdrawn or not, for those who may see rankings."""
    check_may_see_rankings(access)
    result = (
        Run.objects.select_related("ranker", "created_by")
        .filter(ranker__collection=access.collection, public_id=public_id)
        .first()
    )
    if result is None:
        raise NotFound("run")
    return result


def list_runs(*, access: Access) -> list[RunChoice]:
    """The runs of the collection that are not withdrawn, by ranker, the newest first."""
    check_may_see_rankings(access)
    runs = (
        Run.objects.select_related("ranker")
        .filter(ranker__collection=access.collection, withdrawn_at__isnull=True)
        .order_by("ranker__slug", "-pk")
    )
    return [
        RunChoice(
            run.pk,
            run.public_id,
            run.name,
            run.ranker.slug,
            run.ranker.name,
            run.query_count,
            run.row_count,
            run.created_at,
        )
        for run in runs
    ]


def list_ranked_documents(
    *, run_ids: Iterable[int], depth: int, query_ids: Iterable[int] | None = None
) -> Iterator[RankedQuery]:
    """The first `depth` documents of each ranking of the runs, for pools.

    query_ids: of these queries alone; None: of all. Sorted by query, then run.
    The caller has checked that the viewer may see rankings, and keeps them from annotators.
    """
    runs, parameter = values_list(sorted(set(run_ids)), "bigint")
    asked, more = ("", []) if query_ids is None else rows_list(query_ids)
    sql = (
        'SELECT r.run_id, r.query_id, r.documents, r."order" '
        + f"FROM {asked and asked + ' CROSS JOIN '} evaluation_ranking r "
        + f"WHERE r.run_id {runs} {asked and 'AND r.query_id = asked.id '}"
        + "ORDER BY r.query_id, r.run_id"
    )
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, [*more, parameter])
        while rows := cursor.fetchmany(AT_ONCE):
            yield from _first_documents(rows, depth)


def _first_documents(
    rows: list[tuple[int, int, bytes, bytes]], depth: int
) -> Iterator[RankedQuery]:
    ranked = unpack_ranked([row[2] for row in rows], [row[3] for row in rows])
    ends = np.minimum(ranked.starts[1:], ranked.starts[:-1] + depth)
    for position, (run_id, query_id, _, _) in enumerate(rows):
        first = ranked.documents[ranked.starts[position] : ends[position]]
        yield RankedQuery(run_id, query_id, first.tolist())
