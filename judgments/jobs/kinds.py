"""The kinds of long work, and who does them: each app registers its own in `ready()`."""

from collections.abc import Callable
from typing import Any, BinaryIO, Protocol


class Work(Protocol):
    """One turn at a job, as its handler sees it.

    collection_id, created_by_id, params, file_name: of the job.
    """

    @property
    def job_id(self) -> int: ...
    @property
    def collection_id(self) -> int: ...
    @property
    def created_by_id(self) -> int | None: ...
    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def file_name(self) -> str: ...

    def open(self) -> BinaryIO:
        """The uploaded file, from its beginning."""

    def progress(self, done: int) -> None:
        """So many bytes of the file have been read, or units been done; cheap, call it often."""

    def finish(self, result: dict[str, Any]) -> None:
        """Mark the job done inside the handler's own transaction, with counts for the page.

        Raises JobLost, and so undoes the transaction, if another worker has taken the job over.
        """


# Reads outside a transaction, writes inside one, and ends that one with `work.finish(…)`. A
# refusal (DomainError) ends the job, but not one for now (NotNow): that and anything else is tried
# again. May run twice.
Handler = Callable[[Work], None]

_handlers: dict[str, Handler] = {}
_heavy: set[str] = set()


def register(kind: str, handler: Handler, *, heavy: bool = False) -> None:
    """Let `handler` do the jobs of this kind; the same again changes nothing.

    heavy: it computes for long. Workers then run it in a process of its own with low priority.
    """
    if _handlers.get(kind, handler) != handler:
        raise ValueError(f"two handlers for jobs of kind {kind!r}")
    _handlers[kind] = handler
    if heavy:
        _heavy.add(kind)


def is_heavy(kind: str) -> bool:
    """Whether jobs of a kind get a process of their own."""
    return kind in _heavy


def get_handler(kind: str) -> Handler:
    """The handler of a kind. Raises KeyError if no one registered one."""
    return _handlers[kind]


def list_kinds() -> list[str]:
    """Every registered kind, in order."""
    return sorted(_handlers)
