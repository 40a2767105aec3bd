"""Labels in the scene's campaign, with what workers make of them, so that its reports have figures.

`python -m tests.browser.labels_scene`, in a process of its own, as `scene` is.
"""

import django

LABELLED = 40  # of the scene's pairs; the others are left to label


def build() -> None:
    """Ben and Cem have labelled most pairs, and differ in some."""
    from django.utils import timezone

    from annotation.campaigns.services import change_campaign
    from annotation.consolidation.services import consolidate
    from annotation.models import Campaign
    from annotation.quality.services import refresh_quality
    from annotation.rule_change.previews import preview_rule
    from tests.builders import make_access
    from tests.builders_annotation import label

    campaign = Campaign.objects.select_related("list__collection", "guideline").get()
    access = make_access(collection=campaign.list.collection)
    change_campaign(access=access, campaign=campaign, at=timezone.now(), overlap=2)
    for place, pair in enumerate(campaign.pairs.select_related("campaign")[:LABELLED]):
        label(pair=pair, username="ben", grade=place % 5)
        label(pair=pair, username="cem", grade=(place + (place % 4 == 0)) % 5)
    consolidate(list_id=campaign.list_id, at=timezone.now())
    refresh_quality(campaign_id=campaign.pk, clock=timezone.now)
    preview_rule(campaign_id=campaign.pk, rule=campaign.rule, clock=timezone.now)


if __name__ == "__main__":
    django.setup()
    build()
