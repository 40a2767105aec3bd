"""What the form of a page about some runs of a list offers to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.evaluations.queries import kept_measures
from evaluation.runs.names import run_label
from evaluation.runs.queries import list_runs
from evaluation.runs.selection import ChosenRuns, is_plain_mean
from judgments.collections.query_metadata import list_segments
from judgments.models import JudgmentList
from judgments.permissions import Access
from touchstone.measures.asking import Asked, recognise


@dataclass(frozen=True)
class RunOption:
    """A run that can be chosen. name: as addresses have it."""

    name: str
    label: str
    is_chosen: bool


def list_run_options(*, access: Access, chosen: Sequence[str]) -> tuple[RunOption, ...]:
    """The runs of the collection, to choose from. chosen: the names of those that are."""
    return tuple(
        RunOption(name, run_label(run.ranker_name, run.name), name in chosen)
        for run in list_runs(access=access)
        for name in [f"{run.ranker_slug}/{run.name}"]
    )


def offered_measures(judgment_list: JudgmentList, shown: Asked) -> tuple[str, ...]:
    """The measures that a page about some runs offers: those that the list keeps, and its own."""
    return tuple(
        dict.fromkeys(
            shown.canonical if one == shown.measure else recognise(one).canonical
            for one in (*kept_measures(judgment_list), shown.measure)
            if (is_plain_mean(one) and one.family != "Judged") or one == shown.measure
        )
    )


@dataclass(frozen=True)
class RunsChoices:
    """What can be chosen: measures by name, segments, and the runs of the collection."""

    measures: tuple[str, ...]
    segments: tuple[str, ...]
    runs: tuple[RunOption, ...]


def list_choices(*, access: Access, chosen: ChosenRuns) -> RunsChoices:
    """What the form of a page about these runs offers."""
    number = chosen.version
    segments = list_segments(list_id=chosen.list.pk, version=number) if number else ()
    names = [one.name for one in chosen.compared]
    return RunsChoices(
        measures=offered_measures(chosen.list, chosen.asked),
        segments=tuple(segments),
        runs=list_run_options(access=access, chosen=names),
    )
