"""Campaigns from draft to closed, and who annotates in them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.campaigns.notices import tell_closed, tell_invited
from annotation.consolidation.services import (
    commit_conclusions,
    conclude,
    conclude_again,
    lock_list,
)
from annotation.guidelines.services import get_newest_revision, has_grades_of
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    CampaignAnnotator,
    Guideline,
    Pair,
    Reviewer,
)
from annotation.models.campaigns import LEASE_MINUTES, LONGEST_LEASE, SHORTEST_LEASE
from annotation.permissions import check_may_run
from annotation.seats.services import balance_seats, end_leases, lock_pairs
from judgments.audit import services as audit
from judgments.collections.naming import unless_taken
from judgments.models import Collection, JudgmentList, Membership, Role, User
from judgments.permissions import Access, Archived, NotFound, check_may_lead
from touchstone.errors import DomainError

MAX_NAME_CHARACTERS: Final = 200
MAX_OVERLAP: Final = 20
MAX_DEPTH: Final = 10_000
CHANGEABLE: Final = (
    "name", "guideline", "overlap", "depth", "rule", "commit", "order", "lease_minutes",
    "shows_images",
)  # fmt: skip
CHANGEABLE_WHILE_OPEN: Final = (
    "name", "overlap", "commit", "order", "lease_minutes", "shows_images"
)  # fmt: skip
CONCLUDED_BY: Final = ("overlap", "commit")  # with another, labels are concluded again


class CampaignRefused(DomainError):
    """The campaign can't be made, changed, opened or closed like this."""


def create_campaign(
    *,
    access: Access,
    at: datetime,
    seed: int,
    judgment_list: JudgmentList,
    guideline: Guideline,
    name: str,
    overlap: int = 2,
    depth: int = 10,
    rule: str = Campaign.Rule.MAJORITY,
    commit: str = Campaign.Commit.LIVE,
    order: str = Campaign.Order.BY_QUERY,
    lease_minutes: int = LEASE_MINUTES,
    shows_images: bool = False,
) -> Campaign:
    """A campaign without pairs and people, as a draft; for leads.

    seed: any whole number of 63 bits; everyone's order of the pairs follows from it.
    Raises CampaignRefused, e.g. where the guideline is for another scale.
    """
    if judgment_list.collection_id != access.collection.pk:
        raise NotFound("list")
    check_may_lead(access)
    if judgment_list.archived_at is not None:
        raise Archived("list")
    campaign = Campaign(
        list=judgment_list,
        name=name.strip(),
        guideline=guideline,
        overlap=overlap,
        depth=depth,
        rule=rule,
        commit=commit,
        order=order,
        lease_minutes=lease_minutes,
        shows_images=shows_images,
        seed=seed,
        created_at=at,
        created_by=access.user,
    )
    _check_design(access, campaign)
    with unless_taken(_name_taken()):
        campaign.save(force_insert=True)
        audit.record_by(access, at, "campaign.created", campaign.name, after=_design(campaign))
    return campaign


def change_campaign(
    *,
    access: Access,
    campaign: Campaign,
    at: datetime,
    report: Callable[[int], None] = lambda _: None,
    **changes: Any,
) -> Campaign:
    """Change a campaign's plan; what is not given stays.

    changes: any of CHANGEABLE; while it is open neither guideline, depth nor rule. With another
    overlap every pair is concluded again: a grade with too few labels leaves the list. When a
    campaign becomes live, what waits is committed. report: called with the number of loaded
    pairs. Raises CampaignRefused for what can't be changed any more, e.g. of a closed campaign.
    """
    check_may_run(access, campaign)
    unknown = changes.keys() - set(CHANGEABLE)
    if unknown:
        raise TypeError(f"a campaign's {min(unknown)} can't be changed")
    with unless_taken(_name_taken()):
        judgment_list = lock_list(campaign.list_id)
        changed = _locked(campaign)
        before = _design(changed)
        check_plan(access=access, campaign=changed, changes=changes)
        changed.save(update_fields=list(CHANGEABLE))
        if changed.overlap != before["overlap"]:
            balance_seats(pair_ids=lock_pairs(changed.pairs.all()), overlap=changed.overlap)
        if any(before[field] != getattr(changed, field) for field in CONCLUDED_BY):
            conclude_again(judgment_list=judgment_list, campaign=changed, at=at, report=report)
        audit.record_by(
            access, at, "campaign.changed", changed.name, before=before, after=_design(changed)
        )
    return changed


