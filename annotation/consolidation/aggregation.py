"""Labels of pairs, aggregated by a rule to grades; reads only, for services and previews."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from django.db.models import Count, QuerySet

from annotation.consolidation.overlap import overlap_grades
from annotation.consolidation.weighing import WEIGHED, Known, grade_by
from annotation.models import (
    OVERLAP_PURPOSES,
    Adjudication,
    Assignment,
    Campaign,
    OneMoreLabel,
    Pair,
    QualityReport,
)
from judgments.storage.bulk import Among

BATCH = 2_000
Id = TypeVar("Id")
Aggregate = tuple[Pair.State, int | None]


@dataclass
class LabelledPair:
    """A pair with its labels that count.

    grades, annotators, labels: one entry for each label of the overlap that holds.
    likely: how probable each grade is, where the rule weighs labels.
    wishes: how many labels beyond the overlap leads want. aside: in a closed campaign, the seats
    whose labels were set aside.
    is_told: whether it is written down that the list knows.
    """

    pair: Pair
    grades: list[int] = field(default_factory=list)
    annotators: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    revisions: set[int] = field(default_factory=set)
    adjudication: Adjudication | None = None
    likely: tuple[float, ...] = ()
    wishes: int = 0
    aside: int = 0
    is_told: bool = False


def load_labelled_pairs(
    pairs_qs: QuerySet[Pair], report: Callable[[int], None] = lambda _: None
) -> list[LabelledPair]:
    """The pairs with the current grades of their overlap and their newest adjudication.

    report: called with how many pairs have been loaded.
    """
    # joined to every pair, the campaign would take most of the time
    loaded = {pair.pk: LabelledPair(pair) for pair in pairs_qs.prefetch_related("campaign")}
    for position, pair_ids in enumerate(batches(list(loaded))):
        _load_labels(loaded, pair_ids)
        report(position * BATCH + len(pair_ids))
    return list(loaded.values())


def list_labelled(campaign: Campaign) -> QuerySet[Pair]:
    """The pairs that have labels."""
    return Pair.objects.filter(campaign=campaign, label_seq__gt=0)


def _load_labels(loaded: dict[int, LabelledPair], pair_ids: Sequence[int]) -> None:
    labels_qs = overlap_grades().filter(Among("pair", pair_ids))
    rows = labels_qs.order_by("pair_id", "pair_seq").values_list(
        "pair_id", "pk", "annotator", "grade", "guideline_revision__number"
    )
    for pair_id, pk, annotator, grade, revision in rows:
        assert grade is not None  # a constraint of the table
        loaded[pair_id].grades.append(grade)
        loaded[pair_id].annotators.append(annotator)
        loaded[pair_id].labels.append(str(pk))
        loaded[pair_id].revisions.add(revision)
    for pair_id, wishes in count_wishes(pair_ids).items():
        loaded[pair_id].wishes = wishes
    closed = [pk for pk in pair_ids if loaded[pk].pair.campaign.state == Campaign.State.CLOSED]
    for pair_id, aside in (_count_aside(closed) if closed else {}).items():
        loaded[pair_id].aside = aside
    adjudications_qs = Adjudication.objects.filter(Among("pair", pair_ids)).order_by("pair_seq")
    for adjudication in adjudications_qs.select_related(
        "decided_by", "guideline_revision", "reopening", "reason_text"
    ):
        if hasattr(adjudication, "reopening"):
            loaded[adjudication.pair_id].adjudication = None
            continue
        loaded[adjudication.pair_id].adjudication = adjudication
        loaded[adjudication.pair_id].revisions.add(adjudication.guideline_revision.number)


def count_wishes(pair_ids: Iterable[int]) -> dict[int, int]:
    """How many labels beyond the overlap leads want, of the pairs where they asked for some."""
    wishes_qs = OneMoreLabel.objects.filter(Among("pair", pair_ids), withdrawal=None).order_by()
    return dict(wishes_qs.values_list("pair").annotate(wishes=Count("pk")))


def _count_aside(pair_ids: Iterable[int]) -> dict[int, int]:
    aside_qs = Assignment.objects.filter(
        Among("pair", pair_ids), purpose__in=OVERLAP_PURPOSES, state=Assignment.State.ASIDE
    ).order_by()
    return dict(aside_qs.values_list("pair").annotate(aside=Count("pk")))


def list_known(campaign_ids: Iterable[int]) -> dict[int, Known]:
    """What the stored figures of campaigns know of their annotators."""
    reports = QualityReport.objects.filter(campaign__in=set(campaign_ids))
    return {
        campaign_id: Known.of(figures)
        for campaign_id, figures in reports.values_list("campaign", "figures")
    }


def aggregate(
    loaded: Sequence[LabelledPair], codes: tuple[int, ...], rule: str | None = None
) -> Iterator[tuple[LabelledPair, Aggregate]]:
    """The state and grade of each pair by its campaign's rule, or by another one.

    Where labels are weighed, `likely` of the pair is filled as well.
    """
    weighed = {
        one.pair.campaign_id for one in loaded if (rule or one.pair.campaign.rule) in WEIGHED
    }
    known = list_known(weighed) if weighed else {}
    for one in loaded:
        yield one, _aggregate(one, codes, rule or one.pair.campaign.rule, known)


def _aggregate(
    one: LabelledPair, codes: tuple[int, ...], rule: str, known: Mapping[int, Known]
) -> Aggregate:
    grade = None
    if one.grades:
        of_campaign = known.get(one.pair.campaign_id, Known())
        grade, one.likely = grade_by(rule, one.annotators, one.grades, codes, of_campaign)
    if one.adjudication is not None:
        return Pair.State.ADJUDICATED, one.adjudication.grade
    # no one relabels what was set aside in a closed campaign: the labels that are left decide
    if len(one.grades) < max(1, one.pair.campaign.overlap - one.aside):
        return Pair.State.OPEN, None
    if grade is None and len(one.grades) < one.pair.campaign.overlap + one.wishes:
        return Pair.State.OPEN, None  # one more label is pending
    return (Pair.State.TIED if grade is None else Pair.State.COMPLETE), grade


def batches(ids: Sequence[Id]) -> Iterator[Sequence[Id]]:
    """The ids in portions that a query can carry."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
