"""Many people label a campaign to its end, each on a connection of their own.

    python -m tests.real_services.to_the_end [--annotators 32] [--pairs 2000] [--overlap 3]
        [--postgres URL]

They lease, label, send some labels twice, give some seats back, and go on until nothing is left.
Then every pair has exactly as many labels as it needs, of different people, and no one met an
error, so no deadlock either. The suite runs a short form of it.
"""

import argparse
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import connection
from django.utils import timezone

from tests.services import own_postgres_database

if TYPE_CHECKING:
    from annotation.permissions import AnnotatorContext

PATIENCE = 1800.0  # seconds in all


def label_to_the_end(
    *, campaign_id: int, usernames: Sequence[str], patience: float = PATIENCE
) -> list[str]:
    """What went wrong, in words; nothing if all pairs are full and no one appears twice."""
    errors: list[str] = []
    until = time.monotonic() + patience
    threads = [
        threading.Thread(target=_work, args=(campaign_id, username, until, errors))
        for username in usernames
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience)
    stuck = sum(thread.is_alive() for thread in threads)
    return errors + ([f"{stuck} people are stuck"] if stuck else []) + _look(campaign_id)


def _work(campaign_id: int, username: str, until: float, errors: list[str]) -> None:
    from annotation.labelling.leasing import lease_next
    from annotation.models import Campaign
    from tests.builders_annotation import context_of

    dice = random.Random(username)
    try:
        campaign = Campaign.objects.get(pk=campaign_id)
        while _is_anything_left(campaign_id) and not errors:
            context = context_of(campaign, username)
            if lease_next(context=context, count=dice.choice((1, 5, 20)), at=timezone.now()):
                _label(context, dice)
            else:
                time.sleep(0.02)
            if time.monotonic() > until:
                errors.append(f"{username} ran out of time")
    except Exception as error:  # noqa: BLE001  (what it was is what the caller tells)
        errors.append(f"{username}: {error!r}")
    finally:
        connection.close()


def _label(context: "AnnotatorContext", dice: random.Random) -> None:
    """Label what someone holds, some of it twice; give a tenth back."""
    from annotation.labelling.leasing import release_leases
    from annotation.labelling.services import submit_label
    from annotation.labelling.shown_pairs import list_leased_pairs
    from annotation.models import Assignment
    from tests.builders_annotation import said

    for pair in list_leased_pairs(context):
        if dice.random() < 0.1:
            release_leases(context=context, assignments=[pair.assignment])
            continue
        seat = Assignment.objects.get(public_id=pair.assignment)
        submission = said(seat=seat, grade=dice.randrange(5), at=timezone.now())
        for _ in range(1 + (dice.random() < 0.1)):
            submit_label(context=context, submission=submission, at=timezone.now())


def _is_anything_left(campaign_id: int) -> bool:
    from annotation.models import Assignment

    seats_qs = Assignment.objects.filter(pair__campaign=campaign_id)
    return seats_qs.filter(state__in=("free", "leased")).exists()


def _look(campaign_id: int) -> list[str]:
    """What of the rows is not as it must be."""
    from annotation.models import Assignment, Campaign, Label, Pair

    overlap = Campaign.objects.get(pk=campaign_id).overlap
    done_qs = Assignment.objects.filter(pair__campaign=campaign_id, state="done")
    people = list(done_qs.values_list("pair", "annotator"))
    each = Counter(pair for pair, _ in people)
    pairs = set(Pair.objects.filter(campaign=campaign_id).values_list("pk", flat=True))
    wrong = [
        f"pair {pair} has {each[pair]} seats filled" for pair in pairs if each[pair] != overlap
    ]
    wrong += [f"{who} appears twice" for who, count in Counter(people).items() if count > 1]
    labels_qs = Label.objects.filter(pair__campaign=campaign_id)
    labels = Counter(labels_qs.values_list("pair", "annotator"))
    wrong += [f"{who} has {count} labels" for who, count in labels.items() if count > 1]
    if labels.keys() != set(people):
        wrong.append("the labels are not those of the seats")
    miscounted = Pair.objects.filter(campaign=campaign_id).exclude(label_seq=overlap)
    return wrong + [f"pair {pair.pk} counts {pair.label_seq} labels" for pair in miscounted]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--annotators", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--overlap", type=int, default=3)
    parser.add_argument("--postgres", metavar="URL", default=os.environ.get("DATABASE_URL", ""))
    options = parser.parse_args()
    with own_postgres_database(options.postgres) as url:
        os.environ |= {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        from tests.builders import make_member, make_world
        from tests.builders_annotation import make_campaign

        call_command("migrate", verbosity=0)
        world = make_world(queries=max(1, options.pairs // 40), documents=min(40, options.pairs))
        names = [f"annotator{number}" for number in range(options.annotators)]
        for name in names:
            make_member(collection=world.collection, username=name, role="annotator")
        campaign = make_campaign(world=world, people=names, overlap=options.overlap)
        began = time.monotonic()
        wrong = label_to_the_end(campaign_id=campaign.pk, usernames=names)
        took = time.monotonic() - began
        connection.close()
    labels = options.pairs * options.overlap
    sys.stdout.write(
        f"{labels:,} labels by {options.annotators} people in {took:.0f} s; {len(wrong)} faults\n"
    )
    raise SystemExit("\n".join(wrong[:20]) or 0)


if __name__ == "__main__":
    main()
