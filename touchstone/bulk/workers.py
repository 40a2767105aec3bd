"""Tasks in separate processes, or in this one; one that fails ends them all."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeVar

import pyarrow as pa

from touchstone.bulk.errors import BulkRefused

Progress = Callable[[str, int, int], object]  # what is counted, how many are done, of how many
T = TypeVar("T")


@dataclass(frozen=True)
class Workers:
    """pool: None: tasks are done in this process, one after the other."""

    pool: ProcessPoolExecutor | None
    progress: Progress

    def results(self, what: str, tasks: Sequence[Callable[[], T]]) -> Iterator[T]:
        """What the tasks return, in the order in which they end. what: names them to `progress`.

        Raises what a task raises, and BulkRefused where a process was killed.
        """
        self.progress(what, 0, len(tasks))
        done = (task() for task in tasks) if self.pool is None else self._pooled(self.pool, tasks)
        for number, result in enumerate(done, 1):
            self.progress(what, number, len(tasks))
            yield result

    def _pooled(self, pool: ProcessPoolExecutor, tasks: Sequence[Callable[[], T]]) -> Iterator[T]:
        try:
            for future in as_completed([pool.submit(task) for task in tasks]):
                yield future.result()
        except BrokenProcessPool:
            raise BulkRefused(
                "a worker process was killed, possibly because memory ran out: try fewer --workers"
            ) from None


@contextmanager
def workers(number: int, progress: Progress) -> Iterator[Workers]:
    """So many processes; 1: none but this. At the end, however it comes, none of them is left."""
    if number == 1:
        yield Workers(None, progress)
        return
    # a fork would copy pyarrow's threads in whatever state they are
    pool = ProcessPoolExecutor(number, get_context("spawn"), initializer=_prepare)
    try:
        yield Workers(pool, progress)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def cores() -> int:
    """How many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _prepare() -> None:
    # Ctrl-C reaches the whole group; the process that started this one ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
