"""Someone labels without a pause, in the database that the environment names, until killed.

`python -m tests.config.commands.labelling`, in a process of its own; each line that it prints is
the number of labels that it has stored by then.
"""

import os
import sys
from itertools import count

import django

from config.database.migrating import migrate_what_is_due


def work() -> None:
    """Correct the label of one pair again and again."""
    from annotation.labelling.services import submit_label
    from tests.builders import NOW, make_world
    from tests.builders_annotation import context_of, make_campaign, said, seat_for

    world = make_world(queries=1, documents=1)
    campaign = make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])])
    seat = seat_for(pair=campaign.pairs.get(), username="ben", at=NOW)
    context, last = context_of(campaign, "ben"), None
    for number in count(1):
        submission = said(seat=seat, grade=number % 4, supersedes=last)
        submit_label(context=context, submission=submission, at=NOW)
        last = submission.id
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    migrate_what_is_due()
    work()


if __name__ == "__main__":
    main()
