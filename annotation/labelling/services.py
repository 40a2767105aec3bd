"""Taking labels. What has been acknowledged is in the database, once, for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, CharField, Q, QuerySet, Subquery, UUIDField, When
from django.db.models.functions import Coalesce

from annotation.gold.planting_services import OWN_SEAT
from annotation.labelling.submissions import RETRACTED, LabelRefused, Submission, checked_submission
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    GuidelineRevision,
    Label,
    LabelTiming,
    Pair,
)
from annotation.permissions import AnnotatorContext, CampaignClosed
from annotation.seats.services import NO_GRADE, balance_seats, is_filled_by_others, retake_seat
from annotation.training.services import record_answer
from annotation.training.standing import Told, get_told
from judgments.pages.languages import message_of
from judgments.permissions import NotFound
from judgments.storage.prepared import (
    OneOf,
    PreparedInsert,
    PreparedObjects,
    PreparedRows,
    PreparedUpdate,
    slot,
)
from judgments.storage.side_texts import is_text, keep_text
from judgments.waking import wake
from touchstone.errors import DomainError
from touchstone.scales import Scale

TRIES: Final = 3
REPEAT: Final = Assignment.Purpose.REPEAT


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
    """The seat that a label names: it is or was the viewer's.

    pair_id, occasion, purpose: of the pair that they were shown. place_id: the pair whose seats
    decide what becomes of the label; another one only where the pair shown stands in for it.
    """

    pk: int
    pair_id: int
    occasion: int
    purpose: str
    place_id: int
    stand_in: int | None
    order: str
    place: int | None
    shown_hash: str
    revision_id: int


def submit_labels(
    *, context: AnnotatorContext, submissions: Sequence[Submission], at: datetime
) -> list[Receipt]:
    """Take labels in the order given and say what became of each.

    Each has a transaction of its own: one that is refused does not hold up the others.
    """
    receipts = []
    for submission in submissions:
        try:
            receipts.append(submit_label(context=context, submission=submission, at=at))
        except DomainError as error:
            receipts.append(Receipt(submission.id, code=error.code, message=message_of(error)))
    return receipts


def submit_label(*, context: AnnotatorContext, submission: Submission, at: datetime) -> Receipt:
    """Store one label; when this returns, it is kept.

    The same id with the same content changes nothing and is a repeat. A second label for a pair
    supersedes the viewer's first; `retracted` takes the last one back and leaves its seat leased
    to the viewer. A label whose lease was lost takes a free seat of its pair, or is kept outside
    the overlap. One for a closed campaign is kept if it was made before the closing.
    Raises NotFound for a seat that never was the viewer's, LabelRefused (label_conflict for an
    id that stands for something else), CampaignClosed.
    """
    scale = Scale.from_json(context.campaign.list.scale)
    checked = checked_submission(submission, scale=scale)
    named = _named_seat(context, checked)
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                return _submit(context, checked, named, at)
        except IntegrityError:
            # the same id at the same moment for another pair, or a lease of the viewer's other
            # tab: the other one has committed, so looking again shows what it did
            continue
    raise LabelRefused("label_conflict", "This label id is already in use.")


def _named_seat(context: AnnotatorContext, submission: Submission) -> _Named:
    number = submission.guideline_revision
    rows = _seat.list(
        assignment=submission.assignment,
        viewer=context.viewer.pk,
        campaign=context.campaign.pk,
        guideline=context.campaign.guideline_id,
        revision=number,
    )
    if not rows:
        raise NotFound("assignment")
    if rows[0][-1] is None:
        raise LabelRefused(
            "revision_unknown", "The guideline has no revision {number}.", number=number
        )
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
        "pk",
        Coalesce("stand_in__shown_id", "pair_id"),
        Coalesce("stand_in__occasion", "occasion"),
        Coalesce("stand_in__purpose", "purpose"),
        Coalesce("stand_in__replaced_id", "pair_id"),
        "stand_in_id",
        "order",
        "place",
        Coalesce("stand_in__shown__document__content_hash", "pair__document__content_hash"),
        "revision",
    )


_seat: PreparedRows[Any] = PreparedRows(_seat_qs)


def _submit(
    context: AnnotatorContext, submission: Submission, named: _Named, at: datetime
) -> Receipt:
    """The transaction: everything about a pair's labels and seats happens under its lock."""
    locked = _locked_pairs.list(pairs={named.pair_id, named.place_id})
    pair = next(one for one in locked if one.pk == named.pair_id)
    said = _said(context, submission, named)
    if submission.id in said:
        _check_same(context, said[submission.id], submission, named)
        is_surplus = _is_surplus(submission, said[submission.id].assignment_id)
        told = _answer(submission, named, at)
        return Receipt(submission.id, is_repeat=True, is_surplus=is_surplus, told=told)
    tip = _tip(said, submission)
    if not pair.is_open:
        _check_in_time(context, submission)
    seat_id = _take_seat(context, submission, named, tip, at)
    _count(pair, is_planted=named.purpose not in OVERLAP_PURPOSES)
    _store(context, submission, named, seat_id=seat_id, tip=tip, pair_seq=pair.label_seq, at=at)
    told = _answer(submission, named, at)
    if tip is not None or submission.outcome in NO_GRADE or named.purpose == REPEAT:
        balance_seats(pair_ids=[named.place_id], overlap=context.campaign.overlap)
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


