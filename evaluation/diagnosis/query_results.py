"""What every ranker shows for one query, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from evaluation.evaluations.queries import FilterRefused
from evaluation.models import Run
from evaluation.rankings.queries import load_rankings
from evaluation.runs.choices import RunOption
from evaluation.runs.names import find_runs, list_newest_runs, name_of, run_below, run_label
from judgments.content.queries import ListChoice, get_choice
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import Document, Query
from judgments.permissions import Access, NotFound, check_may_see_rankings
from judgments.versions.queries import get_judged
from touchstone.scales import Scale

DEPTHS: Final = (5, 10, 20, 50)
USUAL_DEPTH: Final = 10


@dataclass(frozen=True)
class Result:
    """A document at a rank. moved: places above where the first run has it; None: not in its top.

    grade: None where no one judged it. elsewhere: how many of the runs show it.
    """

    docid: str
    title: str
    grade: GradeShown | None
    moved: int | None
    elsewhere: int

    @property
    def fell(self) -> int:
        """Places below where the first run has it."""
        return -(self.moved or 0)


@dataclass(frozen=True)
class ResultColumn:
    """A run. gone: documents of the first run's top that this one's lacks."""

    run_id: UUID
    name: str
    ranker_name: str
    shown: int
    judged: int
    gone: int

    @property
    def run_below(self) -> str:
        """What pages call it where its ranker's name stands above."""
        return run_below(self.ranker_name, self.name)


@dataclass(frozen=True)
class QueryResults:
    """rows: by rank, each run's result there; None where its ranking has ended."""

    qid: str
    text: str
    choice: ListChoice | None
    depth: int
    columns: list[ResultColumn]
    rows: list[tuple[int, list[Result | None]]]


def get_query_results(
    *,
    access: Access,
    qid: str,
    list_slug: str,
    version: str,
    runs: Sequence[str],
    depth: str,
) -> QueryResults:
    """The first documents of some runs for a query, with their grades in a list.

    runs: as `find_runs` takes them; without any, the newest run of the first four rankers.
    Raises FilterRefused for a run or a depth that there is not, NotFound for a query or list.
    """
    check_may_see_rankings(access)
    query = Query.objects.filter(collection=access.collection, qid=qid).first()
    if query is None:
        raise NotFound("query")
    choice = get_choice(access=access, list_slug=list_slug, version=version)
    result = find_runs(access=access, names=runs)
    k = _depth(depth)
    tops = _tops(result, query.pk, k)
    grades = _grades(choice, query.pk)
    documents = Document.objects.only("docid", "title").in_bulk(
        {document for top in tops for document in top}
    )
    results = [_results(top, tops, documents, grades) for top in tops]
    return QueryResults(
        qid=query.qid,
        text=query.text,
        choice=choice,
        depth=k,
        columns=[
            ResultColumn(
                run.public_id,
                name_of(run),
                run.ranker.name,
                len(top),
                sum(document in grades for document in top),
                len(set(tops[0]) - set(top)),
            )
            for run, top in zip(result, tops, strict=True)
        ],
        rows=[
            (rank + 1, [own[rank] if rank < len(own) else None for own in results])
            for rank in range(max(map(len, tops), default=0))
        ],
    )


def _depth(text: str) -> int:
    if not text:
        return USUAL_DEPTH
    if not (text.isascii() and text.isdecimal() and int(text[:4]) in DEPTHS and len(text) < 4):
        known = ", ".join(map(str, DEPTHS))
        raise FilterRefused("no_depth", f"Unknown depth. Choose one of: {known}.")
    return int(text)


def _tops(runs: Sequence[Run], query_id: int, k: int) -> list[list[int]]:
    """The first k documents of each run; none where it has no answer."""
    tops: list[list[int]] = [[] for _ in runs]
    if runs:
        loaded = load_rankings(run_ids=[run.pk for run in runs], query_ids=[query_id])
        for position, row in enumerate(loaded.run_rows.tolist()):
            tops[row] = loaded.ranked.ranking(position)[:k].tolist()
    return tops


def _grades(choice: ListChoice | None, query_id: int) -> dict[int, GradeShown]:
    if choice is None:
        return {}
    scale = Scale.from_json(choice.chosen.scale)
    judged = get_judged(
        list_id=choice.chosen.pk, version=choice.version, query_ids=[query_id]
    ).pairs()
    return {document: show_grade(scale, grade) for (_, document), grade in judged.items()}


def _results(
    top: Sequence[int],
    tops: Sequence[Sequence[int]],
    documents: Mapping[int, Document],
    grades: Mapping[int, GradeShown],
) -> list[Result]:
    first = {document: position for position, document in enumerate(tops[0])}
    return [
        Result(
            documents[document].docid,
            documents[document].title,
            grades.get(document),
            first[document] - position if document in first else None,
            sum(document in other for other in tops),
        )
        for position, document in enumerate(top)
    ]


def list_run_offers(*, access: Access, shown: Sequence[str]) -> list[RunOption]:
    """The newest run of each ranker, and those that are shown (named as addresses name them)."""
    runs = find_runs(access=access, names=shown) if shown else []
    offered = {name_of(run): run for run in [*runs, *list_newest_runs(access)]}
    return [
        RunOption(name, run_label(run.ranker.name, name), run in runs)
        for name, run in sorted(offered.items())
    ]
