"""Reading what a model answered: a label comes of an answer that keeps to the schema alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from touchstone.files.json_lines import Json, JsonRefusedError, json_object


class Outcome(StrEnum):
    """What became of a request. All but the first are failures, and give no label."""

    LABELLED = "labelled"
    DECLINED = "declined"
    TRUNCATED = "truncated"
    BAD_JSON = "bad_json"
    BAD_SCHEMA = "bad_schema"
    OFF_SCALE = "off_scale"
    BAD_ANSWER = "bad_answer"
    HTTP_ERROR = "http_error"
    TIMEOUT = "timeout"
    CONNECT = "connect"
    DNS = "dns"
    TLS = "tls"
    REFUSED = "refused"
    TOO_LARGE = "too_large"


WORDS: Final = {
    Outcome.LABELLED: "labelled",
    Outcome.DECLINED: "declined by the model",
    Outcome.TRUNCATED: "answer cut off",
    Outcome.BAD_JSON: "answer is not JSON",
    Outcome.BAD_SCHEMA: "answer breaks the schema",
    Outcome.OFF_SCALE: "grade not on the scale",
    Outcome.BAD_ANSWER: "not a chat completion",
    Outcome.HTTP_ERROR: "HTTP error",
    Outcome.TIMEOUT: "timed out",
    Outcome.CONNECT: "no connection",
    Outcome.DNS: "host name not resolved",
    Outcome.TLS: "TLS certificate not accepted",
    Outcome.REFUSED: "request not allowed",
    Outcome.TOO_LARGE: "response too large",
}
# names of judgments.outgoing.client.Outcome that have another name here
OTHERWISE: Final = {"status": Outcome.HTTP_ERROR, "malformed": Outcome.BAD_ANSWER}
RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})
HOPELESS: Final = frozenset({401, 403, 404})  # the next request would get the same


@dataclass(frozen=True, kw_only=True)
class Completion:
    """An answer. grade: of one that keeps to the schema. prompt_tokens, completion_tokens: as the
    endpoint counted; None where it did not. detail: what is wrong, or the reason for the grade.
    """

    outcome: Outcome
    grade: int | None = None
    detail: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def outcome_of(outgoing: str) -> Outcome:
    """The outcome of a request without an answer, by the client's name for it."""
    return OTHERWISE.get(outgoing) or Outcome(outgoing)


def may_retry(outcome: Outcome, status: int | None) -> bool:
    """Whether the same request may succeed a moment later.

    Never after a time-out, which may have been paid for, nor after an answer: the same model
    would give it again.
    """
    if outcome is Outcome.HTTP_ERROR:
        return status in RETRIED
    return outcome in (Outcome.CONNECT, Outcome.DNS)


def is_trouble(outcome: Outcome, status: int | None) -> bool:
    """Whether the next request will probably fail too."""
    if outcome is Outcome.HTTP_ERROR:
        return status is not None and (status == 429 or status >= 500)
    return outcome in (Outcome.CONNECT, Outcome.DNS, Outcome.TLS, Outcome.TIMEOUT)


def answer_schema(codes: Sequence[int], *, gives_reason: bool) -> dict[str, Any]:
    """The JSON schema of an answer; the reason comes first, so that the grade follows from it."""
    reason = {"reason": {"type": "string"}} if gives_reason else {}
    properties = {**reason, "grade": {"type": "integer", "enum": list(codes)}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_completion(body: bytes, *, codes: Sequence[int], gives_reason: bool) -> Completion:
    """What a chat completion says. codes: of the scale."""
    try:
        answer = json_object(body.decode())
    except (UnicodeDecodeError, JsonRefusedError) as error:
        return Completion(outcome=Outcome.BAD_ANSWER, detail=str(error))
    usage = answer.get("usage")
    counted = {
        name: _count(usage, name) if isinstance(usage, dict) else None
        for name in ("prompt_tokens", "completion_tokens")
    }
    outcome, grade, detail = _read_choice(answer, codes, gives_reason)
    return Completion(outcome=outcome, grade=grade, detail=detail, **counted)


def _count(usage: Mapping[str, Json], name: str) -> int | None:
    value = usage.get(name)
    return value if type(value) is int and 0 <= value < 2**31 else None


Read = tuple[Outcome, int | None, str]


def _read_choice(answer: Mapping[str, Json], codes: Sequence[int], gives_reason: bool) -> Read:
    match answer:
        case {"choices": [{"message": dict(message), **choice}, *_]}:
            pass
        case _:
            return Outcome.BAD_ANSWER, None, "no choices[0].message"
    refusal, finish = message.get("refusal"), choice.get("finish_reason")
    if refusal:
        return Outcome.DECLINED, None, str(refusal)
    if finish == "content_filter":
        return Outcome.DECLINED, None, "content filter"
    if finish == "length":
        return Outcome.TRUNCATED, None, "the limit of tokens was reached"
    content = message.get("content")
    if not isinstance(content, str):
        return Outcome.BAD_ANSWER, None, "no choices[0].message.content"
    return _read_content(content, codes, gives_reason)


def _read_content(content: str, codes: Sequence[int], gives_reason: bool) -> Read:
    try:
        said = json_object(content.strip())
    except JsonRefusedError as error:
        return Outcome.BAD_JSON, None, error.message
    wanted = {"grade", "reason"} if gives_reason else {"grade"}
    grade, reason = said.get("grade"), said.get("reason", "")
    if said.keys() != wanted or type(grade) is not int or not isinstance(reason, str):
        return Outcome.BAD_SCHEMA, None, f"wanted {', '.join(sorted(wanted))}"
    if grade not in codes:
        return Outcome.OFF_SCALE, None, f"grade {grade}"
    return Outcome.LABELLED, grade, reason