def _locked_pairs_qs() -> QuerySet[Pair]:
    return Pair.objects.select_for_update(no_key=True).filter(OneOf("pk", "pairs")).order_by("pk")


_locked_pairs: PreparedObjects[Pair] = PreparedObjects(_locked_pairs_qs)


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


def _said(context: AnnotatorContext, submission: Submission, named: _Named) -> dict[UUID, Label]:
    """What the viewer said of this pair on this occasion, and whatever has the label's id."""
    said = _own_words.list(label=submission.id, pair=named.pair_id, viewer=context.viewer.pk)
    return {
        label.pk: label
        for label in said
        if label.pk == submission.id or label.occasion == named.occasion
    }


def _own_words_qs() -> QuerySet[Label]:
    own = Q(pair=slot("pair"), annotator=slot("viewer"))
    labels_qs = Label.objects.filter(Q(pk=slot("label", UUIDField)) | own).order_by("pair_seq")
    return labels_qs.annotate(
        occasion=Coalesce("assignment__stand_in__occasion", "assignment__occasion", 0)
    )


_own_words: PreparedObjects[Any] = PreparedObjects(_own_words_qs)


def _check_same(
    context: AnnotatorContext, label: Label, submission: Submission, named: _Named
) -> None:
    """A repeat says exactly what it said before; the clock is compared as it was stored."""
    before: list[Any] = [
        label.annotator_id, label.pair_id, label.outcome, label.grade,
        label.spans, label.guideline_revision_id, label.content_hash,
    ]  # fmt: skip
    now: list[Any] = [
        context.viewer.pk, named.pair_id, submission.outcome, submission.grade,
        list(submission.spans), named.revision_id, submission.content_hash or label.content_hash,
    ]  # fmt: skip
    if before != now or not _is_beside(label, submission):
        raise LabelRefused("label_conflict", "This label id is already used by another label.")


def _is_beside(label: Label, submission: Submission) -> bool:
    """Whether what lies beside the label is as it is sent, as far as it is not erased."""
    timing = LabelTiming.objects.filter(label=label).first()
    sent = (_made_at(submission, label.received_at), submission.seconds)
    return (
        (timing is None or (timing.made_at, timing.seconds) == sent)
        and is_text(label, "reason_text", submission.reason)
        and is_text(label, "note_text", submission.note)
    )


def _made_at(submission: Submission, received_at: datetime) -> datetime:
    """When a label was made; no later than it arrived, where the client's clock runs ahead."""
    return min(submission.made_at, received_at)


def _tip(said: dict[UUID, Label], submission: Submission) -> Label | None:
    """The viewer's newest word on the pair: what the label supersedes, if there is one.

    A correction may name an older one: the person had not seen their own newer one then.
    """
    if submission.supersedes is not None and submission.supersedes not in said:
        raise LabelRefused("label_unknown", "The label to correct belongs to another pair.")
    superseded = {label.supersedes_id for label in said.values()}
    tip = next((label for pk, label in said.items() if pk not in superseded), None)
    if submission.outcome == RETRACTED and (tip is None or tip.outcome == RETRACTED):
        raise LabelRefused("nothing_to_retract", "There is no label to undo.")
    return tip


def _check_in_time(context: AnnotatorContext, submission: Submission) -> None:
    """Once a campaign is closed, only what was said before may still arrive."""
    closed_at = Campaign.objects.values_list("closed_at", flat=True).get(pk=context.campaign.pk)
    if closed_at is None or submission.made_at > closed_at:
        raise CampaignClosed


def _take_seat(
    context: AnnotatorContext,
    submission: Submission,
    named: _Named,
    tip: Label | None,
    at: datetime,
) -> int | None:
    """The seat that the label belongs to, as it is after the label; None: it is a surplus."""
    if submission.outcome == RETRACTED:
        assert tip is not None
        if tip.assignment_id is not None:
            _lease_again(context, named, tip.assignment_id, at)
        return tip.assignment_id
    if _labelled.run(seat=named.pk, viewer=context.viewer.pk, **_shown_there(named)):
        return named.pk
    return _find_seat(context, named)


