"""The pairs, seats, labels and decisions that a file of labels becomes; all in one transaction.

Written a portion of the pairs at a time, as plain rows: what a million labels need in memory is
what was read of the file.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import connection, models
from django.db.models import Exists, F, OuterRef

from annotation.consolidation.services import commit_conclusions, conclude
from annotation.guidelines.services import get_newest_revision
from annotation.imports.files import GivenLabel, GivenLabels, Key
from annotation.models import (
    OVERLAP_PURPOSES,
    Adjudication,
    Assignment,
    Campaign,
    GoldItem,
    GuidelineRevision,
    Label,
    LabelTiming,
    Pair,
)
from annotation.pooling.services import make_pairs
from annotation.seats.services import balance_seats, lock_pairs
from judgments.models import JudgmentList, JudgmentVersion, SideText, User
from judgments.storage.bulk import Among, insert_rows
from judgments.storage.side_texts import keep_text, new_text
from touchstone.errors import DomainError
from touchstone.files.errors import Problems

REASON: Final = "imported"  # of decisions that a file brings
PORTION: Final = 5_000  # pairs whose labels are written together
CONCLUDED: Final = 50_000  # pairs of one version of the list: its evidence is in memory as a whole


class ImportRefused(DomainError):
    """These labels can't become this campaign's."""


@dataclass(frozen=True)
class Stock:
    """The pairs of a file, locked. pairs: their pks, by the ids of query and document."""

    campaign: Campaign
    revision: GuidelineRevision
    pairs: Mapping[Key, int]


@dataclass(slots=True)
class Seat:
    """A seat of a pair. pk: None for one that is to be made. is_taken: by a label of the file."""

    pk: int | None
    number: int
    state: str
    purpose: str
    annotator: int | None = None
    is_stand_in: bool = False
    is_taken: bool = False


@dataclass(slots=True)
class PairStock:
    """What a campaign holds of a pair. seats: not voided. current: by annotator, the label that
    holds and its grade. decided: the grade of a decision that holds."""

    label_seq: int
    content_hash: str
    seats: list[Seat] = field(default_factory=list)
    current: dict[int, tuple[UUID, int | None]] = field(default_factory=dict)
    decided: int | None = None


def take_stock(
    *, campaign: Campaign, keys: Mapping[Key, tuple[int, int]], given: GivenLabels
) -> Stock:
    """Make the pairs that are missing, and lock them all.

    keys: the pks of query and document. The caller holds the list's lock.
    Raises ImportRefused for pairs open in another campaign, FileRefused for gold.
    """
    _check_not_elsewhere(campaign, keys)
    known = campaign.pairs.order_by().values_list("query_id", "document_id")
    make_pairs(campaign=campaign, keys=sorted(set(keys.values()) - set(known)))
    lock_pairs(campaign.pairs.all())
    rows = campaign.pairs.order_by().values_list("query_id", "document_id", "pk")
    by_pks = {(query, document): pk for query, document, pk in rows}
    stock = Stock(
        campaign,
        get_newest_revision(campaign.guideline),
        {key: by_pks[pks] for key, pks in keys.items()},
    )
    _check_no_gold(stock, given)
    return stock


def store_labels(
    *, stock: Stock, given: GivenLabels, people: Mapping[str, User], by: User, at: datetime
) -> Counter[str]:
    """The file's labels in their seats, and its final grades as decisions by this person.

    Returns how many labels are "new", "corrected" or "unchanged", and how many pairs "decided":
    without those that are decided like that already.
    """
    by_pair: dict[int, list[GivenLabel]] = defaultdict(list)
    for said in given.labels:
        by_pair[stock.pairs[said.query_id, said.doc_id]].append(said)
    finals = {stock.pairs[key]: grade for key, (grade, _) in given.finals.items()}
    writes = _Writes(stock, {name: user.pk for name, user in people.items()}, by, at)
    for pair_ids in _portions(sorted(by_pair), PORTION):
        writes.write(pair_ids, by_pair, finals)
    return writes.counts


def conclude_stock(
    *, stock: Stock, judgment_list: JudgmentList, at: datetime
) -> JudgmentVersion | None:
    """Conclude what is due, and commit it in a live campaign: the newest version, if any."""
    campaign, version = stock.campaign, None
    for pair_ids in _portions(sorted(stock.pairs.values()), CONCLUDED):
        balance_seats(pair_ids=pair_ids, overlap=campaign.overlap)
        among = Pair.objects.filter(Among("pk", pair_ids), campaign=campaign)
        due_qs = among.filter(label_seq__gt=F("consolidated_seq"))
        concluded = conclude(judgment_list=judgment_list, due_qs=due_qs)
        if campaign.commit == Campaign.Commit.LIVE:
            made = commit_conclusions(
                judgment_list=judgment_list, concluded=concluded, by=None, at=at
            )
            version = made or version
    return version


def _check_not_elsewhere(campaign: Campaign, keys: Mapping[Key, tuple[int, int]]) -> None:
    open_qs = Pair.objects.filter(list=campaign.list_id, is_open=True).exclude(campaign=campaign)
    if not set(keys.values()).isdisjoint(open_qs.values_list("query_id", "document_id")):
        raise ImportRefused(
            "pairs_open_elsewhere",
            "Some of these pairs are open in another campaign. Import their labels there.",
        )


def _check_no_gold(stock: Stock, given: GivenLabels) -> None:
    """A pair whose right answer is known has no overlap that a label could belong to."""
    gold_qs = GoldItem.objects.filter(campaign=stock.campaign, retired_at=None)
    gold = set(gold_qs.values_list("pair_id", flat=True))
    if not gold:
        return
    problems = Problems(given.name)
    for key, line in given.lines().items():
        if stock.pairs[key] in gold:
            problems.add(
                line, "gold", "the pair is gold in this campaign; its labels can’t be imported."
            )
    problems.raise_if_any()


class _Writes:
    """The rows of labels that are written a portion after the other."""

    def __init__(self, stock: Stock, people: Mapping[str, int], by: User, at: datetime) -> None:
        self.counts: Counter[str] = Counter()
        self._stock = stock
        self._people = people
        self._by = by
        self._at = at
        self._blind = dict(stock.campaign.annotators.values_list("user_id", "is_blind"))
        self._reason: str | None = None

    def write(
        self,
        pair_ids: Sequence[int],
        by_pair: Mapping[int, Sequence[GivenLabel]],
        finals: Mapping[int, int],
    ) -> None:
        """The labels and decisions of these pairs."""
        pairs = _load_pairs(self._stock.campaign, pair_ids, finals)
        stored: list[tuple[int, GivenLabel, int, Seat, UUID | None]] = []
        for pk in pair_ids:
            for said in by_pair[pk]:
                person = self._people[said.annotator]
                before, grade = pairs[pk].current.get(person, (None, None))
                if before is not None and grade == said.grade:
                    self.counts["unchanged"] += 1
                    continue
                self.counts["corrected" if before else "new"] += 1
                seat = _sit_down(pairs[pk], person, self._stock.campaign.overlap)
                pairs[pk].label_seq += 1
                stored.append((pk, said, pairs[pk].label_seq, seat, before))
        _save_seats(pairs)
        self._save_labels(pairs, stored)
        self._decide(pairs, finals)
        _save_sequences(pairs)

    def _save_labels(
        self,
        pairs: Mapping[int, PairStock],
        stored: Sequence[tuple[int, GivenLabel, int, Seat, UUID | None]],
    ) -> None:
        texts: list[tuple[str, str, str]] = []
        labels: list[tuple[Any, ...]] = []
        timings: list[tuple[Any, ...]] = []
        graded, revision = Label.Outcome.GRADED, self._stock.revision.pk
        received_at = _stored(Label, "received_at", self._at)
        for pk, said, sequence, seat, before in stored:
            note = new_text(said.note)
            if note:
                texts.append((note.digest, note.salt, note.text))
            label, person = _stored(Label, "id", uuid4()), self._people[said.annotator]
            superseded = before and _stored(Label, "id", before)
            labels.append(
                (
                    label, pk, seat.pk, person, graded, said.grade, note and note.digest, "[]",
                    revision, pairs[pk].content_hash, received_at, superseded, sequence,
                    self._blind[person],
                )
            )  # fmt: skip
            made_at = _stored(LabelTiming, "made_at", said.made_at or self._at)
            timings.append((label, made_at, said.seconds))
        insert_rows(SideText, ("digest", "salt", "text"), texts)
        insert_rows(Label, LABEL_COLUMNS, labels)
        insert_rows(LabelTiming, ("label_id", "made_at", "seconds"), timings)

    def _decide(self, pairs: Mapping[int, PairStock], finals: Mapping[int, int]) -> None:
        decisions: list[tuple[Any, ...]] = []
        revision, at = self._stock.revision.pk, _stored(Adjudication, "decided_at", self._at)
        for pk, pair in pairs.items():
            if pk not in finals or pair.decided == finals[pk]:
                continue
            if self._reason is None:
                kept = keep_text(REASON)
                self._reason = kept.digest if kept else None
            pair.label_seq += 1
            decisions.append(
                (pk, finals[pk], self._reason, revision, at, self._by.pk, pair.label_seq)
            )
        self.counts["decided"] += len(decisions)
        insert_rows(Adjudication, DECISION_COLUMNS, decisions)


LABEL_COLUMNS: Final = (
    "id", "pair_id", "assignment_id", "annotator_id", "outcome", "grade", "note_text_id", "spans",
    "guideline_revision_id", "content_hash", "received_at", "supersedes_id", "pair_seq",
    "is_blind",
)  # fmt: skip
DECISION_COLUMNS: Final = (
    "pair_id", "grade", "reason_text_id", "guideline_revision_id", "decided_at", "decided_by_id",
    "pair_seq",
)  # fmt: skip
SEAT_COLUMNS: Final = (
    "public_id", "pair_id", "seat", "occasion", "purpose", "state", "annotator_id",
)  # fmt: skip


def _load_pairs(
    campaign: Campaign, pair_ids: Sequence[int], finals: Mapping[int, int]
) -> dict[int, PairStock]:
    """What the campaign holds of these pairs, by rising pk."""
    rows = Pair.objects.filter(Among("pk", pair_ids)).order_by("pk")
    pairs = {
        pk: PairStock(label_seq, content_hash)
        for pk, label_seq, content_hash in rows.values_list(
            "pk", "label_seq", "document__content_hash"
        )
    }
    # locked: a free seat may be leased without its pair's lock
    seats_qs = Assignment.objects.select_for_update().order_by("pk")
    seats_qs = seats_qs.filter(Among("pair", pair_ids), occasion=0)
    for pk, seat, number, state, purpose, annotator, stand_in in seats_qs.exclude(
        state=Assignment.State.VOIDED
    ).values_list("pair_id", "pk", "seat", "state", "purpose", "annotator_id", "stand_in_id"):
        taken = Seat(seat, number, state, purpose, annotator, is_stand_in=stand_in is not None)
        pairs[pk].seats.append(taken)
    newer = Label.objects.filter(supersedes=OuterRef("pk"))
    current_qs = Label.objects.filter(~Exists(newer), Among("pair", pair_ids))
    current_qs = current_qs.exclude(assignment__occasion__gt=0).order_by("pair_id", "pair_seq")
    for pk, person, label, grade in current_qs.values_list(
        "pair_id", "annotator_id", "pk", "grade"
    ):
        pairs[pk].current[person] = label, grade
    if not finals.keys().isdisjoint(pair_ids):
        holding_qs = Adjudication.objects.filter(Among("pair", pair_ids), reopening=None)
        for pk, grade in holding_qs.order_by("pair_seq").values_list("pair_id", "grade"):
            pairs[pk].decided = grade
    return pairs


def _sit_down(pair: PairStock, person: int, overlap: int) -> Seat:
    """The person's own seat at the pair, else a free one, else one more.

    A place at which they are shown another pair is none: that lease ends.
    """
    states, purposes = Assignment.State, Assignment.Purpose
    at_pair = [seat for seat in pair.seats if seat.state != states.VOIDED]
    own = next((seat for seat in at_pair if seat.annotator == person), None)
    if own is not None and own.is_stand_in:
        own.state = states.VOIDED
        at_pair.remove(own)
        own = None
    free = (
        seat for seat in at_pair if seat.state == states.FREE and seat.purpose in OVERLAP_PURPOSES
    )
    seat = own or min(free, key=lambda one: one.number, default=None)
    if seat is None:
        number = max((seat.number for seat in at_pair), default=0) + 1
        purpose = purposes.POOL if number <= overlap else purposes.EXTRA
        seat = Seat(None, number, states.FREE, purpose)
        pair.seats.append(seat)
    if seat.state != states.ASIDE:
        seat.state = states.DONE
    seat.annotator, seat.is_taken = person, True
    return seat


def _save_seats(pairs: Mapping[int, PairStock]) -> None:
    """Every seat as it is now; those that are new get their pks."""
    states = Assignment.State
    taken = [seat for pair in pairs.values() for seat in pair.seats if seat.is_taken and seat.pk]
    # a lease that ends makes room first
    ended = [
        seat.pk
        for pair in pairs.values()
        for seat in pair.seats
        if seat.pk and seat.state == states.VOIDED
    ]
    Assignment.objects.filter(Among("pk", ended)).update(state=states.VOIDED)
    Assignment.objects.bulk_update(
        [Assignment(pk=one.pk, state=one.state, annotator_id=one.annotator) for one in taken],
        ["state", "annotator", "leased_until"],
        batch_size=500,
    )
    new = {
        (pk, seat.number): seat
        for pk, pair in pairs.items()
        for seat in pair.seats
        if seat.pk is None
    }
    rows = [
        (
            _stored(Assignment, "public_id", uuid4()), pk, number, 0, seat.purpose, seat.state,
            seat.annotator,
        )
        for (pk, number), seat in new.items()
    ]  # fmt: skip
    insert_rows(Assignment, SEAT_COLUMNS, rows)
    if new:
        made_qs = Assignment.objects.filter(
            Among("pair", {pk for pk, _ in new}), occasion=0, purpose__in=OVERLAP_PURPOSES
        ).exclude(state=states.VOIDED)
        for pk, number, made in made_qs.order_by("pk").values_list("pair_id", "seat", "pk"):
            if (pk, number) in new:
                new[pk, number].pk = made


def _save_sequences(pairs: Mapping[int, PairStock]) -> None:
    by_count: dict[int, list[int]] = defaultdict(list)
    for pk, pair in pairs.items():
        by_count[pair.label_seq].append(pk)
    for label_seq, pks in by_count.items():
        Pair.objects.filter(Among("pk", pks)).update(label_seq=label_seq)


def _stored(model: type[models.Model], column: str, value: Any) -> Any:
    """A value as this database holds it."""
    field_of: Any = model._meta.get_field(column)
    return field_of.get_db_prep_value(value, connection)


def _portions(pks: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(pks), size):
        yield pks[start : start + size]
