"""What a machine judge adds to a sample's estimates, as answers have it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from judgments.pages.answers import ON_PAGES
from touchstone.statistics.three_means import ThreeMeans


@dataclass(frozen=True)
class CorrectedRun:
    """A run's means by the sample's people, by the machine judge, and corrected.

    means: null while none is computed, and where they are refused: then the reason. version: of the
    list, that they are of. stale: the version, the machine's labels or the samples have changed
    since, and a worker computes them again.
    """

    run: str
    version: int | None
    stale: bool
    means: ThreeMeans | None
    refused: str
    label: str = field(metadata=ON_PAGES)


def has_short_interval(runs: Iterable[CorrectedRun]) -> bool:
    """Whether one of the shown intervals is too short to be relied on."""
    return any(one.means is not None and not one.means.is_reliable for one in runs)


@dataclass(frozen=True)
class Correction:
    """What a machine judge's newest revision with labels on the list adds.

    refused: why there is no correction of any run; else "".
    """

    judge: str
    revision: int
    refused: str
    runs: tuple[CorrectedRun, ...]
    judge_id: int = field(metadata=ON_PAGES)

    @property
    def shown(self) -> tuple[CorrectedRun, ...]:
        """The runs with means, best corrected mean first."""
        own = [one for one in self.runs if one.means]
        return tuple(sorted(own, key=lambda one: -one.means.corrected.value if one.means else 0))

    @property
    def left_out(self) -> tuple[CorrectedRun, ...]:
        """The runs without means for a reason of their own."""
        return tuple(one for one in self.runs if one.refused and not self.refused)

    @property
    def off(self) -> tuple[float, ...]:
        """Of means by the machine outside the corrected interval: their differences, sorted."""
        every = (one.means.machine_off for one in self.runs if one.means)
        return tuple(sorted(one for one in every if one))

    @property
    def computing(self) -> bool:
        """Whether a worker computes some of it."""
        return any(one.stale for one in self.runs)

    @property
    def unreliable(self) -> bool:
        """Whether a shown interval is too short to be relied on."""
        return has_short_interval(self.runs)
