"""Which lists have to be compared with their documents again; for the sweep."""

from datetime import datetime, timedelta
from typing import Final

from annotation.changed_documents.queries import newest_load
from annotation.models import DocumentCheck
from judgments.models import JudgmentList
from judgments.models.lists import Takes

# A late label on an older text, an import or a revert can bring such judgments back, but hardly
# ever does: versions are looked at once in this time.
EVERY: Final = timedelta(minutes=1)


def list_due_lists(*, at: datetime) -> list[int]:
    """Those that treat judgments on changed documents as unjudged, and have not seen the newest
    upload of documents, or for a minute not their newest version.
    """
    own_qs = JudgmentList.objects.filter(
        changed_documents=JudgmentList.ChangedDocuments.UNJUDGED, archived_at=None
    ).exclude(takes=Takes.MACHINE)
    checks = {check.list_id: check for check in DocumentCheck.objects.filter(list__in=own_qs)}
    return [one.pk for one in own_qs if _is_due(one, checks.get(one.pk), at)]


def _is_due(judgment_list: JudgmentList, check: DocumentCheck | None, at: datetime) -> bool:
    if check is None or check.loaded < newest_load(judgment_list.collection_id):
        return True
    return check.head < judgment_list.head and check.checked_at + EVERY <= at
