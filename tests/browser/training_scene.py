"""Training in the scene's campaign: every other pair is gold, and 3 is right.

`python -m tests.browser.training_scene`, in a process of its own, like the scene.
"""

import django


def ask_for_training() -> None:
    """Three pairs, two of them right, one try."""
    from django.utils import timezone

    from annotation.gold.services import change_checks, mark_gold
    from annotation.models import Campaign
    from tests.builders import make_access

    campaign, at = Campaign.objects.select_related("list__collection").get(), timezone.now()
    access = make_access(collection=campaign.list.collection)
    for pair in campaign.pairs.select_related("campaign__list").order_by("pk")[::2]:
        mark_gold(access=access, pair=pair, low=3, high=3, reason="It says so.", at=at)
    change_checks(
        access=access, campaign=campaign, at=at,
        training_pairs=3, training_percent=60, training_tries=1,
    )  # fmt: skip


if __name__ == "__main__":
    django.setup()
    ask_for_training()
