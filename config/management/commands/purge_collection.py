"""`purge_collection`: an archived collection goes for good, with all that belongs to it."""

import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = (
        "Delete an archived collection for good, with all that belongs to it: labels, judgments, "
        "runs, evaluations. It can't be undone, and is repeated by restore. On PostgreSQL, run it "
        "as the role that owns the tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("collection", metavar="COLLECTION")
        parser.add_argument("--dry-run", action="store_true", help="only list what would go")
        parser.add_argument(
            "--confirm", metavar="COLLECTION", help="its short name again, instead of a prompt"
        )
        parser.add_argument(
            "--force", action="store_true", help="though it was archived less than 30 days ago"
        )
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from config.privacy.purging import (
            PurgeRefused,
            check_may_purge,
            count_purge,
            purge_collection,
        )
        from judgments.management.lookup import get_author, get_collection

        collection, by = get_collection(options["collection"]), get_author(options["by"])
        slug, at, force = collection.slug, timezone.now(), options["force"]
        found = count_purge(collection=collection)
        self._list(found.rows, found.texts, found.files, found.names, is_quiet=options["json"])
        result = {"collection": slug, "purged": False, **asdict(found)}
        check_may_purge(collection=collection, at=at, force=force)
        if options["dry_run"]:
            return result
        typed = options["confirm"]
        if typed is None:
            self.stderr.write(f"This can’t be undone. Type {slug} to purge it:")
            typed = sys.stdin.readline().strip()
        if typed != slug:
            raise PurgeRefused("not_confirmed", f"Nothing was deleted: {typed!r} is not {slug}.")
        purged = purge_collection(collection=collection, by=by, at=at, force=force)
        return {"collection": slug, "purged": True, **asdict(purged)}

    def _list(self, rows: Any, *others: int, is_quiet: bool) -> None:
        if is_quiet:
            return
        named = dict(zip(("texts", "uploaded files", "imported names"), others, strict=True))
        for name, count in [*sorted(rows.items()), *named.items()]:
            if count:
                self.stdout.write(f"{count:>12,}  {name}")
