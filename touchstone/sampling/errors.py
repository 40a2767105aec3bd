"""What sampling refuses."""

from touchstone.errors import DomainError


class SamplingError(DomainError):
    """A sample that can't be drawn, or an estimate that it does not allow."""

    def __init__(self, message: str) -> None:
        super().__init__("sampling", message)
