"""How current figures are that a worker computes."""

from dataclasses import dataclass
from datetime import datetime

from judgments.models.kept import KeptFigures


@dataclass(frozen=True)
class Freshness:
    """How current the figures are.

    is_due: there is something that the figures have not seen. steps_done, steps: of a computation
    under way; steps_done is None where there is none.
    """

    computed_at: datetime | None
    is_due: bool
    steps_done: int | None
    steps: int
    problem: str

    @property
    def is_waiting(self) -> bool:
        """Whether a worker should hear of it."""
        return self.is_due and self.steps_done is None


def freshness_of(kept: KeptFigures | None, *, is_due: bool, steps: int) -> Freshness:
    """How current kept figures are; None for some that were never asked for."""
    is_working = kept is not None and kept.token is not None
    return Freshness(
        computed_at=kept.computed_at if kept else None,
        is_due=is_due,
        steps_done=kept.steps_done if kept and is_working else None,
        steps=steps,
        problem=kept.problem if kept else "",
    )
