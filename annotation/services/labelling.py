"""Taking labels. What has been acknowledged is in the database, once, for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet, Subquery, UUIDField
from django.db.models.functions import Coalesce

from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    GuidelineRevision,
    Label,
    Pair,
)
from annotation.permissions import CampaignClosed, Desk
from annotation.selectors.standing import Told, get_told
from annotation.services.seats import NO_GRADE, balance_seats
from annotation.services.training import record_answer
from annotation.services.usual_label import store_usual
from annotation.submissions import RETRACTED, LabelRefused, Submission, checked_submission
from judgments.errors import DomainError
from judgments.permissions import NotFound
from judgments.prepared import PreparedInsert, PreparedObjects, PreparedRows, PreparedUpdate, slot
from judgments.scales import Scale
from judgments.waking import wake

TRIES: Final = 3


@dataclass(frozen=True)
class Receipt:
    """What became of one label of a batch.

    is_repeat: it was stored before. is_surplus: it is stored outside the overlap, its pair having
    been filled meanwhile. told: the right answer, where it is of a training pair. code, message:
    why it was refused, else empty.
    """

    id: UUID
    is_repeat: bool = False
    is_surplus: bool = False
    told: Told | None = None
    code: str = ""
    message: str = ""

    @property
    def is_stored(self) -> bool:
        return not self.code


class _Named(NamedTuple):
    """The seat that a label names: it is or was the viewer's."""

    pk: int
    pair_id: int
    occasion: int
    purpose: str
    order: str
    place: int | None
    shown_hash: str
    revision_id: int


def submit_labels(*, desk: Desk, submissions: Sequence[Submission], at: datetime) -> list[Receipt]:
    """Take labels in the order given and say what became of each.

    Each has a transaction of its own: one that is refused does not hold up the others.
    """
    receipts = []
    for submission in submissions:
        try:
            receipts.append(submit_label(desk=desk, submission=submission, at=at))
        except DomainError as error:
            receipts.append(Receipt(submission.id, code=error.code, message=error.message))
    return receipts


def submit_label(*, desk: Desk, submission: Submission, at: datetime) -> Receipt:
    """Store one label; when this returns, it is kept.

    The same id with the same content changes nothing and is a repeat. A second label for a pair
    supersedes the viewer's first; `retracted` takes the last one back and leaves its seat leased
    to the viewer. A label whose lease was lost takes a free seat of its pair, or is kept outside
    the overlap. One for a closed campaign is kept if it was made before the closing.
    Raises NotFound for a seat that never was the viewer's, LabelRefused (label_conflict for an
    id that stands for something else), CampaignClosed.
    """
    scale = Scale.from_json(desk.campaign.list.scale)
    checked = checked_submission(submission, scale=scale, at=at)
    if store_usual(desk=desk, submission=checked, at=at):
        _announce(desk.campaign.list_id)
        return Receipt(submission.id)
    named = _named_seat(desk, checked)
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                return _submit(desk, checked, named, at)
        except IntegrityError:
            # the same id at the same moment for another pair, or a lease of the viewer's other
            # tab: the other one has committed, so looking again shows what it did
            continue
    raise LabelRefused("label_conflict", "This label's id is in use already.")


def _named_seat(desk: Desk, submission: Submission) -> _Named:
    number = submission.guideline_revision
    rows = _seat.list(
        assignment=submission.assignment,
        viewer=desk.viewer.pk,
        campaign=desk.campaign.pk,
        guideline=desk.campaign.guideline_id,
        revision=number,
    )
    if not rows:
        raise NotFound("assignment")
    if rows[0][-1] is None:
        raise LabelRefused("revision_unknown", f"The guideline has no revision {number}.")
    return _Named(*rows[0])


def _seat_qs() -> QuerySet[Any, Any]:
    revisions = GuidelineRevision.objects.filter(
        guideline=slot("guideline"), number=slot("revision")
    )
    seat_qs = Assignment.objects.filter(
        public_id=slot("assignment", UUIDField),
        annotator=slot("viewer"),
        pair__campaign=slot("campaign"),
    )
    return seat_qs.annotate(revision=Subquery(revisions.order_by().values("pk"))).values_list(
        "pk", "pair_id", "occasion", "purpose", "order", "place", "pair__document__content_hash",
        "revision",
    )  # fmt: skip


_seat: PreparedRows[Any] = PreparedRows(_seat_qs)


