"""Asking an engine one query: at its pace, with retries, and what became of it."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from evaluation.live_rankers.configuration import Configuration
from evaluation.live_rankers.mapping import BadAnswer, MappedAnswer, Row, map_answer, read_answer
from evaluation.live_rankers.outcomes import (
    Outcome,
    is_trouble,
    may_retry,
    outcome_of,
)
from evaluation.live_rankers.templates import TemplateRefused, Variables
from judgments.outgoing.client import OutgoingError, Sender
from judgments.outgoing.pacing import Pace, Reply, ask_at_pace
from judgments.outgoing.retrying import retry_after


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What became of a query. status: of the HTTP answer; None without one. seconds: of the last
    attempt. rows: of an answer that is whole. detail: what was wrong. body: of the answer.
    """

    outcome: Outcome
    status: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    rows: tuple[Row, ...] = ()
    detail: str = ""
    body: bytes = b""


class Engine:
    """A live ranker as a revision describes it; threads share it.

    secret: the value of the configuration's secret header. stop: ends all waiting when it is set.
    """

    def __init__(
        self,
        *,
        client: Sender,
        configuration: Configuration,
        secret: str,
        pace: Pace,
        stop: threading.Event,
    ) -> None:
        self._client = client
        self._configuration = configuration
        self._secret = secret
        self._pace = pace
        self._stop = stop

    def ask(self, variables: Variables) -> Asked | None:
        """Ask until there is an answer, or no attempt is left; None if stopped before that."""
        made, is_final = ask_at_pace(
            pace=self._pace,
            stop=self._stop,
            attempts=self._configuration.attempts,
            send=lambda attempt: self._send(variables, attempt),
        )
        return made[-1] if is_final else None

    def _send(self, variables: Variables, attempt: int) -> Reply[Asked]:
        asked, pause = self._attempt(variables, attempt)
        return Reply(
            asked,
            is_trouble=is_trouble(asked.outcome, asked.status),
            may_retry=may_retry(asked.outcome, asked.status),
            pause=pause,
        )

    def _attempt(self, variables: Variables, attempt: int) -> tuple[Asked, float | None]:
        """What came, and for how long the engine wants to be left alone."""
        try:
            request = self._configuration.request_for(variables)
        except TemplateRefused as error:
            return Asked(outcome=Outcome.REFUSED, attempts=attempt, detail=error.message), None
        headers = request.headers
        if self._configuration.secret_header:
            headers = (*headers, (self._configuration.secret_header, self._secret))
        began = time.monotonic()
        try:
            answer = self._client.request(
                request.method, request.url, headers=headers, body=request.body
            )
        except OutgoingError as error:
            status = error.answer.status if error.answer else None
            received: Mapping[str, str] = error.answer.headers if error.answer else {}
            asked = Asked(
                outcome=outcome_of(error.outcome),
                status=status,
                seconds=time.monotonic() - began,
                attempts=attempt,
                detail=error.detail,
                body=error.answer.body if error.answer else b"",
            )
            is_busy = status in (429, 503)
            return asked, retry_after(received, now=timezone.now()) if is_busy else None
        outcome, rows, detail = _read(answer.body, self._configuration)
        asked = Asked(
            outcome=outcome,
            status=answer.status,
            seconds=answer.seconds,
            attempts=attempt,
            rows=rows,
            detail=detail,
            body=answer.body,
        )
        return asked, None


def _read(body: bytes, configuration: Configuration) -> tuple[Outcome, tuple[Row, ...], str]:
    try:
        mapped: MappedAnswer = map_answer(
            read_answer(body), configuration.mapping, depth=configuration.depth
        )
    except BadAnswer as error:
        return Outcome.BAD_ANSWER, (), error.message
    if mapped.is_partial:
        detail = f"{len(mapped.rows)} results, but the engine says that they are not all."
        return Outcome.PARTIAL, (), detail
    return (Outcome.OK, mapped.rows, "") if mapped.rows else (Outcome.EMPTY, (), "")
