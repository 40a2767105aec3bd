"""What queries were, kept for the versions of lists that were made while they were it."""

from collections.abc import Mapping
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Max

from judgments.collections.queries import map_queries
from judgments.models import Collection, JudgmentList, JudgmentVersion, QueryMetadataHistory, User
from judgments.storage.bulk import insert_rows, rows_list
from judgments.versions.services import make_version
from touchstone.measures.traits import Traits

COLUMNS = ("list_id", "query_id", "segment", "weight", "since", "until")


def commit_traits(
    *, collection: Collection, before: Mapping[str, Traits], by: User | None, at: datetime
) -> list[JudgmentVersion]:
    """Make a version of each list that has judged queries whose traits have just changed.

    before: the traits, by qid, that the queries had until then. Runs in the transaction that
    changed them, so that no version is ever seen with the traits of another.
    """
    if not before:
        return []
    pks = map_queries(collection=collection, qids=before)
    traits = {pks[qid]: own for qid, own in before.items()}
    with transaction.atomic():
        # no query can be judged for the first time between the look at the list and the version
        lists = JudgmentList.objects.select_for_update(no_key=True).filter(collection=collection)
        made = [_commit(own, traits, by=by, at=at) for own in lists.order_by("pk")]
    return [version for version in made if version is not None]


def _commit(
    judgment_list: JudgmentList, before: Mapping[int, Traits], *, by: User | None, at: datetime
) -> JudgmentVersion | None:
    judged = _ever_judged(judgment_list, before)
    if not judged:
        return None
    named = "1 query has" if len(judged) == 1 else f"{len(judged):,} queries have"
    version = make_version(
        judgment_list,
        by=by,
        at=at,
        reason=f"{named} a different segment or weight",
        source=JudgmentVersion.Source.QUERIES,
    )
    ends = QueryMetadataHistory.objects.filter(list=judgment_list).order_by().values("query")
    since = dict(ends.annotate(last=Max("until")).values_list("query", "last"))
    rows = [
        (judgment_list.pk, query_id, *before[query_id], since.get(query_id, 1), version.number)
        for query_id in judged
    ]
    insert_rows(QueryMetadataHistory, COLUMNS, rows)
    return version


def _ever_judged(judgment_list: JudgmentList, query_ids: Mapping[int, Traits]) -> list[int]:
    """Those that have a judgment in any version of the list."""
    asked, parameters = rows_list(query_ids)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT asked.id FROM {asked} WHERE EXISTS (SELECT 1 FROM judgments_judgment j "  # noqa: S608
            + "WHERE j.list_id = %s AND j.query_id = asked.id AND +j.since <= %s) "
            + "ORDER BY asked.id",
            [*parameters, judgment_list.pk, judgment_list.head],
        )
        return [query_id for (query_id,) in cursor.fetchall()]
