"""The page of what to judge next."""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from evaluation.evaluations.queries import SetChoice, choose_set, kept_measures
from evaluation.judge_next.queries import (
    MOST_PAIRS,
    Expected,
    JudgeNext,
    NextAsked,
    NextPair,
    get_judge_next,
)
from evaluation.runs.choices import RunOption, list_run_options
from judgments.collections.query_metadata import list_segments
from judgments.lists.queries import get_list
from judgments.models import Document, Query
from judgments.permissions import Access, check_may_see_rankings, may_lead
from touchstone.measures.asking import recognise
from touchstone.measures.definition import Measure
from touchstone.measures.wording import describe

LISTED: Final = 25


@dataclass(frozen=True)
class NextRow:
    """A pair as the page shows it."""

    pair: NextPair
    qid: str
    query: str
    docid: str
    title: str

    @property
    def places(self) -> str:
        """Where runs show the document."""
        return ", ".join(f"{one.ranker} {one.rank}" for one in self.pair.sources)


@dataclass(frozen=True)
class JudgeNextPage:
    """found: None where no run shows anything. low, high: the ends of the drawings' axis."""

    list_slug: str
    list_name: str
    asked: NextAsked
    offered: tuple[str, ...]
    segments: tuple[str, ...]
    sets: SetChoice
    options: tuple[RunOption, ...]
    found: JudgeNext | None
    rows: tuple[NextRow, ...]
    may_start: bool
    most: int = MOST_PAIRS

    @property
    def measure(self) -> Measure | None:
        """The one that pairs are ordered by."""
        return self.found.measure if self.found else None

    @property
    def description(self) -> str:
        """The measure in plain words."""
        return describe(self.measure) if self.measure else ""

    @property
    def more(self) -> int:
        """Pairs that are drawn and not listed."""
        return len(self.found.pairs) - len(self.rows) if self.found else 0

    @property
    def expected(self) -> tuple[Expected, ...]:
        """What each run's mean would probably be; runs as pages call them."""
        if self.found is None:
            return ()
        return tuple(
            replace(one, name=self.labels.get(one.name, one.name)) for one in self.found.expected
        )

    @property
    def labels(self) -> dict[str, str]:
        """What pages call the runs, by what addresses call them."""
        return {option.name: option.label for option in self.options}

    @property
    def low(self) -> float:
        return min((one.low for one in self.expected), default=0.0)

    @property
    def high(self) -> float:
        return max((one.high for one in self.expected), default=1.0)

    @property
    def shown_words(self) -> str:
        """What the unjudged pairs are part of."""
        return f"of {self.found.shown:,} pairs that the runs show" if self.found else ""

    @property
    def closest_words(self) -> str:
        """Which runs may be in the wrong order."""
        if self.found is None:
            return ""
        closest = " and ".join(self.labels.get(name, name) for name in self.found.closest)
        return f"chance that {closest} are in the wrong order"

    @property
    def compare_address(self) -> str:
        """The parameters of the page that compares these runs."""
        asked = self.asked
        more = {"measure": asked.measure, "segment": asked.segment, "set": asked.set}
        runs = [("runs", name) for name in asked.runs]
        return urlencode([*runs, *((name, value) for name, value in more.items() if value)])


def get_judge_next_page(*, access: Access, slug: str, asked: NextAsked | None) -> JudgeNextPage:
    """What to judge next on a list, as an address asks for it; None: only what can be asked for.

    Raises FilterRefused and MeasureError for what can't be asked for.
    """
    judgment_list = get_list(access=access, slug=slug)
    judgment_list.collection = access.collection
    check_may_see_rankings(access)
    found = None
    if asked is not None:
        found = get_judge_next(access=access, judgment_list=judgment_list, asked=asked)
    head = judgment_list.head
    asked = asked or NextAsked()
    names = [
        recognise(measure).canonical
        for measure in kept_measures(judgment_list)
        if measure.family != "Judged"
    ]
    if found:
        names.append(found.asked.canonical)
    return JudgeNextPage(
        list_slug=judgment_list.slug,
        list_name=judgment_list.name,
        asked=asked,
        offered=tuple(dict.fromkeys(names)),
        segments=tuple(list_segments(list_id=judgment_list.pk, version=head)) if head else (),
        sets=choose_set(access=access, judgment_list=judgment_list, slug=asked.set),
        options=list_run_options(access=access, chosen=found.names if found else ()),
        found=found,
        rows=_rows(found.pairs[:LISTED]) if found else (),
        may_start=may_lead(access),
    )


def _rows(pairs: tuple[NextPair, ...]) -> tuple[NextRow, ...]:
    queries = Query.objects.in_bulk({pair.query_id for pair in pairs})
    documents = Document.objects.only("docid", "title").in_bulk(
        {pair.document_id for pair in pairs}
    )
    return tuple(
        NextRow(
            pair,
            queries[pair.query_id].qid,
            queries[pair.query_id].text,
            documents[pair.document_id].docid,
            documents[pair.document_id].title,
        )
        for pair in pairs
    )
