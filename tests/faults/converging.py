"""Waiting for the end of a storm's work: what there was to do, and where the seconds went.

It looks every few hundredths of a second, by the rows and not by what the sweep believes; what it
says was seen had come by so much earlier at most.
"""

import time
from collections.abc import Iterator
from typing import Any

from django.db.models import F, Max

POLL = 0.05


class Converging:
    """The way from the last acknowledgement to where nothing is due.

    since: when that was, by the clock. seconds: how long it took; None if it never ended.
    backlog: how much was due at its beginning. An evaluation says when it was begun; that all are
    stored is the end.
    """

    def __init__(self, since: float) -> None:
        self.since = since
        self.seconds: float | None = None
        self.backlog = _backlog()
        self._head = get_list().head
        self._seen: dict[str, float] = {}  # what, and seconds after `since`
        self._last = self._head, 0.0  # the newest version, and when it was first seen

    def wait(self, patience: float) -> None:
        """Until nothing is due, for so many seconds at most."""
        while time.time() < self.since + patience:
            self._look(time.time() - self.since)
            if not list_due():
                self.seconds = time.time() - self.since
                break
            time.sleep(POLL)
        self._look(time.time() - self.since)

    def _look(self, now: float) -> None:
        from judgments.models import WorkerBeat

        for name, at in WorkerBeat.objects.values_list("name", "beat_at"):
            if at.timestamp() > self.since:
                self._seen.setdefault(
                    f"{name} had looked for what is due", at.timestamp() - self.since
                )
        head = get_list().head
        if head > self._last[0]:
            self._last = head, now
        if not due_pairs().exists():
            self._seen.setdefault("no pair was due any more", now)

    @property
    def stages(self) -> dict[str, float]:
        """What had come how many seconds after the last acknowledgement, in this order."""
        return dict(sorted([*self._seen.items(), *self._made()], key=lambda stage: stage[1]))

    def _made(self) -> Iterator[tuple[str, float]]:
        """When versions were begun and seen, and the evaluations of the last one were begun."""
        from evaluation.models import Evaluation
        from judgments.models import JudgmentVersion

        numbers = range(self._head + 1, get_list().head + 1)
        made = JudgmentVersion.objects.filter(number__in=numbers).order_by("number")
        begun = [at.timestamp() - self.since for at in made.values_list("created_at", flat=True)]
        if begun:
            yield f"the first of {len(begun)} versions was begun", begun[0]
            yield "the last of them was seen", self._last[1]
        at_head = Evaluation.objects.filter(version__number=get_list().head)
        at = at_head.aggregate(at=Max("computed_at"))["at"]
        if at and at.timestamp() > self.since:
            yield "its evaluations were begun", at.timestamp() - self.since


def get_list() -> Any:
    """The list that the labels are for."""
    from judgments.models import JudgmentList

    return JudgmentList.objects.get(slug="main")


def list_due() -> list[str]:
    """What is not at its end, a sentence each."""
    pairs, runs = due_pairs().count(), _due_runs().count()
    return [f"{pairs} pairs to conclude"] * bool(pairs) + [f"{runs} runs to evaluate"] * bool(runs)


def due_pairs() -> Any:
    """The pairs of which something was said that is not in their grade yet."""
    from annotation.models import Pair

    return Pair.objects.filter(label_seq__gt=F("consolidated_seq"))


def _due_runs() -> Any:
    from evaluation.models import Evaluation, Run

    done = Evaluation.objects.filter(version__number=get_list().head)
    return Run.objects.exclude(pk__in=set(done.values_list("run_id", flat=True)))


def _backlog() -> dict[str, int]:
    from evaluation.models import Evaluation

    evaluated = Evaluation.objects.aggregate(last=Max("version__number"))["last"] or 0
    return {
        "pairs to conclude": due_pairs().count(),
        "queries of theirs": due_pairs().values("query").distinct().count(),
        "versions to evaluate": get_list().head - evaluated,
        "runs to evaluate": _due_runs().count(),
    }
