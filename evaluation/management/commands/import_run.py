"""`import_run`: a TREC run becomes a run of a ranker."""

import json
from pathlib import PurePath
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author, add_create, two_slugs
from touchstone.cli.run_details import add_detail_arguments, add_order_argument, parameters_of
from touchstone.slugs import short_name


class Command(RefusingCommand):
    help = (
        "Import a TREC run, gzipped or not, as a run of a ranker, which is registered if it is "
        "missing. All or nothing; the same content again changes nothing, but for another name, "
        "which becomes an alias of the run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("ranker", metavar="COLLECTION/RANKER", type=two_slugs)
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--name", metavar="RUN", help="name of the run (default: the file's name)"
        )
        add_detail_arguments(parser)
        add_order_argument(parser)
        add_create(parser)
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from evaluation.models import Ranker
        from evaluation.runs.details import parse_details
        from evaluation.runs.rankers import start_ranker
        from evaluation.runs.services import read_run_file, run_name_of, store_run
        from judgments.collections.services import create_collection
        from judgments.management.lookup import get_author, get_collection
        from judgments.models import Collection

        slug, ranker_name = options["ranker"]
        ranker_slug = short_name(ranker_name)
        at, by = timezone.now(), get_author(options["by"])
        details = parse_details(
            parameters=json.dumps(parameters_of(options), ensure_ascii=False),
            commit=options["commit"],
            tags=" ".join(options["tags"]),
        )
        if not options["create"]:
            get_collection(slug)
        read = read_run_file(
            source=options["file"], file_name=options["file"], order=options["order"]
        )
        with transaction.atomic():
            if not Collection.objects.filter(slug=slug).exists():
                create_collection(by=by, at=at, slug=slug, name=slug)
            collection = get_collection(slug)
            ranker = Ranker.objects.filter(collection=collection, slug=ranker_slug).first()
            if ranker is None:
                named = {"slug": ranker_slug, "name": ranker_name}
                ranker = start_ranker(collection=collection, by=by, at=at, **named)
            done = store_run(
                ranker=ranker,
                read=read,
                name=options["name"] or run_name_of(PurePath(options["file"]).name),
                by=by,
                at=at,
                create=options["create"],
                details=details,
            )
        if not options["json"]:
            if done.answers_words:
                self.stdout.write(f"{ranker_slug}/{done.run.name} {done.answers_words}")
            for remark in done.findings.remarks:
                self.stdout.write(remark)
        return {
            "collection": slug,
            "ranker": ranker_slug,
            "run": str(done.run.public_id),
            "name": done.run.name,
            "created": done.created,
            "queries": done.queries,
            "collection_queries": done.collection_queries,
            "rows": done.rows,
            "note": done.note,
            "remarks": done.findings.remarks,
        }
