"""SQLite with a first-in-first-out queue before its one writer.

SQLite lets a single connection write and makes the others retry after random
sleeps, so under load the unlucky wait for seconds. All our writers are threads
of one process: a fair lock taken before BEGIN IMMEDIATE gives each its turn.
Other processes (a command run beside the server) still meet SQLite's own lock
and its timeout.
"""

import threading
from collections import defaultdict, deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError


class FairLock:
    """A lock granted strictly in the order in which it was asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._held = False

    def acquire(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the turn; False if it did not come."""
        with self._guard:
            if not self._held and not self._waiting:
                self._held = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._guard:
            if turn.is_set():  # it came between the time-out and here
                return True
            self._waiting.remove(turn)
            return False

    def release(self) -> None:
        """Pass the lock to the longest waiter, or free it."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._held = False


_locks: dict[str, FairLock] = defaultdict(FairLock)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's SQLite backend, its transactions queued fairly within the process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: FairLock | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, to a file that only its owner can read: it holds passwords' hashes.

        SQLite gives the files that it makes beside it the same mode.
        """
        name = str(conn_params["database"])
        if not (name.startswith("file:") or name == ":memory:"):
            with suppress(FileExistsError, FileNotFoundError):
                Path(name).touch(mode=0o600, exist_ok=False)
        return super().get_new_connection(conn_params)

    def _start_transaction_under_autocommit(self) -> None:
        self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._end_turn()  # not after a failed commit: a rollback follows it

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _take_turn(self) -> None:
        lock = _locks[str(self.settings_dict["NAME"])]
        timeout = float(self.settings_dict["OPTIONS"].get("timeout", 5.0))
        if not lock.acquire(timeout):
            raise OperationalError("database is locked")
        self._turn = lock

    def _end_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.release()
