"""The pairs of a campaign that need adjudication, and those that have a grade although their labels
differ, most important first; for adjudicators.

Names of annotators and rankers are left out, so that decisions rest on the labels.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.core.paginator import Page
from django.db.models import Exists, QuerySet

from annotation.adjudication.pairs import list_decidable
from annotation.adjudication.priority import leverage, stake
from annotation.campaigns.queries import (
    IN_GOLD,
    count_graded_disputes,
    list_graded_disputes,
    with_names,
)
from annotation.consolidation.overlap import overlap_grades, overlap_labels
from annotation.gold.planting import seeded
from annotation.labelling.preferences import get_preferences
from annotation.models import Campaign, GoldItem, Pair, PoolEntry
from annotation.overlap_requests.queries import find_obstacle
from annotation.pages.keys import Action, KeyedGrade, keyed_actions
from annotation.permissions import check_may_watch
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound
from judgments.pictures.queries import DocumentPictures, get_document_pictures
from judgments.storage.bulk import Among
from touchstone.scales import Scale

GRADED: Final = "graded"


class Dispute(NamedTuple):
    """A pair on which people differ. stake: how much its grade matters. leverage: how differently
    the runs depend on it, from 0 to 1."""

    pair: int
    stake: float
    grades: tuple[int, ...]
    weight: float
    leverage: float


@dataclass(frozen=True)
class QueuePage:
    """Disputed pairs of a campaign. show: "" for those that need adjudication, or GRADED.

    tied, graded: how many there are of each. near: how many of the tied ones have labels a step
    apart. first: of those that are shown.
    """

    campaign: Campaign
    show: str
    rows: "Page[tuple[Pair, Dispute]]"
    tied: int
    graded: int
    near: int
    first: int | None


@dataclass(frozen=True)
class Voice:
    """One annotator's label of a pair, under a letter."""

    letter: str
    grade: int | None
    outcome_name: str
    reason: str
    note: str
    seconds: float | None


@dataclass(frozen=True)
class DisputePage:
    """A disputed pair before it is decided. place: which of `count` it is; 0: not one of them.

    grades, later: with the keys that the viewer labels by. obstacle: why no one can be asked for
    one more label; empty where someone can.
    """

    pair: Pair
    pictures: DocumentPictures
    voices: tuple[Voice, ...]
    grades: tuple[KeyedGrade, ...]
    place: int
    count: int
    before_id: int | None
    next_id: int | None
    later: Action
    obstacle: str


def list_disputes(*, access: Access, campaign: Campaign, show: str = "") -> list[Dispute]:
    """The pairs that need adjudication, those first that matter most; for leads and admins.

    show: GRADED for those that the rule has graded although their labels differ, and which no one
    is still to label.
    """
    check_may_watch(access, campaign)
    grades: dict[int, list[int]] = defaultdict(list)
    labels_qs = overlap_grades().filter(pair__in=_disputed(campaign, show))
    weights: dict[int, float] = {}
    rows = labels_qs.order_by().values_list("pair", "grade", "pair__query__weight")
    for pair, grade, weight in rows:
        grades[pair].append(grade or 0)
        weights[pair] = weight
    differing = {pair: tuple(sorted(own)) for pair, own in grades.items() if len(set(own)) > 1}
    levers = _list_levers(campaign, list(differing))
    codes = Scale.from_json(campaign.list.scale).codes
    result = [
        Dispute(
            pair=pair,
            stake=stake(own, codes, weight=weights[pair], leverage=levers[pair]),
            grades=own,
            weight=weights[pair],
            leverage=levers[pair],
        )
        for pair, own in differing.items()
    ]
    return sorted(result, key=lambda dispute: (-dispute.stake, dispute.pair))


def list_near(*, access: Access, campaign: Campaign) -> list[tuple[int, int, int]]:
    """The pairs without a grade whose labels are a step apart, with the worse and the better."""
    codes = Scale.from_json(campaign.list.scale).codes
    return [
        (dispute.pair, dispute.grades[0], dispute.grades[-1])
        for dispute in list_disputes(access=access, campaign=campaign)
        if codes.index(dispute.grades[-1]) - codes.index(dispute.grades[0]) <= 1
    ]


