"""The Celery application. Messages are wake-ups; the sweep makes losing one harmless."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def make_app(*, is_current: bool = True) -> Celery:
    """A Celery application that knows every task.

    An application holds one choice of queues, so a second worker in the same process needs a
    second application.
    """
    made = Celery("touchstone", set_as_current=is_current)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.autodiscover_tasks()
    return made


app = make_app()
app.set_default()


@worker_ready.connect
def start_sweeping(**_: Any) -> None:
    """Every worker sweeps, from its start, so no other process need be alive."""
    from config.sweep import sweeper  # noqa: PLC0415  (needs the apps)

    sweeper.start()


@worker_shutting_down.connect
def stop_sweeping(**_: Any) -> None:
    """End the timer with the worker."""
    from config.sweep import sweeper  # noqa: PLC0415

    sweeper.stop()
