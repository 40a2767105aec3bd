"""What the pages of a run look at: which list, version, measure and queries, in which order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt

from evaluation.measures.defaults import judged_beside
from evaluation.measures.definition import Measure
from evaluation.measures.errors import MeasureError
from evaluation.measures.wording import describe
from evaluation.models import Run
from evaluation.selectors.query_values import QueryValues, get_query_values
from evaluation.selectors.run_sums import (
    FilterRefused,
    check_segment,
    chosen_measures,
    kept_measures,
)
from judgments.models import JudgmentList
from judgments.permissions import Access
from judgments.selectors import list_query_ids
from judgments.selectors.content import get_choice

BEST_FIRST: Final = "-value"
SORTS: Final = (BEST_FIRST, "value", "qid", "-qid", "judged", "-judged")
ORDERS: Final = {BEST_FIRST: "Best first", "value": "Worst first", "qid": "By id"}
_DIGITS: Final = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class RunFilters:
    """What the address of a run's page asks for; "" is the usual: first list, head, its measure."""

    list_slug: str = ""
    version: str = ""
    measure: str = ""
    segment: str = ""
    sort: str = ""


@dataclass(frozen=True)
class Order:
    """A way to sort, and the parameters that ask for it."""

    label: str
    address: str
    is_current: bool


@dataclass(frozen=True)
class Looked:
    """What a page looks at. offered: the measures that the list keeps, and the one chosen."""

    lists: list[JudgmentList]
    judgment_list: JudgmentList
    version: int
    is_head: bool
    measure: Measure
    offered: tuple[str, ...]
    segment: str
    sort: str

    @property
    def description(self) -> str:
        """The measure in plain words."""
        return describe(self.measure)

    @property
    def judged_name(self) -> str:
        """What the share of judged documents beside the value is called."""
        beside = judged_beside(self.measure)
        return (beside or self.measure).name

    @property
    def address(self) -> str:
        """The parameters of another page that looks at just this, now and later."""
        return self._address(version=str(self.version))

    @property
    def newest_address(self) -> str:
        """The same at the newest version."""
        return self._address(version="")

    @property
    def orders(self) -> tuple[Order, ...]:
        """The ways to sort, for this page itself."""
        version = "" if self.is_head else str(self.version)
        return tuple(
            Order(label, self._address(version=version, sort=sort), sort == self.sort)
            for sort, label in ORDERS.items()
        )

    @property
    def order_name(self) -> str:
        """The order at hand in words."""
        names = {"-qid": "by id, backwards", "judged": "least judged first"}
        return (ORDERS | names).get(self.sort, "most judged first").lower()

    @property
    def board_address(self) -> str:
        """The parameters of the leaderboard with this number."""
        return _encoded(version=str(self.version), measures=self.measure.name, segment=self.segment)

    def _address(self, *, version: str, sort: str = "") -> str:
        sort = sort or self.sort
        return _encoded(
            list=self.judgment_list.slug,
            version=version,
            measure=self.measure.name,
            segment=self.segment,
            sort="" if sort == BEST_FIRST else sort,
        )


def get_looked(*, access: Access, filters: RunFilters) -> Looked | None:
    """What the address asks for; None where the collection has no list.

    Raises NotFound for a list or version, MeasureError or FilterRefused for the rest.
    """
    choice = get_choice(access=access, list_slug=filters.list_slug, version=filters.version)
    if choice is None:
        return None
    judgment_list = choice.chosen
    judgment_list.collection = access.collection
    kept = kept_measures(judgment_list)
    measures = chosen_measures(judgment_list, filters.measure)
    if filters.measure.strip() and len(measures) != 1:
        raise MeasureError("this page shows one measure at a time")
    if filters.sort not in ("", *SORTS):
        raise FilterRefused("no_column", f"The table can't be sorted by {filters.sort[:60]}.")
    return Looked(
        lists=choice.lists,
        judgment_list=judgment_list,
        version=choice.version,
        is_head=choice.is_head,
        measure=measures[0],
        offered=tuple(dict.fromkeys(m.name for m in (*kept, measures[0]))),
        segment=filters.segment,
        sort=filters.sort or BEST_FIRST,
    )


def get_ordered(*, looked: Looked, run: Run) -> tuple[QueryValues, Mapping[int, str]]:
    """The run's judged queries of the segment in the order asked for, and every query's id."""
    found = get_query_values(
        run=run,
        judgment_list=looked.judgment_list,
        version=looked.version,
        measure=looked.measure,
    )
    collection = looked.judgment_list.collection
    if looked.segment:
        own = check_segment(
            list_id=looked.judgment_list.pk, version=looked.version, segment=looked.segment
        )
        found = found.rows(np.flatnonzero(np.isin(found.query_ids, np.array(own, np.int64))))
    qids = list_query_ids(collection=collection, pks=found.query_ids.tolist())
    return found.rows(_order(found, qids, looked.sort)), qids


def _encoded(**parameters: str) -> str:
    return urlencode({name: value for name, value in parameters.items() if value})


def _order(found: QueryValues, qids: Mapping[int, str], sort: str) -> npt.NDArray[np.intp]:
    """By the column; among equals by id; queries outside the mean last where values decide."""
    ids = [qids[pk] for pk in found.query_ids.tolist()]
    by_id = np.array(sorted(range(len(ids)), key=partial(_natural, ids)), np.intp)
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    if key == "qid":
        return by_id[::-1] if descending else by_id
    column = found.values if key == "value" else found.judged
    column = -column if descending else column
    outside = ~found.counted if key == "value" else np.zeros(len(found), bool)
    ranked = np.lexsort((column[by_id], outside[by_id]))
    return by_id[ranked]


def _natural(ids: Sequence[str], place: int) -> tuple[list[str | int], str]:
    """Digits by their number, so that q2 comes before q10; words and numbers take turns."""
    parts: list[str | int] = list(_DIGITS.split(ids[place]))
    parts[1::2] = [int(part) for part in parts[1::2]]
    return parts, ids[place]