def check_plan(*, access: Access, campaign: Campaign, changes: Mapping[str, Any]) -> None:
    """Set the changes on the campaign, without saving it, if it may have them."""
    _check_changeable(campaign, changes)
    for field, value in changes.items():
        setattr(campaign, field, value.strip() if field == "name" else value)
    _check_design(access, campaign)


def add_annotators(
    *, access: Access, campaign: Campaign, people: Iterable[User], at: datetime
) -> None:
    """Let members of the collection label in a campaign, in any of its states; for leads.

    Someone who was there before comes back. A researcher who annotates has no researcher's view
    while the campaign is open; a lead's labels are marked as not blind.
    Raises CampaignRefused for someone who is no member.
    """
    check_may_run(access, campaign)
    wanted = {person.pk: person for person in people}
    memberships = Membership.objects.filter(collection=access.collection, user__in=wanted)
    roles = dict(memberships.values_list("user_id", "role"))
    for pk, person in wanted.items():
        if pk not in roles:
            raise CampaignRefused("no_member", f"{person} is not a member of this collection.")
    for place in campaign.reviewers.filter(is_active=True, user__in=wanted).select_related("user"):
        raise CampaignRefused("is_reviewer", f"{place.user} reviews labels of this campaign.")
    with transaction.atomic():
        locked = _locked(campaign)
        CampaignAnnotator.objects.bulk_create(
            [
                CampaignAnnotator(
                    campaign=locked,
                    user=person,
                    is_active=True,
                    is_blind=roles[pk] != Role.LEAD,
                    joined_at=at,
                )
                for pk, person in wanted.items()
            ],
            update_conflicts=True,
            unique_fields=["campaign", "user"],
            update_fields=["is_active", "is_blind"],
        )
        if locked.state == Campaign.State.OPEN:
            mark_annotating(access.collection, wanted)
            others = [person for person in wanted.values() if person != access.user]
            tell_invited(locked, others, at=at)
        names = sorted(person.username for person in wanted.values())
        audit.record_by(
            access, at, "campaign.annotators_added", campaign.name, after={"people": names}
        )


def remove_annotator(*, access: Access, campaign: Campaign, person: User, at: datetime) -> None:
    """End a person's part in a campaign: their labels stay, their leases become free; for leads.

    From now on the campaign is not there for them, and labels that they had not sent yet are
    not taken any more.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        _locked(campaign)
        active_qs = CampaignAnnotator.objects.filter(campaign=campaign, user=person, is_active=True)
        if active_qs.update(is_active=False) != 1:
            raise NotFound("annotator")
        leases_qs = Assignment.objects.filter(pair__campaign=campaign, annotator=person)
        end_leases(leases_qs, skip_locked=False)
        mark_annotating(access.collection, [person.pk])
        audit.record_by(
            access,
            at,
            "campaign.annotator_removed",
            campaign.name,
            after={"people": [person.username]},
        )


def open_campaign(*, access: Access, campaign: Campaign, at: datetime) -> Campaign:
    """Begin: annotators find the campaign, labels are taken; for leads.

    Raises CampaignRefused without pairs, with fewer people than each pair needs, or where
    another campaign of the list has some of the pairs open.
    """
    check_may_run(access, campaign)
    return _open(access, campaign, at, came_from=Campaign.State.DRAFT, action="campaign.opened")


def reopen_campaign(*, access: Access, campaign: Campaign, at: datetime) -> Campaign:
    """Take labels again; labels that came late, after the closing, count from here on; for leads.

    Raises CampaignRefused as `open_campaign` does.
    """
    check_may_run(access, campaign)
    return _open(access, campaign, at, came_from=Campaign.State.CLOSED, action="campaign.reopened")


def close_campaign(*, access: Access, campaign: Campaign, at: datetime) -> Campaign:
    """End the labelling; for leads. What is due is concluded first, so that no label hangs.

    Leases end. A label that was made before and arrives later is kept as a fact, and counts
    when the campaign is opened again.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        closed = _locked(campaign)
        _check_state(closed, Campaign.State.OPEN)
        closed.state, closed.closed_at = Campaign.State.CLOSED, at
        closed.save(update_fields=["state", "closed_at"])
        # this takes every pair's lock: labels that are being stored are waited for, and those
        # that come next see that their pair is closed
        lock_pairs(closed.pairs.all())
        closed.pairs.update(is_open=False)
        _pairs_with_labels_aside(closed).update(label_seq=F("label_seq") + 1)
        due_qs = Pair.objects.filter(campaign=closed, label_seq__gt=F("consolidated_seq"))
        concluded = conclude(judgment_list=judgment_list, due_qs=due_qs)
        if closed.commit == Campaign.Commit.LIVE:
            commit_conclusions(judgment_list=judgment_list, concluded=concluded, by=None, at=at)
        end_leases(Assignment.objects.filter(pair__campaign=closed), skip_locked=False)
        mark_annotating(access.collection)
        audit.record_by(access, at, "campaign.closed", closed.name)
        tell_closed(closed, at=at)
    return closed


