"""What the page of an annotator begins with."""

from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from annotation.guidelines.shown import ShownGuideline, get_shown_guideline
from annotation.models import (
    CheckAction,
    CheckRule,
    Label,
)
from annotation.permissions import AnnotatorContext

LABELS_WARNED = 50  # for so many labels a warning stays on the page


@dataclass(frozen=True)
class LabelShell:
    """The annotator's page without its pairs: what stays the same from label to label."""

    campaign_id: UUID
    campaign_name: str
    guideline: ShownGuideline
    warning: str


def get_label_shell(context: AnnotatorContext) -> LabelShell:
    """The page that a browser keeps, and fills with pairs that it asks for."""
    campaign = context.campaign
    return LabelShell(
        campaign.public_id, campaign.name, get_shown_guideline(context), get_warning(context)
    )


def get_warning(context: AnnotatorContext) -> str:
    """What the viewer was told of their labels, until they have made fifty more; else ""."""
    warnings_qs = CheckAction.objects.filter(
        campaign=context.campaign,
        annotator=context.viewer,
        action=CheckRule.Action.WARN,
        undoes=None,
        undone_by=None,
    )
    last = warnings_qs.order_by("-pk").first()
    if last is None:
        return ""
    since_qs = Label.objects.filter(annotator=context.viewer, pair__campaign=context.campaign)
    is_old = since_qs.filter(received_at__gt=last.taken_at).count() >= LABELS_WARNED
    return "" if is_old else gettext(last.message)
