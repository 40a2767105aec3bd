"""What became of a query that an engine was asked. Failed is never empty."""

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """What an engine's answer to a query was, or why there is none."""

    OK = "ok"
    EMPTY = "empty"
    PARTIAL = "partial"
    TIMEOUT = "timeout"
    CONNECT = "connect"
    DNS = "dns"
    TLS = "tls"
    REFUSED = "refused"
    HTTP_ERROR = "http_error"
    TOO_LARGE = "too_large"
    BAD_ANSWER = "bad_answer"


# all others are failures
ANSWERED: Final = frozenset({Outcome.OK, Outcome.EMPTY})
WORDS: Final = {
    Outcome.OK: "answered",
    Outcome.EMPTY: "answered, no results",
    Outcome.PARTIAL: "partial results",
    Outcome.TIMEOUT: "timed out",
    Outcome.CONNECT: "no connection",
    Outcome.DNS: "host name not resolved",
    Outcome.TLS: "TLS certificate not accepted",
    Outcome.REFUSED: "request not allowed",
    Outcome.HTTP_ERROR: "error response",
    Outcome.TOO_LARGE: "response too large",
    Outcome.BAD_ANSWER: "invalid response",
}
# names of judgments.outgoing.client.Outcome that have another name here
OTHERWISE: Final = {"status": Outcome.HTTP_ERROR, "malformed": Outcome.BAD_ANSWER}
BUSY: Final = frozenset({429, 502, 503, 504})


def outcome_of(outgoing: str) -> Outcome:
    """The outcome of a request that has no good answer, by the client's name for it."""
    return OTHERWISE.get(outgoing) or Outcome(outgoing)


def may_retry(outcome: Outcome, status: int | None) -> bool:
    """Whether the same request may succeed a moment later.

    Connections that were not made, and answers of a busy server; never a time-out, which may
    have been work for the engine.
    """
    if outcome is Outcome.HTTP_ERROR:
        return status in BUSY
    return outcome in (Outcome.CONNECT, Outcome.DNS)


def is_trouble(outcome: Outcome, status: int | None) -> bool:
    """Whether the next query will probably fail too: the engine is away, or asks for a pause."""
    if outcome is Outcome.HTTP_ERROR:
        return status is not None and (status == 429 or status >= 500)
    return outcome in (
        Outcome.CONNECT,
        Outcome.DNS,
        Outcome.TLS,
        Outcome.TIMEOUT,
    )
