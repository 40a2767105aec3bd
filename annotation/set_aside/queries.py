"""What a campaign would be without the labels of some people, before they are set aside."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from django.db.models import Count, Q, Sum

from annotation.consolidation.overlap import overlap_labels
from annotation.gold.queries import list_actions
from annotation.models import (
    OVERLAP_PURPOSES,
    AsidePreview,
    Assignment,
    Campaign,
    CheckAction,
    CheckRule,
)
from annotation.permissions import check_may_watch
from annotation.quality.material import Read, key_of, read_material
from annotation.quality.without import count_moved, load_remaining
from evaluation.public import WhatIf, list_what_if
from judgments.models import User
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access, NotFound
from judgments.reports.freshness import Freshness, freshness_of
from touchstone.agreement.alpha import alpha
from touchstone.agreement.counts import count_labels

STEPS: Final = 3
ASIDE_REVISION: Final = 1  # raised when the same labels give another preview than before
MOST_PEOPLE: Final = 100  # set aside or paused at once
MOST_SHOWN: Final = 50
ASIDE: Final = (CheckRule.Action.PAUSE, CheckRule.Action.REQUEUE)


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha (ordinal) with its 95 % interval; null if undefined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Outcome:
    """labels: these annotators' labels that count; pairs: their pairs; decided: of these,
    adjudicated ones, which do not change. changed: pairs with another grade; tied: pairs whose
    remaining labels tie; lost: pairs without remaining labels. reopened: pairs to be labelled
    again. board: best without them first.
    """

    alpha: Alpha
    alpha_without: Alpha
    labels: int
    pairs: int
    decided: int
    changed: int
    tied: int
    lost: int
    reopened: int
    board: tuple[WhatIf, ...]

    @property
    def moved(self) -> int:
        """How many runs have another place."""
        return count_moved(self.board)


@dataclass(frozen=True)
class AsidePerson:
    """labels: labels that count; aside: labels set aside. is_active: still in the campaign."""

    username: str
    name: str
    labels: int
    aside: int
    is_active: bool
    is_paused: bool
    is_chosen: bool = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class WithoutPeople:
    """people: the campaign's annotators. outcome: without the chosen ones; null until it is
    computed.

    is_current: the outcome includes every label; otherwise a worker is computing it, poll again.
    actions: of rules and leads, newest first.

    On pages, key: names the chosen ones; "" for none, who have no freshness either.
    """

    people: tuple[AsidePerson, ...]
    is_current: bool
    outcome: Outcome | None
    actions: tuple[CheckAction, ...]
    campaign: Campaign = field(metadata=ON_PAGES)
    key: str = field(metadata=ON_PAGES)
    freshness: Freshness | None = field(metadata=ON_PAGES)

    @property
    def chosen(self) -> tuple[AsidePerson, ...]:
        return tuple(person for person in self.people if person.is_chosen)

    @property
    def shown_people(self) -> tuple[AsidePerson, ...]:
        """On the page: the chosen ones, and of many others those with the most labels."""
        if len(self.people) <= MOST_SHOWN:
            return self.people
        ranked = sorted(self.people, key=lambda one: (not one.is_chosen, -one.labels, one.name))
        return tuple(ranked[: max(MOST_SHOWN, len(self.chosen))])

    @property
    def has_labels(self) -> bool:
        """Whether any label of theirs counts."""
        return any(person.labels for person in self.chosen)

    @property
    def may_pause(self) -> bool:
        """Whether anything more is asked of any of them."""
        is_open = self.campaign.state == Campaign.State.OPEN
        return is_open and any(one.is_active and not one.is_paused for one in self.chosen)


def people_key(people: Iterable[int]) -> str:
    """Some people's ids as one word, in ascending order."""
    return "-".join(map(str, sorted(set(people))))


def people_ids(key: str) -> list[int]:
    """The ids that `people_key` wrote. Raises NotFound for anything else."""
    parts = key.split("-")
    if len(parts) > MOST_PEOPLE or not all(p.isdecimal() and len(p) < 19 for p in parts):
        raise NotFound("annotator")
    result = [int(part) for part in parts]
    if key != people_key(result):
        raise NotFound("annotator")
    return result


def find_people(*, access: Access, campaign: Campaign, usernames: Sequence[str]) -> list[User]:
    """People of the campaign by their user names; for leads and admins.

    Raises NotFound for a name that no one of the campaign has, and for too many.
    """
    check_may_watch(access, campaign)
    wanted = set(usernames)
    if len(wanted) > MOST_PEOPLE:
        raise NotFound("annotator")
    places_qs = campaign.annotators.filter(user__username__in=wanted).select_related("user")
    result = [place.user for place in places_qs.order_by("user__username")]
    if len(result) < len(wanted):
        raise NotFound("annotator")
    return result


