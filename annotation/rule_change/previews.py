"""Computing in a worker what another rule would change."""

from functools import partial

from annotation.models import Campaign, RulePreview
from annotation.rule_change.queries import PREVIEW_REVISION, compute_preview, preview_key
from judgments.reports.services import Clock, bring_up_to_date


def preview_rule(*, campaign_id: int, rule: str, clock: Clock) -> bool:
    """Bring the preview of a rule to the campaign's labels; whether there was anything to do."""
    campaign = Campaign.objects.select_related("list").get(pk=campaign_id)
    preview, _ = RulePreview.objects.get_or_create(campaign=campaign, rule=rule)
    return bring_up_to_date(
        preview,
        key=preview_key(campaign, rule),
        revision=PREVIEW_REVISION,
        compute=partial(compute_preview, campaign, rule),
        clock=clock,
    )
