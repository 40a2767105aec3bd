"""Loading stored rankings."""

from collections.abc import Sequence

import numpy as np
from django.db import connection

from evaluation.packing import unpack_ranked
from evaluation.scoring import StoredRankings
from judgments.bulk import rows_list, values_list


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
