"""A campaign's grades, and the board, without the labels of some people; nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotation.consolidation.aggregation import LabelledPair, list_known, load_labelled_pairs
from annotation.consolidation.overlap import overlap_labels
from annotation.consolidation.weighing import WEIGHED, Known, grade_by
from annotation.models import Campaign, Pair
from evaluation.public import WhatIf, list_what_if
from touchstone.scales import Scale

MOST_PEOPLE: Final = 8  # whose harm is computed: those with the most labels
MOST_LABELS: Final = 100_000  # of them together


@dataclass(frozen=True)
class Remaining:
    """Pairs that some people labelled, without their labels.

    loaded: all of them. undecided: those that are not adjudicated; the others do not change.
    differing: the pairs whose grade is another one, and which: None for a tie or none left.
    lost: how many of these have no label left.
    """

    loaded: tuple[LabelledPair, ...]
    undecided: tuple[LabelledPair, ...]
    differing: dict[Pair, int | None]
    lost: int

    @property
    def changes(self) -> dict[tuple[int, int], int | None]:
        """The grades that would be others, by query and document."""
        return {(pair.query_id, pair.document_id): one for pair, one in self.differing.items()}


def load_remaining(campaign: Campaign, people: Sequence[int]) -> Remaining:
    """What the campaign's rule makes of the labels of the others. people: user ids."""
    own_qs = overlap_labels().filter(pair__campaign=campaign, annotator__in=people)
    pairs_qs = campaign.pairs.filter(pk__in=own_qs.order_by().values("pair"))
    loaded = load_labelled_pairs(pairs_qs.order_by("pk"))
    undecided = [one for one in loaded if one.adjudication is None]
    grades = {one.pair: _grade_without(one, people, known) for one, known in _with_known(undecided)}
    differing = {
        pair: grade
        for pair, (grade, _) in grades.items()
        if pair.state != Pair.State.OPEN and pair.grade != grade
    }
    lost = sum(not grades[pair][1] for pair in differing)
    return Remaining(tuple(loaded), tuple(undecided), differing, lost)


def count_moved(board: Sequence[WhatIf]) -> int:
    """How many runs have another place. board: best without the labels first."""
    before = sorted(board, key=lambda row: -row.before)
    return sum(one.before != other.before for one, other in zip(before, board, strict=True))


def measure_harm(
    campaign: Campaign, people: Sequence[int], labels: Sequence[int]
) -> dict[str, dict[str, Any]]:
    """What the board would be without each person's labels, by user id, as plain values.

    people: those with findings, with the most labels first; labels: their numbers. shift: the
    largest change of a run's mean; moved: runs that change places, of `runs`. Only of so many
    people and labels as can be computed beside the report; no one where no run is evaluated.
    """
    result: dict[str, dict[str, Any]] = {}
    total = 0
    for person, count in list(zip(people, labels, strict=True))[:MOST_PEOPLE]:
        total += count
        if total > MOST_LABELS:
            break
        changes = load_remaining(campaign, [person]).changes
        board = list_what_if(judgment_list=campaign.list, grades=changes) if changes else []
        if board:
            result[str(person)] = {
                "measure": board[0].measure,
                "shift": max(abs(row.shift) for row in board),
                "moved": count_moved(board),
                "runs": len(board),
            }
    return result


def _with_known(loaded: Sequence[LabelledPair]) -> list[tuple[LabelledPair, Known]]:
    """Each pair with what is known of its campaign's annotators, where its rule weighs labels."""
    weighed = {one.pair.campaign_id for one in loaded if one.pair.campaign.rule in WEIGHED}
    known = list_known(weighed) if weighed else {}
    return [(one, known.get(one.pair.campaign_id, Known())) for one in loaded]


def _grade_without(
    one: LabelledPair, people: Sequence[int], known: Known
) -> tuple[int | None, tuple[int, ...]]:
    """What the labels of the others come to, None for a tie or none; and their grades."""
    stay = [position for position, who in enumerate(one.annotators) if who not in people]
    grades = tuple(one.grades[position] for position in stay)
    if not grades:
        return None, ()
    codes = Scale.from_json(one.pair.campaign.list.scale).codes
    annotators = [one.annotators[position] for position in stay]
    grade, _ = grade_by(one.pair.campaign.rule, annotators, grades, codes, known)
    return grade, grades
