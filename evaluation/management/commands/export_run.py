"""`export_run`: a run of a ranker as a TREC file."""

from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, two_slugs


class Command(RefusingCommand):
    help = (
        "Print a run in TREC format, with the lines of the uploaded file. Importing the output "
        "again gives the same run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("ranker", metavar="COLLECTION/RANKER", type=two_slugs)
        parser.add_argument(
            "--name",
            metavar="RUN",
            help="name of the run (default: the newest that is not withdrawn)",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from evaluation.models import Run
        from evaluation.rankings.files import write_run
        from judgments.management.lookup import CommandRefused, get_collection

        slug, ranker_slug = options["ranker"]
        own = Run.objects.filter(ranker__collection=get_collection(slug), ranker__slug=ranker_slug)
        if options["name"]:
            chosen, which = own.filter(name=options["name"]), f"run {options['name']}"
        else:
            chosen, which = own.filter(withdrawn_at__isnull=True), "run"
        run = chosen.select_related("ranker__collection").order_by("pk").last()
        if run is None:
            raise CommandRefused("no_run", f"{slug}/{ranker_slug} has no {which}.")
        if not options["json"]:
            for lines in write_run(run=run):
                self.stdout.write(lines.decode(), ending="")
        return {
            "collection": slug,
            "ranker": ranker_slug,
            "run": str(run.public_id),
            "name": run.name,
            "sha256": run.sha256,
            "queries": run.query_count,
            "rows": run.row_count,
        }
