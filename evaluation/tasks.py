"""What a worker is woken for. Ids only; each begins by asking the database what is due."""

from celery import shared_task
from django.utils import timezone

from evaluation.canaries.looking import check_canaries
from evaluation.corrected.services import correct_means
from evaluation.data_set_canaries.looking import check_data_sets
from evaluation.data_sets.working import coordinate
from evaluation.data_sets.working import work_portion as work_on_portion
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards.requested import compute_requested
from evaluation.live_rankers.services import start_due_snapshots
from evaluation.samples.services import evaluate_sample
from evaluation.stability.services import report_stability
from evaluation.tool_differences.services import compute_tool_values
from judgments.live import announce, board_topic
from judgments.waking import publish

MOST_STEPS = 1_000  # of one message; what is then left is found by the sweep


@shared_task(name="evaluation.refresh", ignore_result=True)
def refresh(list_id: int) -> None:
    """Bring a list's evaluations to its head, leaving what takes long to the other queue."""
    done = refresh_evaluations(list_id=list_id, at=timezone.now(), only_small=True)
    announce(board_topic(list_id))
    if done.left:
        publish("evaluation.refresh_large", list_id)


@shared_task(name="evaluation.refresh_large", ignore_result=True)
def refresh_large(list_id: int) -> None:
    """Bring a list's evaluations to its head, however long that takes."""
    for _ in range(MOST_STEPS):
        left = refresh_evaluations(list_id=list_id, at=timezone.now()).left
        announce(board_topic(list_id))
        if not left:
            return


@shared_task(name="evaluation.compute_measures", ignore_result=True)
def compute_measures(list_id: int, version: int, measures: str) -> None:
    """Compute measures that a list does not keep, of every run that lacks them at the version."""
    compute_requested(list_id=list_id, version=version, measures=measures)
    announce(board_topic(list_id))


@shared_task(name="evaluation.start_snapshots", ignore_result=True)
def start_snapshots() -> None:
    """Begin the snapshots that are scheduled by now, and end those that were given up."""
    start_due_snapshots(at=timezone.now())


@shared_task(name="evaluation.check_canaries", ignore_result=True)
def look_at_snapshots() -> None:
    """Look at the snapshots that ended, and tell people of incidents."""
    check_canaries(at=timezone.now())


@shared_task(name="evaluation.check_data_sets", ignore_result=True)
def look_at_data_sets() -> None:
    """Look at the evaluations of data sets that ended, and tell people of incidents."""
    check_data_sets(at=timezone.now())


@shared_task(name="evaluation.coordinate_data_sets", ignore_result=True)
def coordinate_data_sets() -> None:
    """Begin the evaluations that are scheduled by now, and announce what was lost of others."""
    coordinate(at=timezone.now())


@shared_task(name="evaluation.work_portion", ignore_result=True)
def work_portion(portion_id: int) -> None:
    """Do one portion of a data set's evaluation, unless it is done."""
    work_on_portion(portion_id=portion_id, clock=timezone.now)


@shared_task(name="evaluation.report_stability", ignore_result=True)
def report_order_stability(list_id: int, version: int, question: str) -> None:
    """Compute how stable an order of runs is, unless that is kept already."""
    report_stability(list_id=list_id, version=version, question=question, clock=timezone.now)


@shared_task(name="evaluation.evaluate_sample", ignore_result=True)
def evaluate_by_sample(plan_id: int) -> None:
    """Compute what a sample says of every run that waits for it."""
    evaluate_sample(plan_id=plan_id, at=timezone.now())


@shared_task(name="evaluation.correct_means", ignore_result=True)
def correct_by_sample(plan_id: int) -> None:
    """Compute three means of every run that waits for them, by each machine judge of a sample."""
    correct_means(plan_id=plan_id, at=timezone.now())


@shared_task(name="evaluation.compute_tool_values", ignore_result=True)
def compute_tools(list_id: int, version: int, cutoff: int, run_id: int) -> None:
    """Compute what every tool would say of a run, or of all (0), as far as it is not stored."""
    compute_tool_values(
        list_id=list_id, version=version, cutoff=cutoff, run_id=run_id, clock=timezone.now
    )
