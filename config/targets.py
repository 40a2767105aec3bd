"""Which lists a command that spans the apps is about."""

from judgments.management.lookup import get_list
from judgments.models import JudgmentList


def list_targets(target: tuple[str, str] | None) -> list[JudgmentList]:
    """The list COLLECTION/LIST; all lists where none is named."""
    if target is not None:
        return [get_list(*target)]
    return list(JudgmentList.objects.select_related("collection").order_by("pk"))