def check_may_open(campaign: Campaign) -> None:
    """A campaign that is not open needs pairs, enough people, and pairs open nowhere else."""
    if campaign.state == Campaign.State.OPEN:
        raise CampaignRefused("state", "The campaign is already open.")
    if not campaign.pairs.exists():
        raise CampaignRefused("no_pairs", "The campaign has no pairs yet. Build its pool first.")
    _check_people(campaign, campaign.overlap)
    elsewhere = Pair.objects.filter(
        list=campaign.list_id,
        query=OuterRef("query"),
        document=OuterRef("document"),
        is_open=True,
    ).exclude(campaign=campaign)
    conflicts_qs = campaign.pairs.filter(Exists(elsewhere))
    count = conflicts_qs.count()
    if count:
        raise CampaignRefused("pairs_open_elsewhere", _conflict(campaign, count))


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _conflict(campaign: Campaign, count: int) -> str:
    own = Pair.objects.filter(
        campaign=campaign, query=OuterRef("query"), document=OuterRef("document")
    )
    others_qs = Pair.objects.filter(Exists(own), list=campaign.list_id, is_open=True)
    others_qs = others_qs.exclude(campaign=campaign).order_by("campaign__name")
    names = list(others_qs.values_list("campaign__name", flat=True).distinct()[:3])
    pairs = "1 pair is" if count == 1 else f"{count:,} pairs are"
    return f"{pairs} already open in another campaign for this list: {', '.join(names)}."


def _open(
    access: Access, campaign: Campaign, at: datetime, *, came_from: str, action: str
) -> Campaign:
    taken = CampaignRefused(
        "pairs_open_elsewhere", "Some of these pairs have just been opened in another campaign."
    )
    with unless_taken(taken):  # one of the pairs, between the check and the write
        lock_list(campaign.list_id, commits=False)
        opened = _locked(campaign)
        _check_state(opened, came_from)
        check_may_open(opened)
        opened.state, opened.closed_at = Campaign.State.OPEN, None
        opened.opened_at = opened.opened_at or at
        opened.save(update_fields=["state", "opened_at", "closed_at"])
        lock_pairs(opened.pairs.all())
        opened.pairs.update(is_open=True)
        if came_from == Campaign.State.CLOSED:  # what was set aside meanwhile is labelled now
            aside_qs = _pairs_with_labels_aside(opened)
            balance_seats(pair_ids=aside_qs.values_list("pk", flat=True), overlap=opened.overlap)
            aside_qs.update(label_seq=F("label_seq") + 1)
        mark_annotating(access.collection)
        people_qs = User.objects.exclude(pk=access.user.pk)
        active_qs = opened.annotators.filter(is_active=True)
        tell_invited(opened, people_qs.filter(pk__in=active_qs.values("user")), at=at)
        audit.record_by(access, at, action, opened.name)
    return opened


def _pairs_with_labels_aside(campaign: Campaign) -> QuerySet[Pair]:
    """The pairs whose grade depends on whether the campaign is open: no one relabels them then."""
    aside = Assignment.objects.filter(
        pair=OuterRef("pk"), purpose__in=OVERLAP_PURPOSES, state=Assignment.State.ASIDE
    )
    return Pair.objects.filter(Exists(aside), campaign=campaign).order_by()


