"""`export_qrels`: a version's grades as TREC qrels, or in another tool's format."""

import hashlib
from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, two_slugs


class Command(RefusingCommand):
    help = (
        "Print a version of a list as TREC qrels, in the canonical order that a release's SHA-256 "
        "is computed over, or in another tool's format."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        from touchstone.files.ratings import FORMATS, TREC

        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs)
        parser.add_argument(
            "--version",
            default="head",
            metavar="N or NAME",
            help="version number or release name (default: the newest version)",
        )
        names = ", ".join(FORMATS)
        parser.add_argument("--format", default=TREC, help=f"{names} (default: {TREC})")

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.lists.queries import find_version_number, get_judgment_file
        from judgments.management.lookup import get_list
        from touchstone.files.ratings import get_format

        form = get_format(options["format"])
        result = get_list(*options["list"])
        number = find_version_number(judgment_list=result, name=options["version"])
        qrels = get_judgment_file(judgment_list=result, number=number, form=form)
        if not options["json"]:
            self.stdout.write(qrels.decode(), ending="")
        collection, list_slug = options["list"]
        return {
            "collection": collection,
            "list": list_slug,
            "version": number,
            "format": form.name,
            "sha256": hashlib.sha256(qrels).hexdigest(),
            "qrels": qrels.decode(),
        }
