"""Asking a model about a pair: at its pace, with retries, and what became of every request."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from annotation.machine_judges.answers import (
    HOPELESS,
    Completion,
    Outcome,
    is_trouble,
    may_retry,
    outcome_of,
    read_completion,
)
from annotation.machine_judges.configuration import (
    MASKED,
    Configuration,
    Prompt,
    Prompter,
    tokens_of,
)
from annotation.machine_judges.services import JudgeRefused, origin_of
from annotation.models import MachineJudge
from judgments.outgoing.client import Client, OutgoingError
from judgments.outgoing.pacing import Pace, Reply, ask_at_pace
from judgments.outgoing.retrying import retry_after
from judgments.secrets.services import read_secret


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What became of one request. status: of the HTTP answer; None without one. seconds: until its
    end. prompt_tokens, completion_tokens: as counted by the endpoint, or estimated.
    body: of the answer.
    """

    outcome: Outcome
    grade: int | None = None
    status: int | None = None
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_estimated: bool = False
    detail: str = ""
    body: bytes = b""


class Endpoint:
    """A model as a revision describes it; threads share it.

    secret: the value of the configuration's secret header. stop: ends all waiting when it is set.
    """

    def __init__(
        self,
        *,
        client: Client,
        prompter: Prompter,
        secret: str,
        pace: Pace,
        stop: threading.Event,
    ) -> None:
        self._client = client
        self._prompter = prompter
        self._secret = secret
        self.pace = pace
        self._stop = stop

    @property
    def secret(self) -> str:
        return self._secret

    def ask(self, prompt: Prompt) -> tuple[list[Asked], bool]:
        """What became of each request, and whether no further one is of use: an answer, or no
        attempt left. False where it was stopped before that."""
        return ask_at_pace(
            pace=self.pace,
            stop=self._stop,
            attempts=self._prompter.configuration.attempts,
            send=lambda _: self._send(prompt),
        )

    def _send(self, prompt: Prompt) -> Reply[Asked]:
        own = self._prompter.configuration
        headers = [("Content-Type", "application/json"), ("Accept", "application/json")]
        if own.secret_header:
            headers.append((own.secret_header, self._secret))
        began = time.monotonic()
        try:
            answer = self._client.request("POST", own.url, headers=headers, body=prompt.body)
        except OutgoingError as error:
            asked, received = _failed(error, prompt, time.monotonic() - began)
            is_busy = asked.status in (429, 503)
            pause = retry_after(received, now=timezone.now()) if is_busy else None
            if asked.status in HOPELESS:
                self.pace.give_up(f"The endpoint answered with HTTP {asked.status}.")
        else:
            asked = read_answer(
                self._prompter, answer.body, answer.status, answer.seconds, size=len(prompt.body)
            )
            pause = None
        return Reply(
            asked,
            is_trouble=is_trouble(asked.outcome, asked.status),
            may_retry=may_retry(asked.outcome, asked.status),
            pause=pause,
        )


def read_answer(
    prompter: Prompter, body: bytes, status: int, seconds: float, *, size: int
) -> Asked:
    """What an answer says. size: bytes of the request."""
    result: Completion = read_completion(
        body, codes=prompter.codes, gives_reason=prompter.configuration.gives_reason
    )
    sent, came = result.prompt_tokens, result.completion_tokens
    return Asked(
        outcome=result.outcome,
        grade=result.grade,
        status=status,
        seconds=seconds,
        prompt_tokens=tokens_of(size) if sent is None else sent,
        completion_tokens=tokens_of(len(body)) if came is None else came,
        is_estimated=sent is None or came is None,
        detail=result.detail,
        body=body,
    )


def _failed(
    error: OutgoingError, prompt: Prompt, seconds: float
) -> tuple[Asked, Mapping[str, str]]:
    """What became of a request without an answer; one that timed out may have been paid for."""
    outcome = outcome_of(error.outcome)
    is_paid = outcome in (Outcome.TIMEOUT, Outcome.TOO_LARGE, Outcome.BAD_ANSWER)
    asked = Asked(
        outcome=outcome,
        status=error.answer.status if error.answer else None,
        seconds=seconds,
        prompt_tokens=tokens_of(len(prompt.body)) if is_paid else 0,
        is_estimated=is_paid,
        detail=error.detail,
        body=error.answer.body if error.answer else b"",
    )
    return asked, error.answer.headers if error.answer else {}


def masked(text: bytes, secret: str) -> bytes:
    """What an endpoint said, without the secret: also where it leaves out "Bearer"."""
    for part in filter(None, (secret, secret.rpartition(" ")[2])):
        text = text.replace(part.encode(), MASKED.encode())
    return text


def secret_of(judge: MachineJudge | None, configuration: Configuration) -> str:
    """The stored secret for the server of a revision; "" where it needs none.

    Raises ConfigurationRefused where the server may not be asked, SecretRefused, JudgeRefused.
    """
    origin = origin_of(configuration)
    if not configuration.secret_header:
        return ""
    if judge is None or judge.secret is None:
        raise JudgeRefused("no_secret", "There is no stored secret. Enter it again.")
    return read_secret(secret=judge.secret, origin=origin)


def open_endpoint(
    *,
    judge: MachineJudge | None,
    prompter: Prompter,
    client: Client,
    stop: threading.Event,
    secret: str = "",
) -> Endpoint:
    """The endpoint that a revision describes, with the stored secret unless one is given.

    Raises ConfigurationRefused where its server may not be asked, SecretRefused, JudgeRefused.
    """
    configuration = prompter.configuration
    if secret:
        origin_of(configuration)
    else:
        secret = secret_of(judge, configuration)
    pace = Pace(rate=configuration.rate, clock=time.monotonic)
    return Endpoint(client=client, prompter=prompter, secret=secret, pace=pace, stop=stop)