def _locked(campaign: Campaign) -> Campaign:
    """The campaign as it is now, locked until the transaction ends."""
    locked_qs = Campaign.objects.select_for_update(no_key=True, of=("self",))
    return locked_qs.select_related("list__collection", "guideline").get(pk=campaign.pk)


def _check_state(campaign: Campaign, expected: str) -> None:
    if campaign.state != expected:
        raise CampaignRefused("state", f"The campaign is {campaign.get_state_display()}.")


def _check_changeable(campaign: Campaign, changes: Mapping[str, Any]) -> None:
    if campaign.state == Campaign.State.CLOSED:
        _check_state(campaign, Campaign.State.OPEN)
    if campaign.state == Campaign.State.DRAFT:
        return
    for field in changes.keys() - set(CHANGEABLE_WHILE_OPEN):
        if changes[field] != getattr(campaign, field):
            raise CampaignRefused(
                "fixed", f"The {field} can’t be changed once a campaign has been opened."
            )
    overlap = changes.get("overlap", campaign.overlap)
    if overlap > campaign.overlap:
        _check_people(campaign, overlap)


def _check_people(campaign: Campaign, overlap: int) -> None:
    members_qs = Membership.objects.filter(collection=campaign.list.collection_id)
    people_qs = campaign.annotators.filter(is_active=True, user__is_active=True, paused="")
    people = people_qs.filter(user__in=members_qs.values("user")).count()
    if people < overlap:
        raise CampaignRefused(
            "too_few_annotators", f"Each pair needs {_people(overlap)}; this campaign has {people}."
        )


def _check_design(access: Access, campaign: Campaign) -> None:
    if campaign.guideline.collection_id != access.collection.pk:
        raise NotFound("guideline")
    if not has_grades_of(get_newest_revision(campaign.guideline).grades, campaign.list):
        raise CampaignRefused(
            "guideline_scale", "The guideline is for a different scale than the list’s."
        )
    if not campaign.name or len(campaign.name) > MAX_NAME_CHARACTERS:
        raise CampaignRefused(
            "name_invalid", f"Enter a name of at most {MAX_NAME_CHARACTERS} characters."
        )
    ranges = (
        ("overlap", campaign.overlap, 1, MAX_OVERLAP, "Labels per pair must be"),
        ("depth", campaign.depth, 1, MAX_DEPTH, "The depth must be"),
        ("lease", campaign.lease_minutes, SHORTEST_LEASE, LONGEST_LEASE, "The lease must be"),
    )
    for field, number, least, most, words in ranges:
        if not least <= number <= most:
            raise CampaignRefused(
                f"{field}_invalid",
                f"{words} {least} to {most:,}{' minutes' if field == 'lease' else ''}.",
            )
    choices: tuple[tuple[str, str, list[str]], ...] = (
        ("rule", campaign.rule, Campaign.Rule.values),
        ("commit", campaign.commit, Campaign.Commit.values),
        ("order", campaign.order, Campaign.Order.values),
    )
    for field, value, known in choices:
        if value not in known:
            raise CampaignRefused(f"{field}_invalid", f"A campaign's {field} can't be {value!r}.")


def _design(campaign: Campaign) -> dict[str, Any]:
    return {
        "name": campaign.name,
        "guideline": campaign.guideline.name,
        "overlap": campaign.overlap,
        "depth": campaign.depth,
        "rule": campaign.rule,
        "commit": campaign.commit,
        "order": campaign.order,
        "lease_minutes": campaign.lease_minutes,
        "shows_images": campaign.shows_images,
    }


def mark_annotating(collection: Collection, user_ids: Iterable[int] | None = None) -> None:
    """Keep Membership.is_annotating true for everyone who annotates in an open campaign, or reviews
    its labels."""
    here = {
        "user": OuterRef("user"),
        "is_active": True,
        "campaign__list__collection": collection,
        "campaign__state": Campaign.State.OPEN,
    }
    labels, reviews = (Exists(one.objects.filter(**here)) for one in (CampaignAnnotator, Reviewer))
    members_qs = Membership.ever.filter(collection=collection)  # some come back
    if user_ids is not None:
        members_qs = members_qs.filter(user__in=list(user_ids))
    members_qs.update(is_annotating=labels | reviews)


def _name_taken() -> CampaignRefused:
    return CampaignRefused("name_taken", "The list already has a campaign with this name.")
