"""Figures for Prometheus, read from the database at each request: the same from every process."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import annotation.due
import evaluation.evaluations.backlog
from config.readiness import count_messages
from judgments.audit.seals import find_unsealed_since
from judgments.jobs.queries import due_jobs, find_oldest_due_job
from judgments.jobs.worker_beats import list_beats
from judgments.messages.queries import count_outbox
from judgments.storage.caches import count_refused

PREFIX: Final = "touchstone_"
QUEUES: Final = ("refresh", "jobs")


@dataclass(frozen=True)
class Figure:
    """One metric. values: by the value of its label, or by "" where it has none."""

    name: str
    kind: str
    explanation: str
    values: Mapping[str, float]
    label: str = field(default="")


def gather(*, at: datetime) -> Iterator[Figure]:
    """Every figure as it is now."""
    labels = annotation.due.count_labels()
    yield Figure("labels_total", "counter", "Labels stored so far.", {"": labels})
    backlog = evaluation.evaluations.backlog.get_backlog(at=at)
    pairs, _ = annotation.due.count_due()
    jobs = due_jobs(at).count()
    due = {"labels": pairs, "evaluations": backlog.due, "jobs": jobs}
    yield Figure("due", "gauge", "Pending items, by kind.", due, "what")
    since = {
        "labels": annotation.due.find_oldest_due(),
        "evaluations": backlog.since,
        "jobs": find_oldest_due_job(at),
        "seals": find_unsealed_since(),
    }
    ages = {what: _age(first, at) for what, first in since.items()}
    explanation = "Age of the oldest pending item, by kind; 0 if none."
    yield Figure("oldest_due_seconds", "gauge", explanation, ages, "what")
    explanation = "Evaluations that failed too often and need attention."
    yield Figure("evaluations_given_up", "gauge", explanation, {"": backlog.given_up})
    messages = count_messages(QUEUES)
    yield Figure(
        "broker_up", "gauge", "Whether the broker is reachable.", {"": messages is not None}
    )
    explanation = "Wake-ups that no worker has received."
    yield Figure("queue_messages", "gauge", explanation, messages or {}, "queue")
    explanation = "Messages in the outbox: waiting to be sent, or failed for good."
    yield Figure("outbox_messages", "gauge", explanation, count_outbox(), "state")
    explanation = "Cached values that failed authentication and were recomputed."
    yield Figure("cache_values_refused_total", "counter", explanation, {"": count_refused()})
    explanation = "Time since each worker's last heartbeat."
    beats = dict(list_beats(at=at))
    yield Figure("worker_heartbeat_age_seconds", "gauge", explanation, beats, "worker")


def render(figures: Iterator[Figure]) -> str:
    """The text exposition format, version 0.0.4."""
    return "".join(f"{line}\n" for figure in figures for line in _lines(figure))


def _lines(figure: Figure) -> Iterator[str]:
    name = PREFIX + figure.name
    yield f"# HELP {name} {figure.explanation}"
    yield f"# TYPE {name} {figure.kind}"
    for key, value in figure.values.items():
        label = f'{{{figure.label}="{_escaped(key)}"}}' if figure.label else ""
        yield f"{name}{label} {float(value)!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _age(first: datetime | None, at: datetime) -> float:
    return max(0.0, (at - first).total_seconds()) if first else 0.0
