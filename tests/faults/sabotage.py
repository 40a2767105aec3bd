"""Faults built in on purpose, one at a time, to show that a storm finds them.

A process whose settings are tests.faults.sabotaged breaks what TOUCHSTONE_SABOTAGE names.
"""

import os
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.apps import AppConfig

from tests.faults.converging import POLL

WINDOW = 0.3  # seconds that a race is held open, so that it is run into
LONG_WINDOW, ENOUGH = 3.0, 3  # or until so many ran into it, if that is sooner
SOME = 5  # one label in so many


def no_sweep() -> None:
    """No one looks for what a lost message left."""
    from config.sweep import Sweeper

    Sweeper.look = lambda *_: 0  # type: ignore[method-assign]


def counted_seats() -> None:
    """Count who sits at a pair, then sit down: as it is often written."""
    from annotation.labelling import leasing
    from annotation.models import Assignment
    from annotation.permissions import AnnotatorContext
    from annotation.seats.streams import FreeSeat

    def lease(
        context: AnnotatorContext, seats: Sequence[FreeSeat], at: datetime, *, in_turn: bool = True
    ) -> int:
        pks = [seat.pk for seat in seats]
        wanted = Assignment.objects.filter(pk__in=pks).values_list("pair_id", flat=True)
        sitting = Assignment.objects.filter(state__in=("leased", "done"))
        counted = {pair: sitting.filter(pair=pair).count() for pair in wanted}
        room = {pair: n for pair, n in counted.items() if n < context.campaign.overlap}
        time.sleep(WINDOW if room else 0)
        for pair, count in room.items():
            Assignment.objects.create(
                pair_id=pair,
                seat=count + 1,
                annotator=context.viewer,
                state="leased",
                leased_until=at + context.campaign.lease,
            )
        return len(room)

    leasing._not_locked = lambda seats: seats
    leasing._lease = lease


def early_answers() -> None:
    """Some labels are acknowledged and never stored."""
    from annotation.labelling import api as labelling
    from annotation.labelling.services import Receipt, submit_labels

    module: Any = labelling

    def submit(*, context: Any, submissions: Any, at: datetime) -> list[Receipt]:
        if any(submission.id.int % SOME == 0 for submission in submissions):
            return [Receipt(submission.id) for submission in submissions]
        return submit_labels(context=context, submissions=submissions, at=at)

    module.submit_labels = submit


def late_flag() -> None:
    """A pair counts as concluded up to what was said while it was being concluded."""
    from annotation.consolidation import services as consolidating
    from annotation.models import Pair

    module: Any = consolidating
    load, save = module.load_labelled_pairs, module._save_aggregates

    def load_without_locks(pairs_qs: Any, *rest: Any) -> Any:
        unlocked_qs = pairs_qs.all()
        unlocked_qs.query.select_for_update = False
        return load(unlocked_qs, *rest)

    def save_late(concluded: Sequence[Any]) -> None:
        loaded = {one.pair.pk: one.pair.label_seq for one in concluded}
        until = time.monotonic() + LONG_WINDOW
        while loaded and time.monotonic() < until:
            now = Pair.objects.filter(pk__in=loaded).values_list("pk", "label_seq")
            if sum(seq > loaded[pk] for pk, seq in now) >= ENOUGH:
                break
            time.sleep(POLL)
        save(concluded)

    module.load_labelled_pairs = load_without_locks
    module._save_aggregates = save_late


def forgotten_query() -> None:
    """Of the touched queries the last is not scored again."""
    from evaluation.evaluations import refreshing

    module: Any = refreshing
    move = module.move_sums

    def move_less(*, query_ids: Sequence[int], **rest: Any) -> Any:
        return move(query_ids=query_ids[:-1], **rest)

    module.move_sums = move_less


SABOTAGES: MappingProxyType[str, Callable[[], None]] = MappingProxyType(
    {
        one.__name__: one
        for one in (no_sweep, counted_seats, early_answers, late_flag, forgotten_query)
    }
)


def prepare_database(name: str) -> None:
    """What a sabotage takes out of the database itself."""
    from django.db import connection

    from annotation.models import Assignment

    if name == "counted_seats":
        seat_once = next(
            one for one in Assignment._meta.constraints if one.name == "assignment_seat_once"
        )
        with connection.schema_editor() as editor:
            editor.remove_constraint(Assignment, seat_once)


class SabotageConfig(AppConfig):
    """Breaks what the environment names once everything is loaded."""

    name = "tests.faults.sabotage"
    label = "sabotage"

    def ready(self) -> None:
        SABOTAGES[os.environ["TOUCHSTONE_SABOTAGE"]]()
