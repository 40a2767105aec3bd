"""Much to write on SQLite, which has one writer, while people label."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Final

from django.db import connection, transaction

SHORT: Final = 2_000  # rows of one transaction: 10 to 30 ms
LONGEST_PAUSE: Final = 0.1  # seconds


@contextmanager
def short_transaction() -> Iterator[None]:
    """One of many transactions in a row; inside another one, only a part of that.

    On SQLite, as long a pause follows. Writers of this process take turns (config/sqlite), but
    those of others ask again after 1 to 100 ms, and would hardly ever find that no one writes.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        began = perf_counter()
        yield
    if connection.vendor == "sqlite":
        sleep(min(perf_counter() - began, LONGEST_PAUSE))
