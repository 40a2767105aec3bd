"""What the pages of a run are about: which list, version, measure and queries, in which order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import (
    FilterRefused,
    SetChoice,
    check_queries,
    choose_set,
    chosen_measures,
)
from evaluation.evaluations.query_values import QueryValues, get_query_values
from evaluation.models import Run
from judgments.collections.queries import list_query_ids
from judgments.content.queries import get_choice
from judgments.models import JudgmentList
from judgments.permissions import Access
from touchstone.measures.asking import Asked, ask_all, recognise
from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.scoring import can_be_stored, check_fit
from touchstone.scales import Scale

BEST_FIRST: Final = "-value"
SORTS: Final = (BEST_FIRST, "value", "qid", "-qid", "judged", "-judged")
VALUES_CAVEAT: Final = (
    "Computed with the list’s grade values; the tool itself would be given the grade codes."
)
_DIGITS: Final = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class RunFilters:
    """What the address of a run's page asks for; "" is the usual: first list, head, its measure.

    measure: one or several, each plain or as a tool means it, `lightgbm:nDCG@10`.
    """

    list_slug: str = ""
    version: str = ""
    measure: str = ""
    segment: str = ""
    set: str = ""
    sort: str = ""


@dataclass(frozen=True)
class RunSelection:
    """What a page of a run is about: a list at a version, definitions, and queries in an order.

    asked: the definitions, the first of which the others are held against. has_values: a grade's
    code is not what it is worth.
    """

    lists: list[JudgmentList]
    judgment_list: JudgmentList
    version: int
    is_head: bool
    asked: tuple[Asked, ...]
    segment: str
    sets: SetChoice
    sort: str
    has_values: bool

    @property
    def measure(self) -> Measure:
        """The first definition."""
        return self.asked[0].measure

    @property
    def name(self) -> str:
        """What the first definition is called."""
        return self.asked[0].canonical

    @property
    def names(self) -> tuple[str, ...]:
        """What the definitions are called."""
        return tuple(one.canonical for one in self.asked)

    @property
    def caveat(self) -> str:
        """Where the tool whose rules are shown can't be followed; "" where there is none."""
        return self.caveat_of(self.asked[0])

    def caveat_of(self, asked: Asked) -> str:
        """The same of any definition."""
        if asked.preset is None or not self.has_values:
            return asked.caveat
        return f"{asked.caveat} {VALUES_CAVEAT}".strip()

    @property
    def judged_name(self) -> str:
        """What the share of judged documents beside the value is called."""
        return Measure(family="Judged", cutoff=self.measure.cutoff).name

    @property
    def can_be_on_board(self) -> bool:
        """Whether a leaderboard can have the first definition."""
        return can_be_stored(self.measure)


def get_run_selection(*, access: Access, filters: RunFilters, most: int = 1) -> RunSelection | None:
    """What the address asks for; None where the collection has no list.

    most: so many definitions at once.
    Raises NotFound for a list or version, MeasureError or FilterRefused for the rest.
    """
    choice = get_choice(access=access, list_slug=filters.list_slug, version=filters.version)
    if choice is None:
        return None
    judgment_list = choice.chosen
    judgment_list.collection = access.collection
    if filters.sort not in ("", *SORTS):
        raise FilterRefused("no_column", f"Can’t sort by {filters.sort[:60]}.")
    scale = Scale.from_json(judgment_list.scale)
    return RunSelection(
        lists=choice.lists,
        judgment_list=judgment_list,
        version=choice.version,
        is_head=choice.is_head,
        asked=_asked(judgment_list, filters.measure, most),
        segment=filters.segment,
        sets=choose_set(access=access, judgment_list=judgment_list, slug=filters.set),
        sort=filters.sort or BEST_FIRST,
        has_values=any(grade.code != grade.value for grade in scale.grades),
    )


def _asked(judgment_list: JudgmentList, text: str, most: int) -> tuple[Asked, ...]:
    """The definitions that a text names, or else the first that the list keeps."""
    if not text.strip():
        (first, *_) = chosen_measures(judgment_list, "")
        return (recognise(first),)
    asked = tuple({one.canonical: one for one in ask_all(text)}.values())
    if len(asked) > most:
        several = "one measure" if most == 1 else f"at most {most} definitions"
        raise MeasureError(f"this page shows {several} at a time")
    for one in asked:
        if not one.measure.is_mean:
            raise MeasureError(
                f"{one.name} is computed over a whole run and has no value per query"
            )
    check_fit([one.measure for one in asked], grades_of(judgment_list))
    return asked


def get_ordered(*, selection: RunSelection, run: Run) -> tuple[QueryValues, Mapping[int, str]]:
    """The run's judged queries of those asked for, in their order, and every query's id."""
    result = get_query_values(
        run=run,
        judgment_list=selection.judgment_list,
        version=selection.version,
        measure=selection.measure,
    )
    collection = selection.judgment_list.collection
    own = check_queries(
        list_id=selection.judgment_list.pk,
        version=selection.version,
        segment=selection.segment,
        saved_set=selection.sets.chosen,
    )
    if own is not None:
        result = result.within(own)
    qids = list_query_ids(collection=collection, pks=result.query_ids.tolist())
    return result.rows(_order(result, qids, selection.sort)), qids


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
