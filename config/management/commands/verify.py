"""`verify`: what is stored against what it was computed from."""

import sys
from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, two_slugs

CHECK_FAILED = 1


class Command(RefusingCommand):
    help = (
        "Recompute stored evaluations and tools' values from scratch, at the head and at every "
        "release, draw samples again from their seeds and recompute their evaluations, also the "
        "corrected ones, and the digests of releases and runs; where no list is named, also those "
        "of what people wrote, and the seals of the audit log. Any difference, even of one bit, is "
        "listed, with exit status 1."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs, nargs="?")
        parser.add_argument(
            "--all",
            action="store_true",
            help="also check all versions in between, by the difference from the previous one",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from config.targets import list_targets
        from evaluation.corrected.verifying import verify_corrections
        from evaluation.evaluations.verifying import (
            Verified,
            verify_audit,
            verify_list,
            verify_runs,
            verify_texts,
        )
        from evaluation.samples.verifying import verify_samples
        from evaluation.tool_differences.verifying import verify_tool_values
        from judgments.audit.seals import read_newest

        result = Verified()
        targets = list_targets(options["list"])
        for judgment_list in targets:
            asked = {"judgment_list": judgment_list, "every_step": options["all"]}
            result += verify_list(**asked) + verify_tool_values(**asked)
            result += verify_samples(judgment_list=judgment_list)
            result += verify_corrections(judgment_list=judgment_list)
        collections = {target.collection_id: target.collection for target in targets}
        for collection in collections.values():
            result += verify_runs(collection=collection)
        if options["list"] is None:
            result += verify_texts() + verify_audit(newest=read_newest())
        self._failed = bool(result.problems)
        if not options["json"]:
            self._say(result)
        return vars(result)

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self._failed:
            sys.exit(CHECK_FAILED)

    def _say(self, found: Any) -> None:
        if found.problems:
            self.stderr.write("\n".join(found.problems))
        if found.outdated:
            self.stderr.write(
                f"{found.outdated} values come from an older version of the engine "
                + "and can’t be checked"
            )
        self.stdout.write(
            f"{found.evaluations} evaluations, {found.steps} steps, {found.tool_values} tool "
            + f"values, {found.samples} samples and {found.sample_evaluations} evaluations by "
            + f"them, {found.corrections} corrected evaluations, {found.releases} releases, "
            + f"{found.runs} runs, {found.texts} texts and {found.sealed} sealed audit entries "
            + f"checked, {len(found.problems)} problems"
        )
        if found.unsealed:
            self.stdout.write(
                f"{len(found.unsealed)} audit entries are not sealed yet, "
                + f"from {found.unsealed[0]} to {found.unsealed[-1]}"
            )
