"""Everything in one process: the web server's threads and, beside them, real Celery workers.

One worker for refreshes and one for long jobs, so that an import delays no leaderboard. They
speak over Celery's in-memory broker, which is gone with the process; the sweep then finds what
was left due.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from celery.worker import WorkController
from celery.worker.state import active_requests
from gunicorn.app.base import BaseApplication

from config.celery import make_app
from config.sweep import sweeper
from judgments.stopping import process_ends

QUEUES = ("refresh", "jobs")
POLL = 0.02  # seconds


class EmbeddedWorkers:
    """Two Celery workers and the sweep, in threads of this process."""

    def __init__(self) -> None:
        self._workers: list[WorkController] = []

    def start(self) -> None:
        """Start the threads and return at once."""
        for queue in QUEUES:
            worker = WorkController(
                app=make_app(is_current=False),
                hostname=f"{queue}@embedded",
                queues=[queue],
                pool="solo",
                concurrency=1,
                loglevel="WARNING",
                without_heartbeat=True,
                without_mingle=True,
                without_gossip=True,
            )
            threading.Thread(target=worker.start, name=f"worker-{queue}", daemon=True).start()
            self._workers.append(worker)
        sweeper.start()

    def stop(self, timeout: float = 10.0) -> None:
        """Let current tasks finish, for at most `timeout` seconds.

        What asks other servers for half a minute stops within a second. Threads without a task are
        not waited for: they look every two seconds only whether to end.
        """
        process_ends.set()
        sweeper.stop()
        for worker in self._workers:
            worker.stop(in_sighandler=True)
        until = time.monotonic() + timeout
        while active_requests and time.monotonic() < until:
            time.sleep(POLL)


class EmbeddedServer(BaseApplication):  # type: ignore[misc]
    """gunicorn with one process of many threads; SQLite wants a single serving process."""

    def __init__(self, *, host: str, port: int, on_ready: Callable[[], None]) -> None:
        self._address = f"{host}:{port}"
        self._on_ready = on_ready
        super().__init__()

    def load_config(self) -> None:
        """gunicorn's hook for its settings."""
        workers = EmbeddedWorkers()

        def started(worker: Any) -> None:
            workers.start()
            self._on_ready()

        def ended(server: Any, worker: Any) -> None:
            workers.stop()

        settings = {
            "bind": self._address,
            "workers": 1,
            "worker_class": "config.serving.BufferingWorker",
            "threads": 24,
            "timeout": 120,
            "graceful_timeout": 15,
            "loglevel": "warning",
            "control_socket_disable": True,
            "post_worker_init": started,
            "worker_exit": ended,
        }
        for name, value in settings.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        """gunicorn's hook for the application, in the serving process."""
        from config.wsgi import application  # noqa: PLC0415

        return application
