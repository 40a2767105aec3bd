"""`create_collection`: a collection from files."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = (
        "Create a collection and load its queries and documents: TSV (id, tab, text) or JSONL, "
        "gzipped or not. All or nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--queries", metavar="FILE")
        parser.add_argument("--documents", metavar="FILE")
        parser.add_argument("--name", help="display name (default: the slug)")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.collections.services import (
            create_collection,
            load_documents,
            load_queries,
        )
        from judgments.management.lookup import get_author
        from touchstone.files.collections import read_documents, read_queries

        at, by = timezone.now(), get_author(options["by"])
        result: dict[str, Any] = {"collection": options["slug"]}
        queries, documents = options["queries"], options["documents"]
        with transaction.atomic():
            made = create_collection(
                by=by, at=at, slug=options["slug"], name=options["name"] or options["slug"]
            )
            if queries:
                records = read_queries(queries, name=queries)
                loaded = load_queries(collection=made, records=records, by=by, at=at)
                result["queries"] = asdict(loaded)
            if documents:
                found = read_documents(documents, name=documents)
                loaded = load_documents(collection=made, records=found, by=by, at=at)
                result["documents"] = asdict(loaded)
        return result
