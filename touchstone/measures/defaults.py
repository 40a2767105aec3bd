"""Which measures a new leaderboard keeps current, and which cutoff suits which use."""

from dataclasses import dataclass
from typing import Final

from touchstone.measures.definition import Measure
from touchstone.measures.grammar import parse_measure


@dataclass(frozen=True)
class CutoffUse:
    """A cutoff, where it fits, and why."""

    cutoffs: str
    use: str
    why: str


# nDCG at what a phone, a page and two pages show, because grades are graded; once with the gain
# that web search uses, since the two gains can name different winners. RR, P and Hit for those who
# have one answer, count good ones, or ask whether there was any. AP and R to depth 100 for rankers
# that feed another. Judged at every cutoff used: no value can be trusted beyond it.
DEFAULT_MEASURES: Final[tuple[Measure, ...]] = tuple(
    parse_measure(name)
    for name in (
        "nDCG@10",
        "nDCG@5",
        "nDCG@20",
        "nDCG(gain='exp2')@10",
        "RR@10",
        "AP@100",
        "P@5",
        "P@10",
        "Hit@10",
        "R@100",
        "Judged@5",
        "Judged@10",
        "Judged@20",
        "Judged@100",
    )
)

CUTOFF_USES: Final[tuple[CutoffUse, ...]] = (
    CutoffUse("1", "voice answers, “I'm feeling lucky”", "only the first result is returned"),
    CutoffUse("3 to 5", "phones, autocomplete", "as many as are visible without scrolling"),
    CutoffUse("10", "a desktop results page", "few users open the second page"),
    CutoffUse("20", "a product grid", "several rows are visible at once"),
    CutoffUse("number of visible items", "carousels", "users rarely look beyond the edge"),
    CutoffUse(
        "number of documents passed on",
        "first-stage retrieval for a re-ranker or a language model",
        "the order matters little: use R@k",
    ),
)


def judged_beside(measure: Measure) -> Measure:
    """The share of judged documents in every query that a run answers, in this measure's order."""
    return Measure(
        family="Judged",
        cutoff=measure.cutoff,
        ties=measure.ties,
        scores=measure.scores,
        queries="all",
    )
