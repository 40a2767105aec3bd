"""What a query counts as in a mean."""

from typing import NamedTuple


class Traits(NamedTuple):
    """What a query counts as, beside what it says."""

    segment: str
    weight: float
