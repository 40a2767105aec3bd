"""`agreement`: how far the people behind a CSV of labels agree. A file only, no database."""

from collections.abc import Callable
from typing import Any, Final

from django.core.management.base import CommandParser

from annotation.agreement import LEVELS, RESAMPLES, Agreement, Counts, alpha, count_labels, percent
from annotation.label_files import LabelFile, read_labels
from judgments.management.command import RefusingCommand

MOST_RESAMPLES: Final = 100_000
WORDS: Final = {
    "no_overlap": "not enough overlap: fewer than two pairs have two labels",
    "no_variation": "undefined: every label of a pair with two is the same grade",
}


class Command(RefusingCommand):
    help = (
        "Krippendorff's alpha and its bootstrap interval of a CSV of labels (annotator, query_id, "
        "doc_id, grade), gzipped or not; no database is used."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--level",
            choices=LEVELS,
            default="ordinal",
            help="what a grade is: a name, a place in an order, or a number (default: ordinal)",
        )
        parser.add_argument(
            "--bootstrap",
            type=int,
            default=RESAMPLES,
            metavar="N",
            help=f"resamples for the interval; 0 for none (default: {RESAMPLES})",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the resamples (default: 0)")
        super().add_arguments(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        resamples, seed = options["bootstrap"], options["seed"]
        if not 0 <= resamples <= MOST_RESAMPLES:
            self.fail([f"--bootstrap takes a number from 0 to {MOST_RESAMPLES:,}"])
        if seed < 0:
            self.fail(["--seed takes a number from 0"])
        labels = read_labels(options["file"], name=options["file"])
        counts = count_labels(labels.units, labels.steps, labels.grades)
        found = alpha(counts, options["level"], resamples=resamples, seed=seed)
        exact, within_one = percent(counts, resamples=0), percent(counts, within=1, resamples=0)
        if not options["json"]:
            _print(self.stdout.write, labels, found, exact, within_one)
        return _values(labels, counts, found, exact, within_one)


def _values(
    labels: LabelFile, counts: Counts, found: Agreement, exact: Agreement, within_one: Agreement
) -> dict[str, Any]:
    return {
        "alpha": found.value,
        "level": found.level,
        "low": found.low,
        "high": found.high,
        "why": WORDS.get(found.why),
        "annotators": labels.annotator_count,
        "labels": len(labels.steps),
        "units": int(counts.units.sum()),
        "pairable_units": found.units,
        "pairable_labels": found.labels,
        "percent_exact": exact.value,
        "percent_within_one": within_one.value,
        "grades": list(labels.grades),
    }


def _print(
    write: Callable[[str], Any],
    labels: LabelFile,
    found: Agreement,
    exact: Agreement,
    within_one: Agreement,
) -> None:
    interval = "" if found.low is None else f"  [{found.low:.4f}, {found.high:.4f}]"
    value = WORDS[found.why] if found.value is None else f"{found.value:.4f}{interval}"
    write(f"alpha ({found.level})  {value}")
    write(f"pairable pairs   {found.units:,} of {labels.pair_count:,}")
    write(f"labels           {found.labels:,} of {len(labels.steps):,}")
    write(f"annotators       {labels.annotator_count:,}")
    if exact.value is not None and within_one.value is not None:
        write(f"the same grade   {exact.value:.1%}")
        write(f"within one grade {within_one.value:.1%}")
