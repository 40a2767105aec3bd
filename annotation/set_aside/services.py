"""Computing in a worker what a campaign would be without the labels of some people."""

from functools import partial

from annotation.models import AsidePreview, Campaign
from annotation.set_aside.queries import ASIDE_REVISION, aside_key, compute_aside, people_ids
from judgments.reports.services import Clock, bring_up_to_date


def preview_aside(*, campaign_id: int, people: str, clock: Clock) -> bool:
    """Bring what the campaign would be without some people to its labels; whether there was any.

    people: as `people_ids` reads them.
    """
    campaign = Campaign.objects.select_related("list").get(pk=campaign_id)
    chosen = people_ids(people)
    preview, _ = AsidePreview.objects.get_or_create(campaign=campaign, people=people)
    return bring_up_to_date(
        preview,
        key=aside_key(campaign, people),
        revision=ASIDE_REVISION,
        compute=partial(compute_aside, campaign, chosen),
        clock=clock,
    )
