"""Which pictures documents name: noted where they are loaded, and where fields are chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from judgments.models import Collection, DocumentPicture, Picture
from judgments.pictures.rules import LONGEST_SOURCE, Source, list_sources, take_data
from judgments.pictures.storing import keep_bytes
from judgments.storage.bulk import Among, values_list
from touchstone.files.collections import DocumentRecord


def keep_data(
    *, collection: Collection, records: Iterable[DocumentRecord]
) -> Iterator[DocumentRecord]:
    """The records, with `picture:<sha256>` where they held a picture as data, which is stored.

    Call it in the transaction in which the documents are loaded.
    """
    for record in records:
        fields, taken = take_data(record.fields)
        if taken:
            _name_pictures(collection, taken)
        yield replace(record, fields=fields) if taken else record


def name_pictures(
    *, collection: Collection, documents: Sequence[tuple[int, Mapping[str, Any]]]
) -> None:
    """Note which pictures these documents, (pk, fields), name.

    Call it under the collection's lock.
    """
    chosen = [one["field"] for one in collection.picture_fields]
    named = [
        (pk, field, position, source)
        for pk, fields in documents
        for field in chosen
        for position, source in enumerate(list_sources(fields.get(field)))
    ]
    pictures = _name_pictures(collection, [source for *_, source in named])
    before = DocumentPicture.objects.filter(Among("document", [pk for pk, _ in documents]))
    before.delete()
    DocumentPicture.objects.bulk_create(
        DocumentPicture(
            document_id=pk, field=field, position=position, picture_id=pictures[source.key]
        )
        for pk, field, position, source in named
    )


def _name_pictures(collection: Collection, sources: Sequence[Source]) -> dict[str, int]:
    """The pk of each picture by its key; new ones wait to be fetched or uploaded."""
    by_key = {source.key: source for source in sources}
    known = _map_pictures(collection, by_key)
    new = [_new_picture(collection, one) for key, one in by_key.items() if key not in known]
    if new:
        Picture.objects.bulk_create(new)
        known |= _map_pictures(collection, [picture.key for picture in new])
    for key, source in by_key.items():
        if source.data is not None:
            keep_bytes(known[key], source.data)
    return known


def _map_pictures(collection: Collection, keys: Iterable[str]) -> dict[str, int]:
    subquery, parameter = values_list(keys, "text")
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT key, id FROM "{Picture._meta.db_table}" '  # noqa: S608
            + f"WHERE collection_id = %s AND key {subquery}",
            [collection.pk, parameter],
        )
        return dict(cursor.fetchall())


def _new_picture(collection: Collection, source: Source) -> Picture:
    state, reason = Picture.State.MISSING, ""
    if len(source.name) > LONGEST_SOURCE:
        state, reason = Picture.State.REFUSED, "too_long"
    elif source.is_address:
        state = Picture.State.WAITING
    name = source.name[:LONGEST_SOURCE]
    return Picture(collection=collection, key=source.key, source=name, state=state, reason=reason)
