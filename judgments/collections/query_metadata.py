"""The segment and weight of queries at a version of a list: a function of the version.

Of queries that the list had not judged by then nothing is kept: they have what they have now.
"""

from collections.abc import Iterable
from typing import Final

from django.db import connection
from django.db.models import QuerySet

from judgments.models import Query, QueryMetadataHistory
from judgments.versions.temporal import TraitChange
from touchstone.measures.traits import Traits

CHUNK: Final = 500  # queries asked for in one statement

_COLLECTION: Final = "(SELECT collection_id FROM judgments_judgmentlist WHERE id = %s)"

# the pks of the queries in a segment; parameters: as _in_segment gives them
_IN_SEGMENT: Final = f"""
SELECT q.id FROM judgments_query q WHERE q.collection_id = {_COLLECTION} AND q.segment = %s
    AND q.id NOT IN (SELECT p.query_id FROM judgments_querymetadatahistory p
        WHERE p.list_id = %s AND p.since <= %s AND p.until > %s)
UNION ALL
SELECT p.query_id FROM judgments_querymetadatahistory p
    WHERE p.list_id = %s AND p.segment = %s AND p.since <= %s AND p.until > %s
"""  # noqa: S608


def get_query_traits(
    *, list_id: int, version: int, query_ids: Iterable[int] | None = None
) -> dict[int, Traits]:
    """The traits by query at a version, of all queries of the collection or of those given."""
    now_qs = Query.objects.filter(collection__lists=list_id).order_by()
    then_qs = _past(list_id, version)
    if query_ids is None:
        return _overlaid(now_qs, then_qs)
    ids = sorted(set(query_ids))
    result: dict[int, Traits] = {}
    for start in range(0, len(ids), CHUNK):
        own = ids[start : start + CHUNK]
        result |= _overlaid(now_qs.filter(pk__in=own), then_qs.filter(query__in=own))
    return result


def list_segment_queries(*, list_id: int, version: int, segment: str) -> list[int]:
    """The pks of the queries that are in the segment at a version, judged or not."""
    with connection.cursor() as cursor:
        cursor.execute(_IN_SEGMENT, _in_segment(list_id, version, segment))
        return sorted(query_id for (query_id,) in cursor.fetchall())


def list_segments(*, list_id: int, version: int) -> list[str]:
    """The segments of the queries that are judged at a version, without the nameless one."""
    now = Query.objects.filter(collection__lists=list_id)
    then = _past(list_id, version)
    names = {
        name
        for rows in (now, then)
        for name in rows.order_by().values_list("segment", flat=True).distinct()
    }
    return [
        name
        for name in sorted(names - {""})
        if has_judged_in_segment(list_id=list_id, version=version, segment=name)
    ]


def has_judged_in_segment(*, list_id: int, version: int, segment: str) -> bool:
    """Whether any query of the segment is judged at a version, "" being those without a segment.

    It stops at the first: nearly always the first.
    """
    # `+`: as in get_judged
    sql = (
        f"SELECT EXISTS (SELECT 1 FROM ({_IN_SEGMENT}) own WHERE EXISTS ("  # noqa: S608
        + "SELECT 1 FROM judgments_judgment j WHERE j.list_id = %s AND j.query_id = own.id "
        + "AND +j.since <= %s AND (j.until IS NULL OR j.until > %s)))"
    )
    parameters = [*_in_segment(list_id, version, segment), list_id, version, version]
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return bool(cursor.fetchone()[0])


def list_trait_changes(*, list_id: int, before: int, after: int) -> list[TraitChange]:
    """The queries whose traits differ between two versions, in either order."""
    low, high = sorted((before, after))
    changed = QueryMetadataHistory.objects.filter(list=list_id, until__gt=low, until__lte=high)
    query_ids = set(changed.order_by().values_list("query", flat=True))
    if not query_ids:
        return []
    old = get_query_traits(list_id=list_id, version=before, query_ids=query_ids)
    new = get_query_traits(list_id=list_id, version=after, query_ids=query_ids)
    return [TraitChange(pk, old[pk], new[pk]) for pk in sorted(query_ids) if old[pk] != new[pk]]


def _past(list_id: int, version: int) -> QuerySet[QueryMetadataHistory]:
    rows = QueryMetadataHistory.objects.filter(list=list_id, since__lte=version, until__gt=version)
    return rows.order_by()


def _overlaid(
    now_qs: QuerySet[Query], then_qs: QuerySet[QueryMetadataHistory]
) -> dict[int, Traits]:
    # what is now first: traits that change in between are then found among the past ones
    now = {row[0]: Traits(*row[1:]) for row in now_qs.values_list("pk", "segment", "weight")}
    then = {row[0]: Traits(*row[1:]) for row in then_qs.values_list("query", "segment", "weight")}
    return now | then


def _in_segment(list_id: int, version: int, segment: str) -> list[int | str]:
    return [list_id, segment, list_id, version, version, list_id, segment, version, version]
