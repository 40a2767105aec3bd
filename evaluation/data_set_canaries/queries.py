"""Reading canaries of data sets: what was found, when, and what is wrong now."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.canaries.queries import OpenIncident, RuleState
from evaluation.canaries.words import WORDS, describe
from evaluation.data_sets.queries import (
    describe_look,
    get_data_set,
    list_rule_measures,
    list_segments,
)
from evaluation.models import DataSet, DataSetCanary, DataSetEvaluation, DataSetLook, Incident
from judgments.permissions import Access, NotFound, may_upload_runs

State = DataSetEvaluation.State
ENDED: Final = (State.DONE, State.FAILED)
SHOWN: Final = 30  # looks of a canary
BROKEN: Final = {"bad": True, "good": False}


@dataclass(frozen=True)
class DayLook:
    """What a day, or an evaluation, said. text: of what is wrong. opened, recovered: kinds."""

    day: str
    at: datetime
    is_bad: bool
    text: str
    opened: tuple[str, ...]
    recovered: tuple[str, ...]


@dataclass(frozen=True)
class DataSetCanaryRow:
    """A canary. incidents: those that are open. rules: as they were written. rule_states: as the
    newest look found them. looks: newest first.
    """

    id: int
    rules: tuple[str, ...]
    segment: str
    is_by_segment: bool
    days: int
    fewest: int
    in_a_row: int
    created_at: datetime
    incidents: tuple[OpenIncident, ...]
    rule_states: tuple[RuleState, ...]
    looks: tuple[DayLook, ...]


@dataclass(frozen=True)
class DataSetCanariesPage:
    """The canaries of a data set. segments: to choose from."""

    data_set: DataSet
    rows: tuple[DataSetCanaryRow, ...]
    measures: tuple[str, ...]
    segments: tuple[str, ...]
    may_change: bool

    @property
    def is_ok(self) -> bool:
        """Whether no incident is open."""
        return not any(row.incidents for row in self.rows)


def list_due_canaries_of_data_sets() -> QuerySet[DataSetCanary]:
    """Those with an evaluation that ended and has not been looked at."""
    looked = DataSetLook.objects.filter(canary=OuterRef(OuterRef("pk")), evaluation=OuterRef("pk"))
    unseen = DataSetEvaluation.objects.filter(
        ~Exists(looked),
        data_set=OuterRef("data_set"),
        other=None,
        pk__gt=OuterRef("after_evaluation"),
        state__in=ENDED,
    )
    return DataSetCanary.objects.filter(Exists(unseen), retired_at=None)


def get_data_set_canaries(*, access: Access, slug: str) -> DataSetCanariesPage:
    """The canaries of a data set that are not retired, each with its newest looks."""
    data_set = get_data_set(access=access, slug=slug)
    return DataSetCanariesPage(
        data_set=data_set,
        rows=tuple(_row(one) for one in data_set.canaries.filter(retired_at=None)),
        measures=list_rule_measures(data_set),
        segments=list_segments(data_set),
        may_change=may_upload_runs(access) and data_set.retired_at is None,
    )


def get_data_set_canary(*, access: Access, slug: str, canary_id: int) -> DataSetCanary:
    """A canary of a data set of the collection. Raises NotFound."""
    data_set = get_data_set(access=access, slug=slug)
    canary = data_set.canaries.filter(pk=canary_id).select_related("data_set").first()
    if canary is None:
        raise NotFound("canary")
    return canary


def _row(canary: DataSetCanary) -> DataSetCanaryRow:
    own = DataSetLook.objects.filter(canary=canary).select_related("evaluation")
    looks = list(own.order_by("-pk")[:SHOWN])
    incidents = list(
        Incident.objects.filter(data_set_canary=canary)
        .select_related("opened_by_day")
        .order_by("pk")
    )
    return DataSetCanaryRow(
        id=canary.pk,
        rules=tuple(canary.rules),
        segment=canary.segment,
        is_by_segment=canary.is_by_segment,
        days=canary.days,
        fewest=canary.fewest,
        in_a_row=canary.in_a_row,
        created_at=canary.created_at,
        incidents=tuple(
            OpenIncident(WORDS[one.kind], describe_look(one.kind, one.opened_by_day), one.opened_at)
            for one in incidents
            if one.recovered_at is None and one.opened_by_day is not None
        ),
        rule_states=_states(canary, looks),
        looks=tuple(_day_look(look, incidents) for look in looks),
    )


def _states(canary: DataSetCanary, looks: list[DataSetLook]) -> tuple[RuleState, ...]:
    board = next((one.figures["board"] for one in looks if "board" in one.figures), None)
    if board is None:
        return tuple(RuleState(rule) for rule in canary.rules)
    return tuple(RuleState(one["rule"], one["found"], BROKEN.get(one["finding"])) for one in board)


def _day_look(look: DataSetLook, incidents: list[Incident]) -> DayLook:
    bad = [kind for kind in WORDS if look.findings.get(kind) == "bad"]
    return DayLook(
        day=look.day,
        at=look.evaluation.ended_at or look.looked_at,
        is_bad=bool(bad),
        text=" ".join(describe(kind, "", look.figures) for kind in bad),
        opened=tuple(WORDS[one.kind] for one in incidents if one.opened_by_day_id == look.pk),
        recovered=tuple(WORDS[one.kind] for one in incidents if one.recovered_by_day_id == look.pk),
    )
