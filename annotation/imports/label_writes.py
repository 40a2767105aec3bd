"""The pairs, seats, labels and decisions that a file of labels becomes; all in one transaction."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import uuid4

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
from judgments.storage.side_texts import keep_text, new_text
from touchstone.errors import DomainError
from touchstone.files.errors import Problems

REASON: Final = "imported"  # of decisions that a file brings
BATCH: Final = 500


class ImportRefused(DomainError):
    """These labels can't become this campaign's."""


@dataclass
class Stock:
    """The pairs of a file, locked, and what their campaign holds of them.

    pairs: by the ids of query and document. seats: by pair, those not voided. current: by pair
    and annotator, the labels that hold.
    """

    campaign: Campaign
    revision: GuidelineRevision
    pairs: dict[Key, Pair]
    seats: dict[int, list[Assignment]] = field(default_factory=lambda: defaultdict(list))
    current: dict[tuple[int, int], Label] = field(default_factory=dict)


def take_stock(
    *, campaign: Campaign, keys: Mapping[Key, tuple[int, int]], given: GivenLabels
) -> Stock:
    """Make the pairs that are missing, lock them all, and read what they hold.

    keys: the pks of query and document. The caller holds the list's lock.
    Raises ImportRefused for pairs open in another campaign, FileRefused for gold.
    """
    _check_not_elsewhere(campaign, keys)
    known = campaign.pairs.order_by().values_list("query_id", "document_id")
    make_pairs(campaign=campaign, keys=sorted(set(keys.values()) - set(known)))
    lock_pairs(campaign.pairs.all())
    pairs_qs = campaign.pairs.select_related("document").only(
        "query_id", "document_id", "label_seq", "document__content_hash"
    )
    by_key = {(pair.query_id, pair.document_id): pair for pair in pairs_qs}
    pairs = {key: by_key[pks] for key, pks in keys.items()}
    stock = Stock(campaign, get_newest_revision(campaign.guideline), pairs)
    _check_no_gold(stock, given)
    # locked: a free seat may be leased without its pair's lock
    seats_qs = Assignment.objects.select_for_update(of=("self",)).order_by("pk")
    seats_qs = seats_qs.filter(pair__campaign=campaign, occasion=0)
    for seat in seats_qs.exclude(state=Assignment.State.VOIDED):
        stock.seats[seat.pair_id].append(seat)
    newer = Label.objects.filter(supersedes=OuterRef("pk"))
    current_qs = Label.objects.filter(~Exists(newer), pair__campaign=campaign)
    current_qs = current_qs.exclude(assignment__occasion__gt=0).order_by("pair_seq")
    for label in current_qs.only("pair_id", "annotator_id", "outcome", "grade", "assignment_id"):
        stock.current[label.pair_id, label.annotator_id] = label
    return stock


def store_labels(
    *, stock: Stock, given: GivenLabels, people: Mapping[str, User], at: datetime
) -> Counter[str]:
    """The file's labels in their seats; how many are "new", "corrected" or "unchanged"."""
    blind = dict(stock.campaign.annotators.values_list("user_id", "is_blind"))
    counts: Counter[str] = Counter()
    labels: list[Label] = []
    timings: list[LabelTiming] = []
    for said in given.labels:
        pair, user = stock.pairs[said.query_id, said.doc_id], people[said.annotator]
        before = stock.current.get((pair.pk, user.pk))
        if before is not None and before.grade == said.grade:
            counts["unchanged"] += 1
            continue
        counts["new" if before is None else "corrected"] += 1
        pair.label_seq += 1
        label = _label(said, pair, user, stock.revision, at)
        label.assignment = _sit_down(stock, pair, user)
        label.supersedes, label.is_blind = before, blind[user.pk]
        labels.append(label)
        taken_at = said.made_at or at
        timings.append(LabelTiming(label=label, made_at=taken_at, seconds=said.seconds))
    seats = [label.assignment for label in labels if label.assignment is not None]
    new, taken = [seat for seat in seats if not seat.pk], [seat for seat in seats if seat.pk]
    Assignment.objects.bulk_create(new, batch_size=BATCH)
    Assignment.objects.bulk_update(taken, ["state", "annotator", "leased_until"], batch_size=BATCH)
    notes = [label.note_text for label in labels if label.note_text]
    SideText.objects.bulk_create(notes, batch_size=BATCH)
    Label.objects.bulk_create(labels, batch_size=BATCH)
    LabelTiming.objects.bulk_create(timings, batch_size=BATCH)
    return counts


