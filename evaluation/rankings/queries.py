"""Loading stored rankings."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from django.db import connection

from evaluation.models import Ranking
from judgments.storage.bulk import rows_list, values_list
from touchstone.measures.answers import Answer
from touchstone.measures.packing import unpack_documents, unpack_order, unpack_ranked, unpack_scores
from touchstone.measures.scoring import StoredRankings


def load_rankings(*, run_ids: Sequence[int], query_ids: Sequence[int]) -> StoredRankings:
    """The rankings of some runs for some queries, best first; positions as in the arguments."""
    asked, parameters = rows_list(query_ids)
    runs, parameter = values_list(run_ids, "bigint")
    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT r.run_id, r.query_id, r.documents, r."order" '
            + f"FROM {asked} CROSS JOIN evaluation_ranking r "
            + f"WHERE r.query_id = asked.id AND r.run_id {runs}",
            [*parameters, parameter],
        )
        rows = cursor.fetchall()
    run_rows = {run_id: row for row, run_id in enumerate(run_ids)}
    query_rows = {query_id: row for row, query_id in enumerate(query_ids)}
    return StoredRankings(
        np.fromiter((run_rows[row[0]] for row in rows), np.int64, len(rows)),
        np.fromiter((query_rows[row[1]] for row in rows), np.int64, len(rows)),
        unpack_ranked([row[2] for row in rows], [row[3] for row in rows]),
    )


def load_answers(*, run_id: int, query_ids: Sequence[int]) -> list[Answer]:
    """One run's rankings for some queries, with their scores; an empty one where it has none.

    query_ids: ascending.
    """
    if not query_ids:
        return []
    own = Ranking.objects.filter(run=run_id)
    rows = own.filter(query__gte=query_ids[0], query__lte=query_ids[-1])
    result = {
        query_id: Answer(
            documents := unpack_documents(bytes(packed)),
            unpack_scores(bytes(scores)),
            unpack_order(bytes(order), len(documents)),
        )
        for query_id, packed, scores, order in rows.values_list(
            "query_id", "documents", "scores", "order"
        )
    }
    return [result.get(query_id, NOTHING) for query_id in query_ids]


def load_all_answers(*, run_ids: Sequence[int], query_ids: Sequence[int]) -> list[Answer]:
    """The rankings of some runs for some queries, with their scores; run after run."""
    asked, parameters = rows_list(query_ids)
    runs, parameter = values_list(run_ids, "bigint")
    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT r.run_id, r.query_id, r.documents, r.scores, r."order" '
            + f"FROM {asked} CROSS JOIN evaluation_ranking r "
            + f"WHERE r.query_id = asked.id AND r.run_id {runs}",
            [*parameters, parameter],
        )
        result = {
            (run_id, query_id): Answer(
                documents := unpack_documents(bytes(packed)),
                unpack_scores(bytes(scores)),
                unpack_order(bytes(order), len(documents)),
            )
            for run_id, query_id, packed, scores, order in cursor.fetchall()
        }
    return [result.get((run, query), NOTHING) for run in run_ids for query in query_ids]


def list_answered(*, run_ids: Sequence[int]) -> list[int]:
    """The queries that any of the runs answers."""
    answered = Ranking.objects.filter(run__in=run_ids).order_by().values_list("query_id", flat=True)
    return list(answered.distinct())


NOTHING: Final = Answer(np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))
