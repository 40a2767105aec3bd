"""One pair's grade from its labels, each weighed by what is known of who gave it.

What is known comes from the campaign's stored figures: so a pair can be concluded on its own, in
no time, and concluding it twice gives the same. Of someone whom the figures do not know yet,
what the priors say is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import Any, Final

from annotation.consolidation.rules import RULES
from touchstone.agreement.dawid_skene import PRIORS, SMALLEST
from touchstone.agreement.reliability import EQUAL, RIGHT_BEFORE, WRONG_BEFORE

WEIGHED: Final = ("dawid_skene", "reliability")  # the rules that need this
DIGITS: Final = 6  # of a posterior that is kept

Said = Sequence[tuple[int, int]]  # annotator, step


@dataclass(frozen=True)
class Known:
    """What is known of a campaign's annotators, by their ids.

    prevalence: of each grade; () while nothing is known. matrices: rows the true grade, columns
    the given one. weights: of a vote.
    """

    prevalence: tuple[float, ...] = ()
    matrices: Mapping[int, Sequence[Sequence[float]]] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, figures: Mapping[str, Any]) -> "Known":
        """From the figures of `annotation.quality.figures`, with the ids of its people."""
        if not figures.get("labels"):
            return cls()
        people = figures["people"]
        return cls(
            tuple(figures["model"]["prevalence"]),
            dict(zip(people, figures["model"]["matrices"], strict=True)),
            dict(zip(people, figures["model"]["weights"], strict=True)),
        )


def posterior(rule: str, said: Said, known: Known, grades: int) -> tuple[float, ...]:
    """How probable each grade is, worst first; the sum is 1.

    rule: one of WEIGHED. said: at least one label. grades: how many the scale has.
    """
    logs = (
        _by_matrices(said, known, grades)
        if rule == "dawid_skene"
        else _by_votes(said, known, grades)
    )
    most = max(logs)
    likely = [exp(value - most) for value in logs]
    total = sum(likely)
    return tuple(value / total for value in likely)


def grade_by(
    rule: str,
    annotators: Sequence[int],
    grades: Sequence[int],
    codes: tuple[int, ...],
    known: Known,
) -> tuple[int | None, tuple[float, ...]]:
    """The grade that labels come to by a rule, and how probable each is where it weighs them.

    annotators, grades: one entry a label, at least one. codes: the scale's, worst first.
    None: a tie.
    """
    if rule not in WEIGHED:
        return RULES[rule](grades, codes), ()
    said = [(who, codes.index(grade)) for who, grade in zip(annotators, grades, strict=True)]
    likely = posterior(rule, said, known, len(codes))
    step = most_probable(likely)
    return (None if step is None else codes[step]), likely


def most_probable(likely: Sequence[float]) -> int | None:
    """The step with the largest probability; None where several share it."""
    most = max(likely)
    winners = [step for step, value in enumerate(likely) if value >= most - EQUAL]
    return winners[0] if len(winners) == 1 else None


def _by_matrices(said: Said, known: Known, grades: int) -> list[float]:
    prevalence = known.prevalence or (1 / grades,) * grades
    logs = [log(max(share, SMALLEST)) for share in prevalence]
    for annotator, step in sorted(said):
        matrix = known.matrices.get(annotator) or _unknown(grades)
        for grade in range(grades):
            logs[grade] += log(max(matrix[grade][step], SMALLEST))
    return logs


def _by_votes(said: Said, known: Known, grades: int) -> list[float]:
    logs = [0.0] * grades
    right = RIGHT_BEFORE / (RIGHT_BEFORE + WRONG_BEFORE)
    unknown = max(0.0, log(right * (grades - 1) / (1 - right)))
    for annotator, step in sorted(said):
        logs[step] += known.weights.get(annotator, unknown)
    return logs


def _unknown(grades: int) -> list[list[float]]:
    """The matrix of an annotator without labels: the priors'."""
    total = PRIORS.right + PRIORS.wrong * (grades - 1)
    return [
        [(PRIORS.right if row == column else PRIORS.wrong) / total for column in range(grades)]
        for row in range(grades)
    ]


def rounded(likely: Iterable[float]) -> list[float]:
    """A posterior as it is kept beside a grade."""
    return [round(value, DIGITS) for value in likely]
