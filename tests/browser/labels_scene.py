"""Labels in the scene's campaign, with what workers make of them, so that its reports have figures.

`python -m tests.browser.labels_scene`, in a process of its own, as `scene` is.
"""

import django

LABELLED = 40  # of the scene's pairs; the others are left to label


def build() -> None:
    """Ben and Cem have labelled most pairs, and differ in some; Ben has asked about three."""
    from django.utils import timezone

    from annotation.campaigns.services import change_campaign
    from annotation.consolidation.services import consolidate
    from annotation.models import Campaign
    from annotation.quality.services import refresh_quality
    from annotation.questions.services import announce, answer, ask
    from annotation.rule_change.previews import preview_rule
    from tests.browser.lake_scene import build_lake
    from tests.builders import make_access
    from tests.builders_annotation import context_of, label, seat_for

    campaign = Campaign.objects.select_related("list__collection", "guideline").get()
    access = make_access(collection=campaign.list.collection)
    change_campaign(access=access, campaign=campaign, at=timezone.now(), overlap=2)
    for place, pair in enumerate(campaign.pairs.select_related("campaign")[:LABELLED]):
        label(pair=pair, username="ben", grade=place % 5)
        label(pair=pair, username="cem", grade=(place + (place % 4 == 0)) % 5)
    for place, pair in enumerate(campaign.pairs.select_related("campaign")[:3]):
        seat, now = seat_for(pair=pair, username="ben"), timezone.now()
        context = context_of(campaign, "ben")
        asked = ask(context=context, assignment=seat.public_id, text="Is it enough?", at=now)
        if place:
            answer(
                access=access,
                campaign=campaign,
                question_id=asked.public_id,
                text="It is: see the definition of 3.",
                at=now,
            )
    announce(access=access, campaign=campaign, text="Read revision 2.", at=timezone.now())
    consolidate(list_id=campaign.list_id, at=timezone.now())
    refresh_quality(campaign_id=campaign.pk, clock=timezone.now)
    preview_rule(campaign_id=campaign.pk, rule=campaign.rule, clock=timezone.now)
    build_lake(access)


if __name__ == "__main__":
    django.setup()
    build()
