"""The evaluation backlog, in figures for operators."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min

from evaluation.evaluations.due import list_due_lists
from evaluation.models import Evaluation, RefreshAttempt, Run
from judgments.models import JudgmentList, JudgmentVersion


@dataclass(frozen=True)
class Backlog:
    """Evaluations that are due. since: when the oldest became due; None where none is.

    given_up: how many failed too often and need attention.
    """

    due: int
    since: datetime | None
    given_up: int


def get_backlog(*, at: datetime) -> Backlog:
    """What is due on all lists."""
    lists = JudgmentList.objects.filter(pk__in=list_due_lists(at=at))
    result = [_list_backlog(judgment_list) for judgment_list in lists.select_related("leaderboard")]
    given_up = RefreshAttempt.objects.filter(
        attempts__gte=RefreshAttempt.MOST, run__withdrawn_at__isnull=True
    ).count()
    since = min((began for _, began in result if began is not None), default=None)
    return Backlog(sum(due for due, _ in result), since, given_up)


def _list_backlog(judgment_list: JudgmentList) -> tuple[int, datetime | None]:
    versions = JudgmentVersion.objects.filter(list=judgment_list)
    leaderboard = getattr(judgment_list, "leaderboard", None)
    evaluations = Evaluation.objects.filter(
        version__list=judgment_list, measure_set=leaderboard and leaderboard.measure_set_id
    )
    at_head = evaluations.filter(version__number=judgment_list.head)
    due = Run.objects.filter(
        ranker__collection=judgment_list.collection_id, withdrawn_at__isnull=True
    ).exclude(pk__in=at_head.values("run"))
    done_to = evaluations.aggregate(latest=Max("version__number"))["latest"] or 0
    missed = versions.filter(number__gt=done_to).aggregate(first=Min("created_at"))["first"]
    uploaded = due.aggregate(first=Min("created_at"))["first"]
    return due.count(), missed or uploaded
