"""`import_qrels`: qrels become the next version of a list."""

import re
from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author, add_create, two_slugs


class Command(RefusingCommand):
    help = (
        "Import TREC qrels or another tool's judgments, gzipped or not, as the next version of a "
        "list, which is created if it is missing. All or nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        from touchstone.files.format_detection import AUTO
        from touchstone.files.ratings import FORMATS

        super().add_arguments(parser)
        # argparse takes `-2..4` for an option unless it is told that it is a number
        parser._negative_number_matcher = re.compile(r"-[0-9][0-9.,-]*\Z")
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs)
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--reason", default="", help="reason stored with the version")
        parser.add_argument(
            "--scale", help="scale of a new list, for example 0..4 (the default) or -2..4"
        )
        parser.add_argument(
            "--format",
            default=AUTO,
            help=f"{', '.join(FORMATS)}; {AUTO} (default): detected from the first lines",
        )
        parser.add_argument(
            "--signals",
            default="",
            help="how the file's values become grades: 'E=3, S=2, C=1, I=0' or '>=60=3, >=0=0'",
        )
        add_create(parser)
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.collections.services import create_collection
        from judgments.imports.services import import_qrels, read_judgments
        from judgments.lists.services import start_list
        from judgments.management.lookup import CommandRefused, get_author, get_collection
        from judgments.models import Collection, JudgmentList
        from touchstone.files.format_detection import choose_format
        from touchstone.files.signals import Signals
        from touchstone.scales import Scale

        slug, list_slug = options["list"]
        at, by = timezone.now(), get_author(options["by"])
        result = JudgmentList.objects.filter(collection__slug=slug, slug=list_slug).first()
        asked = Scale.parse(options["scale"]) if options["scale"] else None
        scale = Scale.from_json(result.scale) if result else asked or Scale.default()
        if asked is not None and asked.codes != scale.codes:
            raise CommandRefused("other_scale", f"The list has the grades {scale}, not {asked}.")
        signals = Signals.parse(options["signals"], scale=scale)
        # a list that this makes goes with an import that is refused
        with transaction.atomic() if result is None else nullcontext():
            if result is None:
                if options["create"] and not Collection.objects.filter(slug=slug).exists():
                    create_collection(by=by, at=at, slug=slug, name=slug)
                result = start_list(
                    collection=get_collection(slug),
                    by=by,
                    at=at,
                    slug=list_slug,
                    name=list_slug,
                    scale=scale,
                )
            recognised = choose_format(options["file"], options["format"])
            qrels = read_judgments(
                options["file"],
                collection=result.collection,
                scale=scale,
                name=options["file"],
                form=recognised.form,
                signals=signals,
            )
            imported = import_qrels(
                judgment_list=result,
                qrels=qrels,
                create=options["create"],
                by=by,
                at=at,
                reason=options["reason"],
                signals=signals,
            )
        told = {"format": recognised.form.name, "read_as": recognised.read_as}
        return {"collection": slug, "list": list_slug} | imported.counts() | told
