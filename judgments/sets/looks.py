"""How often held-out numbers were looked at, and from when on that is a worry."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

WORRYING: Final = 10  # looks; the luckiest of ten equals is 1.5 standard errors ahead


@dataclass(frozen=True)
class Looks:
    """How often the numbers of a held-out set were looked at."""

    count: int

    @property
    def words(self) -> str:
        """That, beside a number."""
        return "looked at once" if self.count == 1 else f"looked at {self.count:,} times"

    @property
    def tone(self) -> str:
        """The colour of that."""
        return "warn" if self.is_worry else ""

    @property
    def is_worry(self) -> bool:
        return self.count >= WORRYING

    @property
    def warning(self) -> str:
        """Why it is a worry; "" while it is none."""
        if not self.is_worry:
            return ""
        return (
            f"It has been {self.words}. If each look compared a different variant and the best was "
            f"kept, chance alone puts it {luck_of_best(self.count):.1f} standard errors ahead of "
            "equally good ones. For the final evaluation, use a set that no run was tuned on."
        )


def luck_of_best(variants: int) -> float:
    """How far the best of equals is ahead, in standard errors: the largest of normal deviates.

    Returns 0 for one. Source: Blom 1958, normal order statistics; to 0.02 of the exact value.
    """
    return NormalDist().inv_cdf((variants - 0.375) / (variants + 0.25))
