"""`reconcile`: does now what is due."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, two_slugs


class Command(RefusingCommand):
    help = (
        "Process all pending work now: uploads, labels to aggregate, runs to evaluate. Also "
        "retries what had failed too often. Safe while workers run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs, nargs="?")

    def work(self, **options: Any) -> dict[str, Any]:
        from config.reconciling import reconcile
        from config.targets import list_targets

        done = reconcile(
            lists=list_targets(options["list"]),
            with_jobs=options["list"] is None,
            clock=timezone.now,
        )
        if not options["json"]:
            self.stdout.write("\n".join(done) or "nothing was due")
        return {"done": done}
