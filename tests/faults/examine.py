"""What is in the database after a storm, against the annotators' logs; nothing is believed.

`python -m tests.faults.examine LOGS PATIENCE`, in a process of its own. It waits for a line on
its input, the time of the last acknowledgement, so that its own start does not count as waiting.
Everything is computed here another way than the product does it.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import django

from tests.faults.converging import Converging, get_list, list_due
from tests.faults.scene import OVERLAP

SHOWN = 5  # of each kind of finding
FROM_SCRATCH = 24  # evaluations computed here once more, besides those of the head


def examine(*, logs: Path, since: float, patience: float) -> dict[str, Any]:
    """Wait until nothing is due, then hold everything against everything."""
    found = Converging(since)
    found.wait(patience)
    stages = found.stages
    said = _read(logs)
    findings = {
        "missing": _missing(said),
        "double": _double(said),
        "over_the_overlap": _over_the_overlap(),
        "seats_taken_twice": _seats_taken_twice(),
        "incomplete": _incomplete(),
        "wrong_grades": _wrong_grades(),
        "broken_versions": _broken_versions(),
        "wrong_bits": _wrong_bits(),
    }
    return {
        "seconds": found.seconds,
        "due": list_due(),
        "backlog": found.backlog,
        "stages": stages,
        "problems": {kind: found[:SHOWN] for kind, found in findings.items() if found},
        "labels": len(said),
        "versions": get_list().head,
        "lags": _lags(),
    }


def _read(logs: Path) -> list[dict[str, Any]]:
    """Every acknowledged label, with who sent it."""
    lines = ((path.stem, line) for path in logs.glob("*.jsonl") for line in path.open())
    return [json.loads(line) | {"annotator": name} for name, line in lines]


def _missing(said: Sequence[dict[str, Any]]) -> list[str]:
    """Acknowledged, and not stored as it was said."""
    from annotation.models import Assignment, Label

    stored = {
        str(row["pk"]): row
        for row in Label.objects.values("pk", "annotator__username", "outcome", "grade", "pair_id")
    }
    pairs = {
        str(public_id): pair
        for public_id, pair in Assignment.objects.values_list("public_id", "pair_id")
    }

    def is_stored(label: dict[str, Any]) -> bool:
        row = stored.get(label["id"])
        return row is not None and (
            row["annotator__username"] == label["annotator"]
            and row["outcome"] == label["outcome"]
            and row["grade"] == label.get("grade")
            and row["pair_id"] == pairs[label["assignment"]]
        )

    return [label["id"] for label in said if not is_stored(label)]


def _double(said: Sequence[dict[str, Any]]) -> list[str]:
    """Stored without an acknowledgement, or two words of one person that both hold."""
    from annotation.models import Label

    ids = Counter(label["id"] for label in said)
    stored = {str(pk) for pk in Label.objects.values_list("pk", flat=True)}
    holding = Label.objects.filter(superseded_by__isnull=True)
    places = Counter(holding.values_list("pair_id", "annotator_id"))
    return [
        *(f"{pk} was never acknowledged" for pk in sorted(stored - ids.keys())),
        *(f"{pk} was acknowledged {count} times" for pk, count in ids.items() if count > 1),
        *(
            f"pair {pair}: {count} of one person"
            for (pair, _), count in places.items()
            if count > 1
        ),
    ]


def _grades() -> dict[int, list[int]]:
    """The grades of each pair that hold and count."""
    from annotation.models import Label, Pair

    grades: dict[int, list[int]] = {pk: [] for pk in Pair.objects.values_list("pk", flat=True)}
    holding = Label.objects.filter(superseded_by__isnull=True, outcome="graded")
    counting = holding.filter(assignment__purpose__in=("pool", "extra"))
    for pair, grade in counting.values_list("pair_id", "grade"):
        assert grade is not None
        grades[pair].append(grade)
    return grades


def _over_the_overlap() -> list[str]:
    over = {pair: own for pair, own in _grades().items() if len(own) > OVERLAP}
    return [f"pair {pair}: {len(own)} grades" for pair, own in over.items()]


def _seats_taken_twice() -> list[str]:
    from annotation.models import Assignment

    seats = Counter(Assignment.objects.exclude(state="voided").values_list("pair_id", "seat"))
    return [f"pair {pair}: seat {seat}" for (pair, seat), n in seats.items() if n > 1]


def _incomplete() -> list[str]:
    short = {pair: own for pair, own in _grades().items() if len(own) < OVERLAP}
    return [f"pair {pair}: {len(own)} grades" for pair, own in short.items()]


def _wrong_grades() -> list[str]:
    """Pairs whose judgment is not what their labels come to: the mean, a half rounded up."""
    from annotation.models import Pair
    from judgments.models import Judgment

    now = {
        (row.query_id, row.document_id): row.grade
        for row in Judgment.objects.filter(list=get_list(), until__isnull=True)
    }
    grades, wrong = _grades(), []
    for pair in Pair.objects.all():
        own = grades[pair.pk]
        right = (2 * sum(own) + len(own)) // (2 * len(own)) if len(own) >= OVERLAP else None
        found = now.get((pair.query_id, pair.document_id))
        if found != right:
            wrong.append(f"pair {pair.pk}: the list says {found}, the labels {right}")
    return wrong


def _broken_versions() -> list[str]:
    """Versions are numbered without a gap; at each a pair has at most one grade."""
    from judgments.models import Judgment, JudgmentVersion

    the_list = get_list()
    numbers = list(
        JudgmentVersion.objects.filter(list=the_list).order_by("number").values_list("number")
    )
    rows = defaultdict(list)
    spans = Judgment.objects.filter(list=the_list).order_by("since")
    for query, document, since, until in spans.values_list(
        "query_id", "document_id", "since", "until"
    ):
        rows[query, document].append((since, until))
    overlapping = [
        f"{pair}: {own}"
        for pair, own in rows.items()
        if any(until is None or until > after for (_, until), (after, _) in pairwise(own))
    ]
    gaps = [] if numbers == [(n + 1,) for n in range(the_list.head)] else [f"numbers: {numbers}"]
    return gaps + overlapping


def _wrong_bits() -> list[str]:
    """Stored evaluations of the head and some of those before, against ones from scratch."""
    from evaluation.models import Evaluation
    from tests.evaluation.builders import evaluate_from_scratch

    the_list = get_list()
    stored_qs = Evaluation.objects.filter(version__list=the_list).select_related("run", "version")
    stored = list(stored_qs.order_by("version__number", "run"))
    now = [row for row in stored if row.version.number == the_list.head]
    before = stored[: len(stored) - len(now)]
    return [
        f"run {row.run_id} at version {row.version.number}"
        for row in [*before[:: -(-len(before) // FROM_SCRATCH) or 1], *now]
        if bytes(row.sums)
        != evaluate_from_scratch(run=row.run, judgment_list=the_list, version=row.version.number)
    ]


def _lags() -> dict[str, list[float]]:
    """Seconds from a label to the version it is in, and from a version to its last evaluation."""
    from evaluation.models import Evaluation
    from judgments.models import JudgmentVersion

    made = dict(JudgmentVersion.objects.values_list("number", "created_at"))
    computed: dict[int, Any] = {}
    for number, at in Evaluation.objects.values_list("version__number", "computed_at"):
        computed[number] = max(at, computed.get(number, at))
    return {
        "label to version": sorted(_label_lags(made)),
        "version to evaluations": sorted(
            (computed[number] - made[number]).total_seconds() for number in computed
        ),
    }


def _label_lags(made: dict[int, Any]) -> Iterator[float]:
    from annotation.models import Label
    from judgments.models import Judgment

    received = {str(pk): at for pk, at in Label.objects.values_list("pk", "received_at")}
    for since, evidence in Judgment.objects.values_list("since", "evidence"):
        heard = [received[pk] for pk in evidence.get("labels", ())]
        if heard:
            yield (made[since] - max(heard)).total_seconds()


def main() -> None:
    logs, patience = Path(sys.argv[1]), float(sys.argv[2])
    django.setup()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    since = float(sys.stdin.readline())
    sys.stdout.write(json.dumps(examine(logs=logs, since=since, patience=patience)))


if __name__ == "__main__":
    main()