def get_queue_page(*, access: Access, campaign: Campaign, show: str, page: str) -> QueuePage:
    """The disputed pairs of a campaign, of one kind; for leads and admins."""
    show = show if show == GRADED else ""
    disputes = list_disputes(access=access, campaign=campaign, show=show)

    def show_some(some: list[Dispute]) -> list[tuple[Pair, Dispute]]:
        by_pk = with_names(Pair.objects.all()).in_bulk([dispute.pair for dispute in some])
        return [(by_pk[dispute.pair], dispute) for dispute in some]

    return QueuePage(
        campaign=campaign,
        show=show,
        rows=paginate(disputes, page=page, show=show_some),
        tied=_disputed(campaign, "").count(),
        graded=count_graded_disputes(campaign),
        near=len(list_near(access=access, campaign=campaign)),
        first=disputes[0].pair if disputes else None,
    )


def get_dispute_page(*, access: Access, pair: Pair) -> DisputePage:
    """A pair to decide, without names, among those of its kind; for leads and admins."""
    show = GRADED if pair.state == Pair.State.COMPLETE else ""
    ids = [one.pair for one in list_disputes(access=access, campaign=pair.campaign, show=show)]
    place = ids.index(pair.pk) + 1 if pair.pk in ids else 0
    others = [pk for pk in ids if pk != pair.pk]
    following = ids[place:] if place else others
    obstacle = find_obstacle(pair)
    return DisputePage(
        pair=pair,
        pictures=get_document_pictures(access=access, document=pair.document),
        voices=tuple(_list_voices(pair)),
        grades=list_decidable(access, pair),
        later=keyed_actions(get_preferences(viewer=access.user).keys)["later"],
        place=place,
        count=len(ids),
        before_id=ids[place - 2] if place > 1 else None,
        next_id=following[0] if following else None,
        obstacle=obstacle.message if obstacle else "",
    )


def get_next_dispute(*, access: Access, pair: Pair) -> int | None:
    """The pair to decide after this one has been; None where there is none."""
    return get_dispute_page(access=access, pair=pair).next_id


def get_disputed_pair(*, access: Access, campaign: Campaign, pair_id: int) -> Pair:
    """A pair of the campaign, with all that a decision needs; for leads and admins."""
    check_may_watch(access, campaign)
    pairs_qs = campaign.pairs.select_related(
        "campaign__list__collection", "campaign__guideline", "list", "query", "document"
    )
    pair = pairs_qs.filter(pk=pair_id).first()
    if pair is None:
        raise NotFound("pair")
    return pair


def _disputed(campaign: Campaign, show: str) -> QuerySet[Pair]:
    if show == GRADED:
        return campaign.pairs.filter(Among("pk", list_graded_disputes(campaign)))
    return campaign.pairs.filter(~Exists(GoldItem.objects.filter(IN_GOLD)), state=Pair.State.TIED)


def _list_levers(campaign: Campaign, pair_ids: Sequence[int]) -> dict[int, float]:
    """How differently the runs of the campaign's pools depend on each pair."""
    runs = {
        (run["ranker"], run["run"])
        for pool_runs in campaign.pools.values_list("runs", flat=True)
        for run in pool_runs
    }
    ranks: dict[int, dict[str, int]] = {pair: {} for pair in pair_ids}
    entries_qs = PoolEntry.objects.filter(pair__in=list(pair_ids)).order_by("pk")
    for pair, sources in entries_qs.values_list("pair", "sources"):
        ranks[pair] |= {f"{ranker} {run}": int(rank) for ranker, run, rank in sources}
    return {pair: leverage(own, max(len(runs), len(own))) for pair, own in ranks.items()}


def _list_voices(pair: Pair) -> list[Voice]:
    """What people said, in an order that tells no one who they are."""
    labels_qs = overlap_labels().select_related("timing", "reason_text", "note_text")
    rng = seeded(pair.campaign.seed, pair.pk)
    mixed = sorted(labels_qs.filter(pair=pair), key=lambda label: rng(str(label.pk)))
    return [
        Voice(
            letter=chr(ord("A") + number % 26),
            grade=label.grade,
            outcome_name=label.get_outcome_display(),
            reason=label.reason,
            note=label.note,
            seconds=label.seconds,
        )
        for number, label in enumerate(mixed)
    ]
