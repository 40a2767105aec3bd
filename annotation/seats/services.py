"""Seats of pairs: how many there are, and how a lease ends.

A seat changes under its pair's row lock; only free -> leased (leasing.py) is a plain conditional
update. A list's lock is taken before any pair's, and pairs by rising id.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.db import connection, transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery

from annotation.consolidation.aggregation import count_wishes
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    CampaignAnnotator,
    GoldItem,
    Label,
    Pair,
)
from judgments.storage.bulk import insert_rows

NO_GRADE = (Label.Outcome.UNSURE, Label.Outcome.UNJUDGEABLE)
BATCH = 1_000


@dataclass
class _Seats:
    """A pair's seats that are not voided. count: without those set aside."""

    numbers: set[int] = field(default_factory=set)
    count: int = 0
    free: list[tuple[int, int]] = field(default_factory=list)  # number, id
    without_grade: int = 0


def lock_pairs(pairs_qs: QuerySet[Pair], *, skip_locked: bool = False) -> list[int]:
    """Lock pairs until the transaction ends; their ids. SQLite's writers queue as it is."""
    locked_qs = pairs_qs.order_by("pk").select_for_update(no_key=True, skip_locked=skip_locked)
    return list(locked_qs.values_list("pk", flat=True))


def hand_out(*, annotator_id: int, count: int, chunk: int | None = None) -> int:
    """Count the seats given to an annotator; returns how many they had before.

    annotator_id: their place in the campaign, which the caller has locked. chunk: the part of their
    order that the first of them is in; None leaves what was said last.
    """
    place_qs = CampaignAnnotator.objects.filter(pk=annotator_id)
    before = place_qs.values_list("handed", flat=True).get()
    said: dict[str, Any] = {} if chunk is None else {"chunk": chunk}
    place_qs.update(handed=before + count, **said)
    return before


def make_seats(*, pair_ids: Iterable[int], overlap: int) -> None:
    """The first seats of pairs that have none."""
    as_stored = Assignment._meta.get_field("public_id").get_db_prep_value
    columns = ("public_id", "pair_id", "seat", "occasion", "purpose", "state")
    purpose, state = Assignment.Purpose.POOL, Assignment.State.FREE
    rows = [
        (as_stored(uuid4(), connection), pair_id, number, 0, purpose, state)
        for pair_id in pair_ids
        for number in range(1, overlap + 1)
    ]
    insert_rows(Assignment, columns, rows)


def balance_seats(*, pair_ids: Iterable[int], overlap: int) -> None:
    """Give each pair the seats that it needs; the caller holds the pairs' locks.

    Needed are `overlap` seats, one more for everyone who sat there and could not grade the pair,
    one more for each time that a lead asked for one, and those that were added after a retraction;
    none at all where the right answer is known, in gold. Missing seats are made; free ones that
    no one needs any more are voided, extra ones first. Running it twice changes nothing.
    """
    ids = list(pair_ids)
    for start in range(0, len(ids), BATCH):
        _balance(ids[start : start + BATCH], overlap)


def _balance(pair_ids: list[int], overlap: int) -> None:
    new: list[Assignment] = []
    unneeded: list[int] = []
    gold_qs = GoldItem.objects.filter(pair__in=pair_ids, retired_at=None)
    gold = set(gold_qs.values_list("pair_id", flat=True))
    wishes = count_wishes(pair_ids)
    added = _count_added(pair_ids)
    for pair_id, seats in _seats_of(pair_ids).items():
        needed = overlap + seats.without_grade + wishes.get(pair_id, 0)
        needed += added.get(pair_id, 0)
        needed = 0 if pair_id in gold else needed
        missing = needed - seats.count
        if missing > 0:
            new += _new_seats(pair_id, seats.numbers, missing, overlap)
        elif missing < 0:
            unneeded += [pk for _, pk in sorted(seats.free, reverse=True)[:-missing]]
    Assignment.objects.bulk_create(new, batch_size=BATCH)
    if unneeded:
        # conditional: someone may just have leased it, and then it is theirs
        unneeded_qs = Assignment.objects.filter(pk__in=unneeded, state=Assignment.State.FREE)
        unneeded_qs.update(state=Assignment.State.VOIDED)


