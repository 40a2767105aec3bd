"""What is wrong with a measure, or with asking for it here."""

from touchstone.errors import DomainError


class MeasureError(DomainError):
    """A measure that does not exist, contradicts itself, or cannot be computed from this input."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_measure", message)


class ZeroIdealError(MeasureError):
    """A query has no gain to win, and the measure was told to stop there (`empty='error'`).

    row: the row of the batch, so that the caller can name the query.
    """

    def __init__(self, measure: str, row: int) -> None:
        super().__init__(f"{measure} is not defined for a query whose ideal gain is 0")
        self.measure = measure
        self.row = row
