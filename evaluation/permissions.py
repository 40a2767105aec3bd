"""Who may do what to a run, beyond what a role allows in general."""

from evaluation.models import Run
from judgments.permissions import Access, NotFound, check_may_upload_runs
from touchstone.errors import DomainError


class RunRefused(DomainError):
    """The run can't be taken, or changed, like this."""


def check_may_withdraw(access: Access, run: Run) -> None:
    """Raises NotFound for a run of another collection, RunRefused for another member's run."""
    check_may_upload_runs(access)
    if run.ranker.collection_id != access.collection.pk:
        raise NotFound("run")
    if not access.is_lead and run.created_by_id != access.user.pk:
        raise RunRefused("not_yours", "Only its uploader or a lead can withdraw this run.")


def may_withdraw(access: Access, run: Run) -> bool:
    """Whether `withdraw_run` would let this viewer."""
    try:
        check_may_withdraw(access, run)
    except DomainError:
        return False
    return run.withdrawn_at is None