def end_leases(seats_qs: QuerySet[Assignment], *, skip_locked: bool = True) -> int:
    """Take leased seats away from their people and free them for others; how many.

    The rows are voided and new free rows take their numbers, so that a label that was on its
    way still finds the row that it names. Pairs that are being labelled right now are left
    alone if `skip_locked`.
    """
    leased_qs = seats_qs.filter(state=Assignment.State.LEASED)
    with transaction.atomic():
        wanted = set(leased_qs.order_by().values_list("pair_id", flat=True))
        pair_ids = lock_pairs(Pair.objects.filter(pk__in=wanted), skip_locked=skip_locked)
        # the conditions are asked again here: a lease may have been renewed meanwhile
        ended = leased_qs.filter(pair__in=pair_ids).update(state=Assignment.State.VOIDED)
        by_overlap: dict[int, list[int]] = defaultdict(list)
        pairs_qs = Pair.objects.filter(pk__in=pair_ids).order_by("pk")
        for pair_id, overlap in pairs_qs.values_list("pk", "campaign__overlap"):
            by_overlap[overlap].append(pair_id)
        for overlap, own in by_overlap.items():
            balance_seats(pair_ids=own, overlap=overlap)
    return ended


def retake_seat(*, pair_id: int) -> tuple[int, bool]:
    """The number of a seat for someone whose label of a stand-in there was taken back, and
    whether it is one more than there were; the caller holds the pair's lock.

    With the label their seat had become free for others. So that the pair is theirs to label or
    to give back as any other after such a step, they get a free seat, or one that is added.
    """
    (seats,) = _seats_of([pair_id]).values()
    if seats.free:
        number, pk = min(seats.free)
        # conditional: someone may lease it at this moment
        free_qs = Assignment.objects.filter(pk=pk, state=Assignment.State.FREE)
        if free_qs.update(state=Assignment.State.VOIDED):
            return number, False
    number = next(n for n in range(1, len(seats.numbers) + 2) if n not in seats.numbers)
    overlap = Pair.objects.values_list("campaign__overlap", flat=True).get(pk=pair_id)
    return number, seats.count >= overlap + seats.without_grade


def is_filled_by_others(*, pair_id: int, seat_id: int) -> bool:
    """Whether a pair has all the labels and leases that it needs without this seat of it; the
    caller holds the pair's lock."""
    (seats,) = _seats_of([pair_id], without=seat_id).values()
    overlap = Pair.objects.values_list("campaign__overlap", flat=True).get(pk=pair_id)
    needed = overlap + seats.without_grade + count_wishes([pair_id]).get(pair_id, 0)
    return seats.count - len(seats.free) >= needed + _count_added([pair_id]).get(pair_id, 0)


def _count_added(pair_ids: list[int]) -> dict[int, int]:
    """How many seats were added to pairs; they count until the stand-in is labelled again."""
    added_qs = Assignment.objects.filter(pair__in=pair_ids, is_added=True).order_by()
    return dict(added_qs.values_list("pair").annotate(seats=Count("pk")))


def _seats_of(pair_ids: list[int], *, without: int = 0) -> dict[int, _Seats]:
    current = Label.objects.filter(assignment=OuterRef("pk"), superseded_by__isnull=True)
    rows = (
        Assignment.objects.filter(pair__in=pair_ids, purpose__in=OVERLAP_PURPOSES)
        .exclude(state=Assignment.State.VOIDED)
        .exclude(pk=without)
        .annotate(outcome=Subquery(current.values("outcome")[:1]))
        .values_list("pair_id", "pk", "seat", "state", "outcome")
    )
    seats = {pair_id: _Seats() for pair_id in pair_ids}
    for pair_id, pk, number, state, outcome in rows:
        seats[pair_id].numbers.add(number)
        seats[pair_id].count += state != Assignment.State.ASIDE
        if state == Assignment.State.FREE:
            seats[pair_id].free.append((number, pk))
        elif state == Assignment.State.DONE and outcome in NO_GRADE:
            seats[pair_id].without_grade += 1
    return seats


def _new_seats(pair_id: int, taken: set[int], missing: int, overlap: int) -> list[Assignment]:
    numbers = [n for n in range(1, len(taken) + missing + 1) if n not in taken][:missing]
    purposes = Assignment.Purpose
    return [
        Assignment(
            pair_id=pair_id,
            seat=number,
            purpose=purposes.POOL if number <= overlap else purposes.EXTRA,
        )
        for number in numbers
    ]
