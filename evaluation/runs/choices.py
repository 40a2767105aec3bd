"""What the form of a page about some runs of a list offers to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.evaluations.queries import kept_measures
from evaluation.runs.queries import list_runs
from evaluation.runs.selection import is_plain_mean
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
        RunOption(name, run.label, name in chosen)
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
class Choices:
    """What can be chosen besides runs: measures by name, and segments."""

    measures: tuple[str, ...]
    segments: tuple[str, ...]


def list_choices(*, judgment_list: JudgmentList, version: int, asked: Asked) -> Choices:
    """What the form of a page about some runs offers. version: 0 on a list without any."""
    segments = list_segments(list_id=judgment_list.pk, version=version) if version else ()
    return Choices(offered_measures(judgment_list, asked), tuple(segments))