def get_without_people(
    *, access: Access, campaign: Campaign, chosen: Sequence[User]
) -> WithoutPeople:
    """Who labels in a campaign, and what it would be without the chosen; for leads and admins."""
    check_may_watch(access, campaign)
    own = {person.pk for person in chosen}
    key = people_key(own)
    preview = AsidePreview.objects.filter(campaign=campaign, people=key).first() if key else None
    is_known = preview is not None and preview.revision == ASIDE_REVISION
    freshness = _freshness(campaign, key, preview) if key else None
    actions = list_actions(access=access, campaign=campaign)
    return WithoutPeople(
        people=tuple(_list_people(campaign, own)),
        is_current=freshness is not None and not freshness.is_due,
        outcome=_outcome(preview.figures) if preview and is_known else None,
        actions=tuple(one for one in actions if one.action in ASIDE),
        campaign=campaign,
        key=key,
        freshness=freshness,
    )


def get_aside_freshness(*, access: Access, campaign: Campaign, key: str) -> Freshness:
    """How current the preview without some people is; for leads and admins."""
    check_may_watch(access, campaign)
    chosen = people_ids(key)
    if campaign.annotators.filter(user__in=chosen).count() < len(chosen):
        raise NotFound("annotator")
    previews_qs = AsidePreview.objects.defer("figures").filter(campaign=campaign, people=key)
    return _freshness(campaign, key, previews_qs.first())


def aside_key(campaign: Campaign, people: str) -> str:
    """A name of all that the preview follows from."""
    concluded = campaign.pairs.order_by().aggregate(seen=Sum("consolidated_seq"))["seen"]
    plan = (str(campaign.rule), campaign.overlap, str(campaign.state))
    words = (people, plan, key_of(campaign), concluded, campaign.list.head)
    return hashlib.blake2b(repr(words).encode(), digest_size=16).hexdigest()


def compute_aside(
    campaign: Campaign, people: Sequence[int], report: Callable[[int], None] = lambda _: None
) -> dict[str, Any]:
    """The preview as values that JSON can hold; for the worker.

    report: called with how many of STEPS are done.
    """
    read = read_material(campaign)
    whole, rest = _alpha(read, ()), _alpha(read, people)
    report(1)
    own_qs = overlap_labels().filter(pair__campaign=campaign, annotator__in=people).order_by()
    touched = set(own_qs.values_list("pair", flat=True))
    labels = own_qs.count()
    left = load_remaining(campaign, people)
    report(2)
    tied = sum(grade is None for grade in left.differing.values()) - left.lost
    board = list_what_if(judgment_list=campaign.list, grades=left.changes) if left.changes else []
    report(3)
    return {
        "alpha": asdict(whole),
        "alpha_without": asdict(rest),
        "labels": labels,
        "pairs": len(touched),
        "decided": len(left.loaded) - len(left.undecided),
        "changed": len(left.differing) - left.lost - tied,
        "tied": tied,
        "lost": left.lost,
        "reopened": 0 if campaign.state == Campaign.State.CLOSED else len(left.undecided),
        "board": [asdict(row) for row in board],
    }


def _alpha(read: Read, without: Iterable[int]) -> Alpha:
    labels = read.material.labels
    places = [position for position, pk in enumerate(read.people) if pk in set(without)]
    stays = ~np.isin(labels.annotators, np.array(places, dtype=np.int64))
    counts = count_labels(labels.units[stays], labels.steps[stays], read.material.values)
    result = alpha(counts, "ordinal")
    return Alpha(result.value, result.low, result.high)


def _list_people(campaign: Campaign, chosen: set[int]) -> list[AsidePerson]:
    seats_qs = Assignment.objects.filter(
        pair__campaign=campaign, annotator__isnull=False, purpose__in=OVERLAP_PURPOSES
    ).order_by()
    counted = seats_qs.values_list("annotator").annotate(
        counting=Count("pk", filter=Q(state=Assignment.State.DONE)),
        aside=Count("pk", filter=Q(state=Assignment.State.ASIDE)),
    )
    counts = {person: (labels, aside) for person, labels, aside in counted}
    people = []
    for place in campaign.annotators.select_related("user"):
        labels, aside = counts.get(place.user_id, (0, 0))
        people.append(
            AsidePerson(
                username=place.user.username,
                name=str(place.user),
                labels=labels,
                aside=aside,
                is_active=place.is_active,
                is_paused=bool(place.paused),
                is_chosen=place.user_id in chosen,
            )
        )
    return sorted(people, key=lambda person: (person.name, person.username))


def _freshness(campaign: Campaign, people: str, preview: AsidePreview | None) -> Freshness:
    current = (aside_key(campaign, people), ASIDE_REVISION)
    is_due = preview is None or (preview.seen, preview.revision) != current
    return freshness_of(preview, is_due=is_due, steps=STEPS)


def _outcome(figures: Mapping[str, Any]) -> Outcome:
    made = {
        "alpha": Alpha(**figures["alpha"]),
        "alpha_without": Alpha(**figures["alpha_without"]),
        "board": tuple(WhatIf(**row) for row in figures["board"]),
    }
    return Outcome(**{**figures, **made})
