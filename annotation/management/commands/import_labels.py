"""`import_labels`: labels that people gave elsewhere become a campaign's."""

import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, two_slugs


class Command(RefusingCommand):
    help = (
        "Import a CSV or JSONL of labels (annotator, query_id, doc_id, grade; also made_at, "
        "seconds, note, final_grade), gzipped or not, into a campaign, which is created "
        "closed if it is missing. All or nothing; the same file again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs)
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--by", metavar="USERNAME", required=True, help="username of the lead who adjudicates"
        )
        parser.add_argument("--campaign", help="name of the campaign (default: the file's name)")
        parser.add_argument(
            "--map",
            metavar="NAME=USERNAME",
            action="append",
            default=[],
            help="map a name in the file to an account; repeatable",
        )
        parser.add_argument(
            "--create",
            action="store_true",
            help="create unknown queries and documents as stubs (ids without text)",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from annotation.imports.files import read_given_labels, read_names
        from annotation.imports.services import import_labels
        from judgments.management.lookup import get_author, get_list
        from judgments.permissions import get_access
        from touchstone.scales import Scale

        slug, list_slug = options["list"]
        at, author = timezone.now(), get_author(options["by"])
        assert author is not None  # the option is required
        judgment_list = get_list(slug, list_slug)
        given = read_given_labels(
            options["file"],
            name=options["file"],
            scale=Scale.from_json(judgment_list.scale),
            at=at,
        )
        imported = import_labels(
            access=get_access(viewer=author, slug=slug),
            judgment_list=judgment_list,
            given=given,
            campaign_name=options["campaign"] or Path(options["file"]).name.split(".")[0],
            names=read_names("\n".join(options["map"])),
            create=options["create"],
            seed=secrets.randbits(62),
            at=at,
        )
        return {"collection": slug, "list": list_slug} | imported.values()
