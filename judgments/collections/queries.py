"""Reading collections: what is in them, and which row stands behind an id."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection, models

from judgments.models import Collection, Document, Query
from judgments.storage.bulk import FETCHED, values_list
from touchstone.files.id_columns import IdColumn

Keys = npt.NDArray[np.int32]


def map_queries(*, collection: Collection, qids: Iterable[str] | None = None) -> dict[str, int]:
    """The pk of each query by its id: of all queries, or of those given that exist."""
    return _map(Query, "qid", collection, qids)


def map_documents(*, collection: Collection, docids: Iterable[str] | None = None) -> dict[str, int]:
    """The pk of each document by its id: of all documents, or of those given that exist."""
    return _map(Document, "docid", collection, docids)


def find_documents(*, collection: Collection, docids: IdColumn) -> Keys:
    """The pk of each document, in the order of the ids; 0 for one that is not there."""
    keys = np.zeros(len(docids), np.int32)
    for part, texts in docids.parts():
        known = map_documents(collection=collection, docids=texts)
        keys[part] = [known.get(text, 0) for text in texts]
    return keys


def count_stubs(*, collection: Collection, docids: IdColumn) -> int:
    """How many of these documents are known by their id alone."""
    result = 0
    with connection.cursor() as cursor:
        for _, texts in docids.parts():
            subquery, parameter = values_list(texts, "text")
            cursor.execute(
                f'SELECT COUNT(*) FROM "{Document._meta.db_table}" '  # noqa: S608
                + f"WHERE collection_id = %s AND is_stub AND docid {subquery}",
                [collection.pk, parameter],
            )
            result += int(cursor.fetchone()[0])
    return result


def map_query_texts(*, collection: Collection, texts: set[str]) -> dict[str, list[str]]:
    """The ids of the queries that ask each text, blanks apart; where none does, that id's own."""
    result: dict[str, list[str]] = {}
    for qid, text in (
        Query.objects.filter(collection=collection).order_by("pk").values_list("qid", "text")
    ).iterator():
        asked = " ".join(text.split())
        if asked in texts:
            result.setdefault(asked, []).append(qid)
    ids = map_queries(collection=collection, qids=texts - result.keys())
    return result | {qid: [qid] for qid in ids}


def map_exact_texts(*, collection: Collection, texts: Iterable[str]) -> dict[str, int]:
    """The pk of the query with each text, as it stands; of several, the oldest."""
    subquery, parameter = values_list(texts, "text")
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT "text", MIN(id) FROM "{Query._meta.db_table}" '  # noqa: S608
            + f'WHERE collection_id = %s AND NOT is_stub AND "text" {subquery} GROUP BY "text"',
            [collection.pk, parameter],
        )
        return dict(cursor.fetchall())


def list_query_ids(*, collection: Collection, pks: Iterable[int]) -> dict[int, str]:
    """The id of each query by its pk."""
    return _names(Query, "qid", collection, pks)


def list_document_ids(*, collection: Collection, pks: Iterable[int]) -> dict[int, str]:
    """The id of each document by its pk."""
    return _names(Document, "docid", collection, pks)


def _map(
    model: type[models.Model], name: str, collection: Collection, ids: Iterable[str] | None
) -> dict[str, int]:
    sql = f'SELECT "{name}", id FROM "{model._meta.db_table}" WHERE collection_id = %s'  # noqa: S608
    parameters: list[Any] = [collection.pk]
    if ids is not None:
        subquery, parameter = values_list(ids, "text")
        sql += f' AND "{name}" {subquery}'
        parameters.append(parameter)
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        result: dict[str, int] = {}
        while rows := cursor.fetchmany(FETCHED):
            result.update(rows)
        return result


def _names(
    model: type[models.Model], name: str, collection: Collection, pks: Iterable[int]
) -> dict[int, str]:
    subquery, parameter = values_list(pks, str(model._meta.pk.rel_db_type(connection)))
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT id, "{name}" FROM "{model._meta.db_table}" '  # noqa: S608
            + f"WHERE collection_id = %s AND id {subquery}",
            [collection.pk, parameter],
        )
        return dict(cursor.fetchall())