def _submit(desk: Desk, submission: Submission, named: _Named, at: datetime) -> Receipt:
    """The transaction: everything about a pair's labels and seats happens under its lock."""
    (pair,) = _locked_pair.list(pair=named.pair_id)
    said = _said(desk, submission, named)
    if submission.id in said:
        _check_same(desk, said[submission.id], submission, named)
        is_surplus = _is_surplus(submission, said[submission.id].assignment_id)
        told = _answer(submission, named, at)
        return Receipt(submission.id, is_repeat=True, is_surplus=is_surplus, told=told)
    tip = _tip(said, submission)
    if not pair.is_open:
        _check_in_time(desk, submission)
    seat_id = _take_seat(desk, submission, named, tip, at)
    _count(pair, is_planted=named.purpose not in OVERLAP_PURPOSES)
    _store(desk, submission, named, seat_id=seat_id, tip=tip, pair_seq=pair.label_seq, at=at)
    told = _answer(submission, named, at)
    if tip is not None or submission.outcome in NO_GRADE:
        balance_seats(pair_ids=[pair.pk], overlap=desk.campaign.overlap)
    if pair.is_open:
        _announce(pair.list_id)
    return Receipt(submission.id, is_surplus=_is_surplus(submission, seat_id), told=told)


def _announce(list_id: int) -> None:
    """Have a worker conclude something of the label. More often than a list takes a version of
    labels, workers would find that they have to wait."""
    wake("annotation.consolidate", list_id, pause=settings.LIVE_COMMIT_INTERVAL)


def _answer(submission: Submission, named: _Named, at: datetime) -> Told | None:
    """What is told of a label of a training pair, at once; None for any other."""
    if named.purpose != Assignment.Purpose.TRAINING or submission.outcome == RETRACTED:
        return None
    where = ("annotator", "pair__list", "pair__campaign__list__collection")
    label = Label.objects.select_related(*where).get(pk=submission.id)
    record_answer(label=label, at=at)
    return get_told(label)


def _locked_pair_qs() -> QuerySet[Pair]:
    return Pair.objects.select_for_update(no_key=True).filter(pk=slot("pair")).order_by()


_locked_pair: PreparedObjects[Pair] = PreparedObjects(_locked_pair_qs)


def _is_surplus(submission: Submission, seat_id: int | None) -> bool:
    return seat_id is None and submission.outcome != RETRACTED


def _count(pair: Pair, *, is_planted: bool) -> None:
    """Give the label its number among those of the pair.

    A label outside the overlap says nothing about the grade: nothing becomes due by it.
    """
    is_settled = pair.consolidated_seq == pair.label_seq
    is_committed = pair.committed_seq == pair.label_seq
    pair.label_seq += 1
    if is_planted and is_settled:
        pair.consolidated_seq = pair.label_seq
    if is_planted and is_committed:
        pair.committed_seq = pair.label_seq
    _counts.run(
        pair=pair.pk,
        label_seq=pair.label_seq,
        consolidated_seq=pair.consolidated_seq,
        committed_seq=pair.committed_seq,
    )


_counts = PreparedUpdate(
    lambda: Pair.objects.filter(pk=slot("pair")),
    label_seq=slot("label_seq"),
    consolidated_seq=slot("consolidated_seq"),
    committed_seq=slot("committed_seq"),
)


def _said(desk: Desk, submission: Submission, named: _Named) -> dict[UUID, Label]:
    """What the viewer said of this pair on this occasion, and whatever has the label's id."""
    said = _own_words.list(label=submission.id, pair=named.pair_id, viewer=desk.viewer.pk)
    return {
        label.pk: label
        for label in said
        if label.pk == submission.id or label.occasion == named.occasion
    }


def _own_words_qs() -> QuerySet[Label]:
    own = Q(pair=slot("pair"), annotator=slot("viewer"))
    labels_qs = Label.objects.filter(Q(pk=slot("label", UUIDField)) | own).order_by("pair_seq")
    return labels_qs.annotate(occasion=Coalesce("assignment__occasion", 0))


_own_words: PreparedObjects[Any] = PreparedObjects(_own_words_qs)


def _check_same(desk: Desk, label: Label, submission: Submission, named: _Named) -> None:
    """A repeat says exactly what it said before; the clock is compared as it was stored."""
    before: list[Any] = [
        label.annotator_id, label.pair_id, label.outcome, label.grade, label.reason, label.note,
        label.spans, label.guideline_revision_id, label.seconds, label.made_at, label.content_hash,
    ]  # fmt: skip
    now: list[Any] = [
        desk.viewer.pk, named.pair_id, submission.outcome, submission.grade, submission.reason,
        submission.note, list(submission.spans), named.revision_id, submission.seconds,
        min(submission.made_at, label.received_at), submission.content_hash or label.content_hash,
    ]  # fmt: skip
    if before != now:
        raise LabelRefused("label_conflict", "This label's id was used for another label.")


