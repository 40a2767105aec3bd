"""The rows that annotation's tests begin with, beside those of builders.py."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import CharField, DateTimeField, UUIDField

from annotation.campaigns.services import add_annotators, create_campaign, open_campaign
from annotation.guidelines.services import create_guideline
from annotation.labelling.leasing import lease_next
from annotation.labelling.services import submit_label
from annotation.labelling.submissions import Submission
from annotation.models import Assignment, Campaign, Guideline, Label, Pair, Pool
from annotation.models.campaigns import LEASE_MINUTES
from annotation.permissions import AnnotatorContext, get_annotator_context
from annotation.pooling.services import add_pairs
from judgments.models import Document, JudgmentList, Query, Role, User
from judgments.permissions import Access
from judgments.storage.prepared import PreparedObjects, PreparedUpdate, slot
from tests.builders import NOW, World, make_user
from touchstone.pooling.pools import Source
from touchstone.scales import Scale

LEASE = timedelta(minutes=LEASE_MINUTES)  # of campaigns that do not say otherwise

# Asked with every label that a test begins with; to build their SQL took most of that time.
_people: PreparedObjects[User] = PreparedObjects(
    lambda: User.objects.filter(username=slot("username", CharField))
)
_seats: PreparedObjects[Assignment] = PreparedObjects(
    lambda: (
        Assignment.objects.filter(pair=slot("pair"))
        .exclude(state=Assignment.State.VOIDED)
        .order_by("pk")
    )
)
_lease = PreparedUpdate(
    lambda: Assignment.objects.filter(pk=slot("seat")),
    annotator=slot("annotator"),
    state=Assignment.State.LEASED,
    leased_until=slot("until", DateTimeField),
)
_labels: PreparedObjects[Label] = PreparedObjects(
    lambda: Label.objects.filter(pk=slot("id", UUIDField))
)


def get_person(username: str) -> User:
    """Someone who has an account."""
    (found,) = _people.list(username=username)
    return found


def grades_text(*, judgment_list: JudgmentList) -> list[dict[str, Any]]:
    """What a short guideline says of each grade."""
    scale = Scale.from_json(judgment_list.scale)
    return [
        {"code": code, "definition": f"What {code} means.", "examples": [f"Like {code}."]}
        for code in scale.codes
    ]


def make_guideline(
    *, world: World, name: str = "How to grade", judgment_list: JudgmentList | None = None
) -> Guideline:
    """A guideline for the world's list."""
    judgment_list = judgment_list or world.judgments
    return create_guideline(
        access=_access_of(world),
        at=NOW,
        judgment_list=judgment_list,
        name=name,
        text="Read the query, then the document.",
        grades=grades_text(judgment_list=judgment_list),
    )


def _access_of(world: World) -> Access:
    """What Ada may do, without asking the database."""
    return Access(world.ada, world.collection, Role.LEAD)


def make_draft(
    *,
    world: World,
    name: str = "First",
    pairs: Sequence[tuple[Query, Document]] | None = None,
    people: Sequence[str] = ("ben", "cem"),
    **design: Any,
) -> Campaign:
    """A campaign that is not open yet, over all queries × documents or the pairs given."""
    access = _access_of(world)
    guideline = Guideline.objects.filter(collection=world.collection).first()
    campaign = create_campaign(
        access=access,
        at=NOW,
        seed=design.pop("seed", 20),
        judgment_list=design.pop("judgment_list", world.judgments),
        guideline=guideline or make_guideline(world=world),
        name=name,
        **design,
    )
    if pairs is None:
        pairs = [(query, document) for query in world.queries for document in world.documents]
    if pairs:
        fill(campaign=campaign, pairs=pairs)
    known = User.objects.in_bulk(people, field_name="username")
    users = [known.get(username) or make_user(username=username) for username in people]
    add_annotators(access=access, campaign=campaign, people=users, at=NOW)
    return campaign


def fill(*, campaign: Campaign, pairs: Iterable[tuple[Query, Document]]) -> None:
    """Put pairs into a campaign, as if one run had returned them."""
    drawn = {
        (query.pk, document.pk): [Source("bm25", "bm25-run", rank)]
        for rank, (query, document) in enumerate(pairs, start=1)
    }
    with transaction.atomic():
        pool = Pool(strategy=Pool.Strategy.DEPTH_K, depth=campaign.depth, seed=1, created_at=NOW)
        add_pairs(campaign=campaign, pool=pool, drawn=drawn)


def make_campaign(*, world: World, **draft: Any) -> Campaign:
    """An open campaign; the arguments are those of `make_draft`."""
    campaign = make_draft(world=world, **draft)
    return open_campaign(access=_access_of(world), campaign=campaign, at=NOW)


def context_of(campaign: Campaign, username: str) -> AnnotatorContext:
    """Someone's place in a campaign, as the edge would find it."""
    return get_annotator_context(viewer=get_person(username), campaign_id=campaign.public_id)


def lease(
    *, campaign: Campaign, username: str, count: int = 60, at: datetime = NOW
) -> list[Assignment]:
    """The seats that someone holds after asking for the next ones."""
    context = context_of(campaign, username)
    lease_next(context=context, count=count, at=at)
    return held(campaign=campaign, username=username)


def held(*, campaign: Campaign, username: str) -> list[Assignment]:
    """The seats that someone has leased in a campaign."""
    seats = Assignment.objects.filter(
        annotator__username=username, state=Assignment.State.LEASED, pair__campaign=campaign
    )
    return list(seats.select_related("pair", "stand_in").order_by("pk"))


def shown_at(seat: Assignment) -> int:
    """The pair that a seat's holder is shown: the seat's own, or the one that stands in for it."""
    shown = seat.stand_in.shown_id if seat.stand_in else seat.pair_id
    assert shown is not None
    return shown


def seat_for(*, pair: Pair, username: str, at: datetime = NOW) -> Assignment:
    """Someone's seat at this very pair: their own, or a free one leased to them."""
    person = get_person(username)
    seats = _seats.list(pair=pair.pk)
    for one in seats:
        one.pair = pair
    own = next((seat for seat in seats if seat.annotator_id == person.pk), None)
    if own is not None:
        return own
    free = [seat for seat in seats if seat.state == Assignment.State.FREE]
    assert free, f"no free seat for {username}"
    seat = min(free, key=lambda one: one.seat)
    seat.annotator = person
    seat.state, seat.leased_until = Assignment.State.LEASED, at + timedelta(minutes=30)
    _lease.run(seat=seat.pk, annotator=person.pk, until=seat.leased_until)
    return seat


def said(
    *, seat: Assignment, grade: int | None = None, at: datetime = NOW, **fields: Any
) -> Submission:
    """What a page would send for a seat: a grade, or another outcome."""
    outcome = Label.Outcome.GRADED if grade is not None else Label.Outcome.UNSURE
    submission = Submission(
        id=uuid.uuid4(),
        assignment=seat.public_id,
        guideline_revision=1,
        made_at=at,
        outcome=outcome,
        grade=grade,
        seconds=4.5,
    )
    return replace(submission, **fields)


def label(
    *, pair: Pair, username: str, grade: int | None = None, at: datetime = NOW, **fields: Any
) -> Label:
    """Someone's label of a pair, by the front door."""
    seat = seat_for(pair=pair, username=username, at=at)
    submission = said(seat=seat, grade=grade, at=at, **fields)
    submit_label(context=context_of(pair.campaign, username), submission=submission, at=at)
    (stored,) = _labels.list(id=submission.id)
    return stored
