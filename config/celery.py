"""The Celery application. Messages are wake-ups; the sweep makes losing one harmless."""

import os
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from celery.signals import worker_ready, worker_shutting_down
from kombu import Connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Django's checks import every page, which took most of a worker's start; `check`, `migrate` and
# `serve` make them
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

LONGEST_WAIT = 2.0  # seconds between two attempts to reach a broker that is away


class PromptConnection(Connection):
    """Notices within seconds that the broker is back; kombu waits up to half a minute."""

    def create_transport(self) -> Any:
        """As kombu's, but what it holds of Redis outlives Redis."""
        made = super().create_transport()
        if made.driver_type == "redis":
            from config.broker import PatientChannel  # noqa: PLC0415  (not needed when embedded)

            made.Channel = PatientChannel  # type: ignore[attr-defined]  # the stubs know a base
        return made

    def ensure_connection(self, *args: Any, **options: Any) -> Any:
        """As kombu's, with shorter pauses."""
        return super().ensure_connection(*args, **{"interval_max": LONGEST_WAIT, **options})


class PromptAMQP(AMQP):
    """Makes such connections."""

    Connection = PromptConnection


class PromptCelery(Celery):
    """An application with such connections."""

    amqp_cls = "config.celery:PromptAMQP"


def make_app(*, is_current: bool = True) -> Celery:
    """A Celery application that knows every task.

    An application holds one choice of queues, so a second worker in the same process needs a
    second application.
    """
    made = PromptCelery("touchstone", set_as_current=is_current)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.autodiscover_tasks()
    return made


app = make_app()
app.set_default()


@worker_ready.connect
def start_sweeping(sender: Any = None, **_: Any) -> None:
    """Every worker sweeps, from its start, so no other process need be alive."""
    from config.sweep import sweeper  # noqa: PLC0415  (needs the apps)

    sweeper.start(getattr(sender, "hostname", ""))


@worker_shutting_down.connect
def stop_sweeping(**_: Any) -> None:
    """End the timer with the worker."""
    from config.sweep import sweeper  # noqa: PLC0415

    sweeper.stop()