def _tip(said: dict[UUID, Label], submission: Submission) -> Label | None:
    """The viewer's newest word on the pair: what the label supersedes, if there is one.

    A correction may name an older one: the person had not seen their own newer one then.
    """
    if submission.supersedes is not None and submission.supersedes not in said:
        raise LabelRefused("label_unknown", "The label to be corrected is not one of this pair.")
    superseded = {label.supersedes_id for label in said.values()}
    tip = next((label for pk, label in said.items() if pk not in superseded), None)
    if submission.outcome == RETRACTED and (tip is None or tip.outcome == RETRACTED):
        raise LabelRefused("nothing_to_retract", "There is no label to take back.")
    return tip


def _check_in_time(desk: Desk, submission: Submission) -> None:
    """Once a campaign is closed, only what was said before may still arrive."""
    closed_at = Campaign.objects.values_list("closed_at", flat=True).get(pk=desk.campaign.pk)
    if closed_at is None or submission.made_at > closed_at:
        raise CampaignClosed


def _take_seat(
    desk: Desk, submission: Submission, named: _Named, tip: Label | None, at: datetime
) -> int | None:
    """The seat that the label belongs to, as it is after the label; None: it is a surplus."""
    seats_qs = Assignment.objects.filter(pair=named.pair_id, occasion=named.occasion)
    if submission.outcome == RETRACTED:
        assert tip is not None
        if tip.assignment_id is not None:
            seat_qs = seats_qs.filter(pk=tip.assignment_id, state=Assignment.State.DONE)
            seat_qs.update(state=Assignment.State.LEASED, leased_until=at + desk.campaign.lease)
        return tip.assignment_id
    if _taken_lease.run(seat=named.pk, pair=named.pair_id, viewer=desk.viewer.pk):
        return named.pk
    return _find_seat(desk, named, seats_qs)


def _lease_qs() -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        pk=slot("seat"),
        pair=slot("pair"),
        annotator=slot("viewer"),
        state=Assignment.State.LEASED,
    )


_taken_lease = PreparedUpdate(_lease_qs, state=Assignment.State.DONE, leased_until=None)


def _find_seat(desk: Desk, named: _Named, seats_qs: QuerySet[Assignment]) -> int | None:
    """For a correction the seat it was made in; else the viewer's new lease, or a free seat."""
    states = Assignment.State
    own = seats_qs.filter(annotator=desk.viewer).exclude(state=states.VOIDED).first()
    if own is not None:
        _sit_down(seats_qs.filter(pk=own.pk), states.LEASED)
        return own.pk
    if named.purpose not in OVERLAP_PURPOSES:
        # nobody else ever sits there: a label that comes late still finds its seat
        _sit_down(seats_qs.filter(pk=named.pk), states.VOIDED)
        return named.pk
    free = seats_qs.filter(state=states.FREE, purpose__in=OVERLAP_PURPOSES).order_by("seat")
    met = {"annotator": desk.viewer, "order": named.order, "place": named.place}
    for pk in list(free.values_list("pk", flat=True)):
        # conditional: somebody may lease it at this moment
        if _sit_down(seats_qs.filter(pk=pk), states.FREE, **met):
            return pk
    return None


def _sit_down(seat_qs: QuerySet[Assignment], state: str, **change: Any) -> bool:
    done = seat_qs.filter(state=state).update(
        state=Assignment.State.DONE, leased_until=None, **change
    )
    return bool(done)


def _store(
    desk: Desk,
    submission: Submission,
    named: _Named,
    *,
    seat_id: int | None,
    tip: Label | None,
    pair_seq: int,
    at: datetime,
) -> None:
    _label.run(
        id=submission.id,
        pair_id=named.pair_id,
        assignment_id=seat_id,
        annotator_id=desk.viewer.pk,
        outcome=submission.outcome,
        grade=submission.grade,
        reason=submission.reason,
        note=submission.note,
        spans=list(submission.spans),
        guideline_revision_id=named.revision_id,
        content_hash=submission.content_hash or named.shown_hash,
        seconds=submission.seconds,
        made_at=submission.made_at,
        received_at=at,
        supersedes_id=None if tip is None else tip.pk,
        pair_seq=pair_seq,
        is_blind=desk.is_blind,
    )


_label = PreparedInsert(Label, *(field.attname for field in Label._meta.concrete_fields))
