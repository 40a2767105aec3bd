"""`export_qrels`: a version's grades as TREC qrels."""

import hashlib
from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, two_slugs


class Command(RefusingCommand):
    help = (
        "Print a version of a list as TREC qrels, in the canonical order whose SHA-256 a "
        "release names."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs)
        parser.add_argument(
            "--version",
            default="head",
            metavar="N or NAME",
            help="a version's number or a release's name; else the newest",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.management.lookup import get_list
        from judgments.selectors.lists import find_version_number, get_qrels

        found = get_list(*options["list"])
        number = find_version_number(judgment_list=found, name=options["version"])
        qrels = get_qrels(judgment_list=found, number=number)
        if not options["json"]:
            self.stdout.write(qrels.decode(), ending="")
        collection, list_slug = options["list"]
        return {
            "collection": collection,
            "list": list_slug,
            "version": number,
            "sha256": hashlib.sha256(qrels).hexdigest(),
            "qrels": qrels.decode(),
        }
