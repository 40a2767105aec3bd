"""What may exist once only: a name, a short name, an open pair."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from touchstone.errors import DomainError


@contextmanager
def unless_taken(refusal: DomainError) -> Iterator[None]:
    """A transaction that is refused where it breaks a constraint: someone else was first."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise refusal from error


def check_name(
    name: str, check: Callable[[str], None], *, refused: type[DomainError], code: str
) -> None:
    """Raise `refused`, with the words of a field's check, for a name that does not pass it."""
    try:
        check(name)
    except ValidationError as error:
        raise refused(code, error.messages[0]) from error
