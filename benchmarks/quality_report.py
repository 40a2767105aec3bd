"""How long the quality report of a large campaign takes: computed, and opened.

    python -m benchmarks.quality_report [--labels 100000] [--people 20]

Made-up people, three labels a pair, and their conclusions are put into a temporary SQLite
database. Then the page is opened as its lead: before there are figures, after `refresh_quality`,
and again and again. The preview of a rule is timed like it; then the list's report, and using a
rule. CPU and wall-clock times of this process; a worker computes, so only who looks first waits
for it, with its progress.
"""

import argparse
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from benchmarks.homes import temporary_home
from benchmarks.usage import timed

OVERLAP = 3
QUERIES = 500
TIMES = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=20)
    options = parser.parse_args()
    with temporary_home():
        _measure(_fill(options.labels, options.people))


def _fill(labels: int, people: int) -> Any:
    """A campaign whose pairs have all their labels; the campaign."""
    from django.db import transaction

    from annotation.models import Assignment, Label, LabelTiming
    from tests.annotation.simulated_campaign import PLANTED, simulate
    from tests.builders import NOW, make_member, make_world
    from tests.builders_annotation import make_campaign

    pairs = labels // OVERLAP
    names = [f"person-{number}" for number in range(people)]
    world = make_world(queries=QUERIES, documents=-(-pairs // QUERIES))
    users = [
        make_member(collection=world.collection, username=name, role="annotator") for name in names
    ]
    every = [(query, document) for query in world.queries for document in world.documents]
    campaign = make_campaign(world=world, overlap=OVERLAP, people=names, pairs=every[:pairs])
    made = simulate(seed=1, pairs=pairs, overlap=OVERLAP, careful=people - len(PLANTED)).labels
    pair_ids = list(campaign.pairs.order_by("pk").values_list("pk", flat=True))
    seats = list(Assignment.objects.filter(pair__campaign=campaign).order_by("pair", "seat"))
    revision, sequence = campaign.guideline.revisions.get(), dict.fromkeys(pair_ids, 0)
    rows, timings = [], []
    for seat, unit, person, step, seconds, moment in zip(
        seats, made.units, made.annotators, made.steps, made.seconds, made.times, strict=True
    ):
        assert seat.pair_id == pair_ids[unit]
        seat.state, seat.annotator = Assignment.State.DONE, users[person]
        sequence[seat.pair_id] += 1
        at = NOW + timedelta(seconds=float(moment))
        rows.append(
            Label(
                id=uuid.uuid4(), pair_id=seat.pair_id, assignment=seat, annotator=users[person],
                guideline_revision=revision, outcome=Label.Outcome.GRADED, grade=int(step),
                received_at=at, pair_seq=sequence[seat.pair_id],
            )
        )  # fmt: skip
        timings.append(LabelTiming(label=rows[-1], made_at=at, seconds=float(seconds)))
    with transaction.atomic():
        Assignment.objects.filter(pair__campaign=campaign).delete()  # faster than a change of all
        Assignment.objects.bulk_create(seats, batch_size=1_000)
        Label.objects.bulk_create(rows, batch_size=1_000)
        LabelTiming.objects.bulk_create(timings, batch_size=1_000)
        campaign.pairs.update(label_seq=OVERLAP)
    return campaign


def _measure(campaign: Any) -> None:
    from django.test import Client
    from django.urls import reverse
    from django.utils import timezone

    from annotation.consolidation.services import consolidate
    from annotation.quality.services import refresh_quality
    from annotation.rule_change.previews import preview_rule
    from annotation.rule_change.services import choose_rule
    from judgments.models import User
    from judgments.permissions import get_access

    lead, lead_user = Client(headers={"host": "localhost"}), User.objects.get(username="ada")
    lead.force_login(lead_user)

    def look(name: str, what: object = campaign.public_id) -> Callable[[], None]:
        address = reverse(name, args=[campaign.list.collection.slug, what])

        def open_page() -> None:
            assert lead.get(address).status_code == 200

        return open_page

    def refresh() -> None:
        assert refresh_quality(campaign_id=campaign.pk, clock=timezone.now)

    def preview() -> None:
        assert preview_rule(campaign_id=campaign.pk, rule=campaign.rule, clock=timezone.now)

    def choose() -> None:
        access = get_access(viewer=lead_user, slug=campaign.list.collection.slug)
        done = choose_rule(access=access, campaign=campaign, rule="median", at=timezone.now())
        print(f"{done.pairs:,} pairs, {done.changed:,} changed")

    timed("concluding all pairs", lambda: consolidate(list_id=campaign.list_id, at=timezone.now()))
    for words, name, compute in (
        ("report", "campaign-quality", refresh), ("preview", "campaign-rule", preview)
    ):  # fmt: skip
        timed(f"{words}: page before there are figures", look(name))
        timed(f"{words}: computing in the worker", compute)
        timed(f"{words}: page, first time", look(name))
        timed(f"{words}: page, median of {TIMES}", look(name), times=TIMES)
    of_list = look("list-quality", campaign.list.slug)
    timed(f"the list's report: page, median of {TIMES}", of_list, times=TIMES)
    timed("choosing another rule, in the worker", choose)


if __name__ == "__main__":
    main()
