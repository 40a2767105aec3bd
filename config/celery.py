"""The Celery application. Messages are wake-ups; the sweep makes losing one harmless."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("touchstone")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
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
