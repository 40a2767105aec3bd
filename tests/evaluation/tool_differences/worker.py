"""A run, and what a worker does with it."""

from evaluation.models import Run
from evaluation.tool_differences.services import compute_tool_values
from evaluation.tool_differences.tool_values import list_tool_values
from judgments.models import JudgmentList
from tests.builders import NOW

RUN = (
    "q4 Q0 d1 1 2 t\nq2 Q0 d2 1 1 t\nq2 Q0 d1 2 1 t\nq1 Q0 d3 1 16777217 t\n"
    "q1 Q0 d1 2 16777216 t\nq1 Q0 d5 3 3 t\nq1 Q0 d2 4 3 t\nq2 Q0 d4 3 0.5 t\nq5 Q0 d2 1 1 t\n"
)


def compute(judgment_list: JudgmentList, version: int = 1, k: int = 10, run: Run | None = None):
    """What the worker does; how many runs it computed."""
    asked = {"list_id": judgment_list.pk, "version": version, "cutoff": k}
    return compute_tool_values(**asked, run_id=run.pk if run else 0, clock=lambda: NOW)


def values_of(run: Run, judgment_list: JudgmentList, version: int = 1, k: int = 10):
    """What each preset says of a run, once the worker has been there."""
    compute(judgment_list, version, k, run)
    found = list_tool_values(runs=[run], judgment_list=judgment_list, version=version, cutoff=k)
    return found[run.pk]