def store_decisions(*, stock: Stock, given: GivenLabels, by: User, at: datetime) -> int:
    """The final grades as decisions, but for pairs that are decided like that already."""
    holding_qs = Adjudication.objects.filter(pair__campaign=stock.campaign, reopening=None)
    holding = dict(holding_qs.order_by("pair_seq").values_list("pair_id", "grade"))
    decisions, kept = [], None
    for key, (grade, _) in given.finals.items():
        pair = stock.pairs[key]
        if holding.get(pair.pk) == grade:
            continue
        pair.label_seq += 1
        kept = kept or keep_text(REASON)
        decisions.append(
            Adjudication(
                pair=pair,
                grade=grade,
                reason_text=kept,
                guideline_revision=stock.revision,
                decided_at=at,
                decided_by=by,
                pair_seq=pair.label_seq,
            )
        )
    Adjudication.objects.bulk_create(decisions, batch_size=BATCH)
    return len(decisions)


def conclude_stock(
    *, stock: Stock, judgment_list: JudgmentList, at: datetime
) -> JudgmentVersion | None:
    """Count what was said of each pair, conclude what is due, and commit it in a live campaign."""
    campaign = stock.campaign
    by_count: dict[int, list[int]] = defaultdict(list)
    for pair in stock.pairs.values():
        by_count[pair.label_seq].append(pair.pk)
    for label_seq, pks in by_count.items():
        for start in range(0, len(pks), BATCH):
            pairs_qs = Pair.objects.filter(pk__in=pks[start : start + BATCH])
            pairs_qs.update(label_seq=label_seq)
    pair_ids = sorted(pk for pks in by_count.values() for pk in pks)
    balance_seats(pair_ids=pair_ids, overlap=campaign.overlap)
    due_qs = Pair.objects.filter(campaign=campaign, label_seq__gt=F("consolidated_seq"))
    concluded = conclude(judgment_list=judgment_list, due_qs=due_qs)
    if campaign.commit != Campaign.Commit.LIVE:
        return None
    return commit_conclusions(judgment_list=judgment_list, concluded=concluded, by=None, at=at)


def _check_not_elsewhere(campaign: Campaign, keys: Mapping[Key, tuple[int, int]]) -> None:
    open_qs = Pair.objects.filter(list=campaign.list_id, is_open=True).exclude(campaign=campaign)
    if not set(keys.values()).isdisjoint(open_qs.values_list("query_id", "document_id")):
        raise ImportRefused(
            "pairs_open_elsewhere", "Some pairs are open in another campaign: import them there."
        )


def _check_no_gold(stock: Stock, given: GivenLabels) -> None:
    """A pair whose right answer is known has no overlap that a label could belong to."""
    gold_qs = GoldItem.objects.filter(campaign=stock.campaign, retired_at=None)
    gold = set(gold_qs.values_list("pair_id", flat=True))
    problems = Problems(given.name)
    for key, line in given.lines().items():
        if stock.pairs[key].pk in gold:
            problems.add(line, "gold", "the pair is gold in this campaign.")
    problems.raise_if_any()


def _sit_down(stock: Stock, pair: Pair, user: User) -> Assignment:
    """The person's own seat at the pair, else a free one, else one more.

    A place at which they are shown another pair is none: that lease ends.
    """
    states, purposes = Assignment.State, Assignment.Purpose
    at_pair = stock.seats[pair.pk]
    own = next((seat for seat in at_pair if seat.annotator_id == user.pk), None)
    if own is not None and own.stand_in_id is not None:
        own.state = states.VOIDED
        own.save(update_fields=["state"])
        at_pair.remove(own)
        own = None
    free = (
        seat for seat in at_pair if seat.state == states.FREE and seat.purpose in OVERLAP_PURPOSES
    )
    seat = own or min(free, key=lambda one: one.seat, default=None)
    if seat is None:
        number = max((seat.seat for seat in at_pair), default=0) + 1
        is_planned = number <= stock.campaign.overlap
        purpose = purposes.POOL if is_planned else purposes.EXTRA
        seat = Assignment(pair=pair, seat=number, purpose=purpose)
        at_pair.append(seat)
    if seat.state != states.ASIDE:
        seat.state, seat.leased_until = states.DONE, None
    seat.annotator = user
    return seat


def _label(
    said: GivenLabel, pair: Pair, user: User, revision: GuidelineRevision, at: datetime
) -> Label:
    return Label(
        id=uuid4(),
        pair=pair,
        annotator=user,
        outcome=Label.Outcome.GRADED,
        grade=said.grade,
        note_text=new_text(said.note),
        guideline_revision=revision,
        content_hash=pair.document.content_hash,
        received_at=at,
        pair_seq=pair.label_seq,
    )
