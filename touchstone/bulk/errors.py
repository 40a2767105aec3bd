"""What bulk evaluation refuses, and what it needs installed."""

from importlib.util import find_spec

from touchstone.errors import DomainError


class BulkRefused(DomainError):
    """The data or what is asked of it does not hold; the message names what, and where."""

    def __init__(self, message: str) -> None:
        super().__init__("bulk_refused", message)


class BulkUnreadable(BulkRefused):
    """A file could not be read, for a reason that may pass: it is not there, a store is away."""


def check_pyarrow() -> None:
    """Raises BulkRefused where pyarrow is missing, with the command that installs it."""
    if find_spec("pyarrow") is None:
        raise BulkRefused(
            "reading Parquet needs pyarrow: pip install 'touchstone-relevance[parquet]'"
        )
