"""Making and retiring canaries of data sets."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Max

from evaluation.canaries.rules import RuleRefused, of_boards, of_queries, read_rules
from evaluation.canaries.services import CanaryRefused
from evaluation.data_sets.queries import list_rule_measures
from evaluation.models import DataSet, DataSetCanary
from judgments.audit import services as audit
from judgments.permissions import Access, NotFound, check_may_upload_runs

MOST_CANARIES: Final = 20  # of a data set that are not retired


def create_data_set_canary(
    *,
    access: Access,
    data_set: DataSet,
    rules: Sequence[str],
    segment: str = "",
    is_by_segment: bool = False,
    days: int,
    fewest: int,
    in_a_row: int,
    at: datetime,
) -> DataSetCanary:
    """Watch a data set from its next evaluation on; for researchers and leads.

    rules: lines about boards, as `read_rules` reads them. Raises CanaryRefused.
    """
    _check_owned(access, data_set)
    if data_set.retired_at is not None:
        raise CanaryRefused("rules", "This data set is retired.")
    if data_set.canaries.filter(retired_at=None).count() >= MOST_CANARIES:
        raise CanaryRefused(
            "rules", f"A data set can have {MOST_CANARIES} canaries. Retire one first."
        )
    if (segment or is_by_segment) and not data_set.segments:
        raise CanaryRefused("segment", "This data set has no segments.")
    if segment and is_by_segment:
        raise CanaryRefused("segment", "Choose one segment or every one, not both.")
    read = _read_board_rules(data_set, rules)
    with transaction.atomic():
        canary = DataSetCanary.objects.create(
            data_set=data_set,
            rules=read,
            segment=segment,
            is_by_segment=is_by_segment,
            days=days,
            fewest=fewest,
            in_a_row=in_a_row,
            after_evaluation=data_set.evaluations.aggregate(newest=Max("pk"))["newest"] or 0,
            created_at=at,
            created_by=access.user,
        )
        audit.record_by(access, at, "data_set.canary_created", data_set.slug, after={"rules": read})
    return canary


def _read_board_rules(data_set: DataSet, lines: Sequence[str]) -> list[str]:
    """The rules, canonical. Raises CanaryRefused, also for measures that are not computed."""
    try:
        rules = read_rules(lines)
    except RuleRefused as error:
        raise CanaryRefused("rules", str(error)) from error
    if not rules:
        raise CanaryRefused("rules", "A canary of a data set needs a rule.")
    if about_queries := of_queries(rules):
        raise CanaryRefused(
            "rules", f"“{about_queries[0]}”: rules of a data set begin with “board:”."
        )
    known = list_rule_measures(data_set)
    for rule in of_boards(rules, known):
        if rule.measure not in known:
            raise CanaryRefused(
                "rules",
                f"This data set has no {rule.measure}; its measures are {', '.join(known)}.",
            )
    return [str(rule) for rule in rules]


def retire_data_set_canary(*, access: Access, canary: DataSetCanary, at: datetime) -> None:
    """Watch no more; what was seen stays. For researchers and leads."""
    _check_owned(access, canary.data_set)
    with transaction.atomic():
        retired = DataSetCanary.objects.filter(pk=canary.pk, retired_at=None)
        if not retired.update(retired_at=at):
            raise CanaryRefused("rules", "This canary is retired already.")
        audit.record_by(
            access,
            at,
            "data_set.canary_retired",
            canary.data_set.slug,
            before={"rules": canary.rules},
        )


def _check_owned(access: Access, data_set: DataSet) -> None:
    check_may_upload_runs(access)
    if data_set.collection_id != access.collection.pk:
        raise NotFound("data set")