def _shown_there(named: _Named) -> dict[str, Any]:
    return {"pair": named.pair_id, "purpose": named.purpose, "occasion": named.occasion}


def _lease_qs() -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        pk=slot("seat"), annotator=slot("viewer"), state=Assignment.State.LEASED
    )


# The seat of a stand-in becomes one of the pair shown. The pair that it replaced lacks a seat then,
# which the worker brings when it checks the label: this is the same statement for every label, and
# so no time tells one from another.
_labelled = PreparedUpdate(
    _lease_qs,
    state=Assignment.State.DONE,
    leased_until=None,
    pair=slot("pair"),
    purpose=slot("purpose", CharField),
    occasion=slot("occasion"),
    seat=Case(When(stand_in=None, then="seat"), default=OWN_SEAT),
    is_added=False,
)


def _lease_again(context: AnnotatorContext, named: _Named, seat_id: int, at: datetime) -> None:
    """Lease the seat of a label that is taken back; a stand-in's is one of its place again.

    The pair is the viewer's from then on, to label or to give back and ask for again, also where
    others have filled it meanwhile: a seat is added then, for a plain pair as for a stand-in.
    """
    states = Assignment.State
    seat_qs = Assignment.objects.filter(pk=seat_id, state=states.DONE)
    back: dict[str, Any] = {}
    # not where the place has come to the viewer as what it is
    own_qs = Assignment.objects.filter(pair=named.place_id, annotator=context.viewer, occasion=0)
    if named.stand_in is None and named.purpose in OVERLAP_PURPOSES:
        back = {"is_added": is_filled_by_others(pair_id=named.place_id, seat_id=seat_id)}
    elif named.stand_in is not None and not own_qs.exclude(state=states.VOIDED).exists():
        number, is_added = retake_seat(pair_id=named.place_id)
        purposes = Assignment.Purpose
        purpose = purposes.POOL if number <= context.campaign.overlap else purposes.EXTRA
        back = {"pair": named.place_id, "seat": number, "is_added": is_added}
        back |= {"purpose": purpose, "occasion": 0}
    seat_qs.update(state=states.LEASED, leased_until=at + context.campaign.lease, **back)


def _find_seat(context: AnnotatorContext, named: _Named) -> int | None:
    """For a correction the seat it was made in; else the viewer's new lease, or a free seat."""
    states = Assignment.State
    is_plain = named.stand_in is None
    own_qs = Assignment.objects.filter(annotator=context.viewer, stand_in=named.stand_in)
    if is_plain:
        own_qs = own_qs.filter(pair=named.pair_id, occasion=named.occasion)
    own = own_qs.exclude(state=states.VOIDED).first()
    if own is not None:
        purpose = own.purpose if is_plain else named.purpose
        shown = _shown_there(named) | {"purpose": purpose}
        _labelled.run(seat=own.pk, viewer=context.viewer.pk, **shown)
        return own.pk
    if is_plain and named.purpose not in OVERLAP_PURPOSES:
        # no one else ever sits there: a label that comes late still finds its seat
        named_qs = Assignment.objects.filter(pk=named.pk, state=states.VOIDED)
        named_qs.update(state=states.DONE, leased_until=None)
        return named.pk
    free_qs = Assignment.objects.filter(
        pair=named.place_id, occasion=0, state=states.FREE, purpose__in=OVERLAP_PURPOSES
    )
    met: dict[str, Any] = {"annotator": context.viewer, "order": named.order, "place": named.place}
    if not is_plain:
        met |= {"stand_in": named.stand_in, "seat": OWN_SEAT, **_shown_there(named)}
    for pk in list(free_qs.order_by("seat").values_list("pk", flat=True)):
        # conditional: someone may lease it at this moment
        if free_qs.filter(pk=pk).update(state=states.DONE, **met):
            return pk
    return None


def _store(
    context: AnnotatorContext,
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
        annotator_id=context.viewer.pk,
        outcome=submission.outcome,
        grade=submission.grade,
        reason_text_id=_text_id(submission.reason),
        note_text_id=_text_id(submission.note),
        spans=list(submission.spans),
        guideline_revision_id=named.revision_id,
        content_hash=submission.content_hash or named.shown_hash,
        received_at=at,
        supersedes_id=None if tip is None else tip.pk,
        pair_seq=pair_seq,
        is_blind=context.is_blind,
    )
    _timing.run(
        label_id=submission.id, made_at=_made_at(submission, at), seconds=submission.seconds
    )


def _text_id(text: str) -> str | None:
    kept = keep_text(text)
    return kept.pk if kept else None


_label = PreparedInsert(Label, *(field.attname for field in Label._meta.concrete_fields))
_timing = PreparedInsert(LabelTiming, "label_id", "made_at", "seconds")
