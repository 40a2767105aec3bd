"""Stubs, filled with the documents in an engine's responses."""

from collections.abc import Iterable
from typing import Final

from django.db import transaction
from django.utils import timezone

from evaluation.live_rankers.mapping import Row
from evaluation.models import Snapshot
from judgments.collections.services import load_documents
from judgments.models import Collection, Document
from touchstone.files.collections import DocumentRecord

TOGETHER: Final = 500  # documents that are written at once


class DocumentFiller:
    """Collects documents from answers and fills those that have no text yet, or are unknown.

    A document that has a text keeps it: what was judged is what is stored here.
    """

    def __init__(self, snapshot: Snapshot, *, is_on: bool) -> None:
        self._collection: Collection = snapshot.source.ranker.collection
        self._by = snapshot.created_by
        self._is_on = is_on
        self._seen: set[str] = set()
        self._rows: dict[str, Row] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Take the documents of an answer."""
        if not self._is_on:
            return
        for row in rows:
            if row.id not in self._seen and (row.title or row.text or row.url):
                self._seen.add(row.id)
                self._rows[row.id] = row
        if len(self._rows) >= TOGETHER:
            self.fill()

    def fill(self) -> None:
        """Write what was collected."""
        rows, self._rows = self._rows, {}
        if not rows:
            return
        with transaction.atomic():
            # a concurrent upload of documents comes before or after
            Collection.objects.select_for_update(no_key=True).get(pk=self._collection.pk)
            documents = Document.objects.filter(collection=self._collection, is_stub=False)
            known = set(documents.filter(docid__in=rows).values_list("docid", flat=True))
            records = [
                DocumentRecord(
                    doc_id=row.id, title=row.title, text=row.text, url=row.url, fields={}, line=0
                )
                for row in rows.values()
                if row.id not in known
            ]
            if records:
                load_documents(
                    collection=self._collection, records=records, by=self._by, at=timezone.now()
                )
