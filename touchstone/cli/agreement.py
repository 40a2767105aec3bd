"""`agreement`: Krippendorff's alpha of a CSV of labels. A file only, no database."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, Final

from touchstone.agreement.alpha import LEVELS, alpha
from touchstone.agreement.bootstrap import RESAMPLES, Agreement
from touchstone.agreement.counts import Counts, count_labels
from touchstone.agreement.kappas import percent
from touchstone.cli.running import BadOptionError, Write
from touchstone.files.labels import LabelFile, read_labels

MOST_RESAMPLES: Final = 100_000
WORDS: Final = {
    "no_overlap": "not enough overlap: fewer than two pairs have 2+ labels",
    "no_variation": "undefined: all pairs with 2+ labels have the same grade",
}


HELP: Final = (
    "Krippendorff's alpha with a bootstrap interval, from a CSV of labels (annotator, query_id, "
    "doc_id, grade). Files may be gzipped. No server is needed."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "--level",
        choices=LEVELS,
        default="ordinal",
        help="level of measurement of the grades (default: ordinal)",
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=RESAMPLES,
        metavar="N",
        help=f"number of bootstrap resamples; 0 for no interval (default: {RESAMPLES})",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the resamples (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print alpha and what it is of. Raises FileRefused and BadOptionError."""
    resamples, seed = options["bootstrap"], options["seed"]
    if not 0 <= resamples <= MOST_RESAMPLES:
        raise BadOptionError(f"--bootstrap must be 0 to {MOST_RESAMPLES:,}")
    if seed < 0:
        raise BadOptionError("--seed must be 0 or more")
    labels = read_labels(options["file"], name=options["file"])
    counts = count_labels(labels.units, labels.steps, labels.grades)
    result = alpha(counts, options["level"], resamples=resamples, seed=seed)
    exact, within_one = percent(counts, resamples=0), percent(counts, within=1, resamples=0)
    if options["json"]:
        values = _values(labels, counts, result, exact, within_one)
        say(json.dumps(values, ensure_ascii=False))
    else:
        _print(say, labels, result, exact, within_one)


def _values(
    labels: LabelFile, counts: Counts, result: Agreement, exact: Agreement, within_one: Agreement
) -> dict[str, Any]:
    return {
        "alpha": result.value,
        "level": result.level,
        "low": result.low,
        "high": result.high,
        "why": WORDS.get(result.why),
        "annotators": labels.annotator_count,
        "labels": len(labels.steps),
        "units": int(counts.units.sum()),
        "pairable_units": result.units,
        "pairable_labels": result.labels,
        "percent_exact": exact.value,
        "percent_within_one": within_one.value,
        "grades": list(labels.grades),
    }


def _print(
    say: Write,
    labels: LabelFile,
    result: Agreement,
    exact: Agreement,
    within_one: Agreement,
) -> None:
    interval = "" if result.low is None else f"  [{result.low:.4f}, {result.high:.4f}]"
    value = WORDS[result.why] if result.value is None else f"{result.value:.4f}{interval}"
    say(f"alpha ({result.level})  {value}")
    say(f"pairs with 2+ labels  {result.units:,} of {labels.pair_count:,}")
    say(f"labels                {result.labels:,} of {len(labels.steps):,}")
    say(f"annotators            {labels.annotator_count:,}")
    if exact.value is not None and within_one.value is not None:
        say(f"same grade            {exact.value:.1%}")
        say(f"within one grade      {within_one.value:.1%}")
