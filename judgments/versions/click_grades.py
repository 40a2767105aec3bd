"""Which grades of a list come from clicks: evidence has the key `clicks`, with plain values.

{"clicks": {"log": 3, "score": "examined", "value": 0.31, "low": 0.24, "high": 0.39,
"impressions": 120, "clicks": 33}}
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import Min, Q, QuerySet

from judgments.models import Judgment, JudgmentVersion

KEY: Final = "clicks"


def click_grades_qs(*, list_id: int, version: int) -> QuerySet[Judgment]:
    """The judgments that hold at a version and come from clicks."""
    made = JudgmentVersion.objects.filter(
        list=list_id, source=JudgmentVersion.Source.CLICKS, number__lte=version
    )
    if not made.exists():
        return Judgment.objects.none()
    return Judgment.objects.filter(
        Q(until=None) | Q(until__gt=version),
        list=list_id,
        since__lte=version,
        evidence__has_key=KEY,
    )


def count_click_grades(*, list_id: int, version: int) -> int:
    """How many grades of a version come from clicks."""
    return click_grades_qs(list_id=list_id, version=version).count()


def with_click_grades(versions: Sequence[JudgmentVersion]) -> set[int]:
    """Those of the versions (pk) in which grades come from clicks."""
    made_qs = JudgmentVersion.objects.filter(
        list__in={one.list_id for one in versions}, source=JudgmentVersion.Source.CLICKS
    )
    first = dict(made_qs.order_by().values_list("list").annotate(Min("number")))
    return {
        one.pk
        for one in versions
        if first.get(one.list_id, one.number + 1) <= one.number
        and click_grades_qs(list_id=one.list_id, version=one.number).exists()
    }


def click_words(evidence: Mapping[str, Any]) -> str:
    """What clicks said of a pair, in words; "" where its grade does not come from them."""
    own = evidence.get(KEY)
    if not isinstance(own, Mapping):
        return ""
    return (
        f"clicks: {own['value']:.2f} [{own['low']:.2f}, {own['high']:.2f}], "
        f"{own['impressions']:,} impressions"
    )
