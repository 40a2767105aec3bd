"""How the judged queries of a list were chosen."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Count

from judgments.models import Judgment, JudgmentList, QueryOrigin, SampledQuery
from judgments.storage.bulk import insert_rows
from judgments.storage.caches import get_or_compute
from judgments.versions.machine_grades import list_not_from_people
from judgments.versions.queries import at_head

KEPT: Final = 24 * 3600  # seconds


@dataclass(frozen=True)
class Origins:
    """The judged queries of a list, each counted once, by the first of these that holds.

    sampled: drawn by a sample of the list. judge_next: added by Judge next. chosen: pooled without
    a sample. imported: graded without a campaign. not_by_people: however chosen, graded by clicks
    or machine judges alone.
    """

    sampled: int
    judge_next: int
    chosen: int
    imported: int
    not_by_people: int

    @property
    def others(self) -> int:
        """The judged queries that no sample drew, or that people did not judge."""
        return self.judge_next + self.chosen + self.imported + self.not_by_people


def record_origins(
    *, list_id: int, query_ids: Iterable[int], origin: QueryOrigin.Origin, at: datetime
) -> None:
    """Note that queries came to be judged this way; what is noted already stays."""
    rows = [(list_id, query_id, str(origin), at) for query_id in sorted(query_ids)]
    columns = ("list_id", "query_id", "origin", "at")
    insert_rows(QueryOrigin, columns, rows, ignore_conflicts=True)


def get_origins(*, judgment_list: JudgmentList) -> Origins:
    """How the queries that are judged at the list's head were chosen."""
    newest = SampledQuery.objects.filter(plan__list=judgment_list).order_by("-pk")
    last = newest.values_list("pk", flat=True).first() or 0
    name = f"origins:2:{judgment_list.pk}:{judgment_list.head}:{last}"
    return get_or_compute(name, Origins, KEPT, lambda: _compute(judgment_list))


def find_origins(*, judgment_list: JudgmentList) -> Origins | None:
    """`get_origins` of a list that has a version; None for one without."""
    return get_origins(judgment_list=judgment_list) if judgment_list.head else None


def _compute(judgment_list: JudgmentList) -> Origins:
    judged_qs = Judgment.objects.filter(at_head(), list=judgment_list).order_by()
    counts = dict(judged_qs.values_list("query").annotate(Count("pk")))
    others = list_not_from_people(list_id=judgment_list.pk, version=judgment_list.head)
    by_others = Counter(query for query, _ in others)
    judged = {query for query, count in counts.items() if count > by_others[query]}
    members = SampledQuery.objects.filter(plan__list=judgment_list).order_by()
    sampled = judged.intersection(members.values_list("query", flat=True).distinct())
    known: dict[str, set[int]] = {}
    own = QueryOrigin.objects.filter(list=judgment_list).order_by()
    for query_id, origin in own.values_list("query", "origin"):
        known.setdefault(origin, set()).add(query_id)
    rest = judged - sampled
    by_next = rest & known.get(QueryOrigin.Origin.JUDGE_NEXT, set())
    by_hand = (rest - by_next) & (
        known.get(QueryOrigin.Origin.CHOSEN, set()) | known.get(QueryOrigin.Origin.SAMPLE, set())
    )
    imported = rest - by_next - by_hand
    return Origins(
        len(sampled), len(by_next), len(by_hand), len(imported), len(counts) - len(judged)
    )
