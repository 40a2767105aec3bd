"""`import_clicks`: a click log, in any number of files, into a collection."""

from pathlib import PurePath
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = (
        "Import a click log (UBI NDJSON or CSV, gzipped or not, or Parquet) into a collection. "
        "Several files are one log. All or nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("collection", metavar="COLLECTION")
        parser.add_argument("files", metavar="FILE", nargs="+")
        parser.add_argument("--name", help="display name (default: the first file's)")
        parser.add_argument(
            "--impressions",
            nargs="+",
            metavar="ACTION",
            help="action names that count as impressions (default: impression)",
        )
        parser.add_argument(
            "--clicks",
            nargs="+",
            metavar="ACTION",
            help="action names that count as clicks (default: click)",
        )
        parser.add_argument(
            "--rank-base",
            type=int,
            choices=(0, 1),
            help="rank of the first result (default: the application's smallest rank, if 0 or 1)",
        )
        parser.add_argument(
            "--join",
            action="store_true",
            help="look up the query text by query_id for events without user_query",
        )
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.clicks.services import Reading, import_clicks
        from judgments.management.lookup import CommandRefused, get_author, get_collection
        from touchstone.clicks.ubi import USUAL_ACTIONS, Actions

        files = options["files"]
        actions = Actions(
            tuple(options["impressions"] or USUAL_ACTIONS.impressions),
            tuple(options["clicks"] or USUAL_ACTIONS.clicks),
        )
        if set(actions.impressions) & set(actions.clicks):
            message = "--impressions and --clicks can’t name the same action."
            raise CommandRefused("same_action", message)
        log = import_clicks(
            collection=get_collection(options["collection"]),
            name=options["name"] or PurePath(files[0]).name,
            files=[(path, path) for path in files],
            reading=Reading(actions, options["join"], options["rank_base"]),
            by=get_author(options["by"]),
            at=timezone.now(),
        )
        names = ("number", "records", "impressions", "clicks", "known_queries", "known_documents")
        return {"collection": options["collection"]} | {name: getattr(log, name) for name in names}
