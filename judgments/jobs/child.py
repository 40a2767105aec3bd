"""The process of one heavy job: `python -m judgments.jobs.child JOB TOKEN`, which workers start."""

import os
import signal
import sys
import threading
from typing import Final
from uuid import UUID

import django

NICENESS: Final = 15


def main() -> None:
    """Do the job with low priority, and end when the process that started this one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # sent to both; that one decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    django.setup()
    os.nice(NICENESS)  # not before: on a busy machine it would take minutes to start
    from judgments.jobs.services import work_claimed  # noqa: PLC0415  (needs the apps)

    work_claimed(int(sys.argv[1]), UUID(sys.argv[2]))


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing is sent: it returns at the end of the input
    os._exit(1)


if __name__ == "__main__":
    main()
