"""What comparisons come to in words, for pages and REST."""

from typing import Final

from evaluation.comparison.queries import Difference
from evaluation.runs.selection import RunMean
from touchstone.statistics.sentences import verdict

UNLIKE: Final = 0.1  # a larger gap between two runs' shares of judged documents is told


def verdict_of(one: Difference) -> str:
    """One or two sentences about a run against the baseline."""
    return verdict(one, p_value=one.p_corrected, baseline=one.baseline.label, other=one.run.label)


def judging_warning(baseline: RunMean, other: RunMean) -> str:
    """Why the difference of two runs may be about judging; "" where they are judged alike."""
    first, second = baseline.judged, other.judged
    if first is None or second is None or abs(first - second) <= UNLIKE:
        return ""
    less, more = (baseline, other) if first < second else (other, baseline)
    return (
        f"{less.label} has {100 * min(first, second):.0f} % judged documents, {more.label} "
        f"{100 * max(first, second):.0f} %. Unjudged documents count as not relevant, so this "
        "difference may be about judging, not about ranking."
    )
