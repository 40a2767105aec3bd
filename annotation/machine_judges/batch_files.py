"""The files and objects of an OpenAI-compatible batch endpoint: written and read, purely.

A batch is a file of requests, one a line, that is uploaded (POST /files), made a batch of (POST
/batches) and answered in two files: of answers, and of errors.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.errors import DomainError
from touchstone.files.json_lines import Json, JsonRefusedError, json_object

CHAT: Final = "/chat/completions"
ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
LONGEST: Final = 200  # characters of an id
LONGEST_WORDS: Final = 300
# JSON of empty lists takes some twenty times its size in memory
LARGEST_OBJECT: Final = 4 * 1024 * 1024  # bytes of a file, a batch or a list of batches
LONGEST_LINE: Final = 1024 * 1024  # bytes of the answer to a request


class BatchRefused(DomainError):
    """What the endpoint answered is no file or batch."""


@dataclass(frozen=True)
class BatchStatus:
    """A batch as the endpoint says. output, errors: ids of its files; "" without one.

    problem: why the whole batch failed, in the endpoint's words.
    """

    id: str
    status: str
    input: str
    output: str
    errors: str
    problem: str

    @property
    def is_ended(self) -> bool:
        return self.status in ENDED


@dataclass(frozen=True)
class ResultLine:
    """What became of a request. position: its number in the batch. status: of the HTTP answer, and
    body: it, if there was one. error: the endpoint's code and words, else "".
    """

    position: int
    status: int | None
    body: Mapping[str, Json] | None
    error: str


def base_of(url: str) -> str:
    """What the URLs of files and batches begin with; "" for one that does not end as it must."""
    return url.removesuffix(CHAT) if url.endswith(CHAT) else ""


def request_line(position: int, body: bytes) -> bytes:
    """The line of a request. body: JSON in one line."""
    head = f'{{"custom_id": "pair-{position}", "method": "POST", "url": "/v1{CHAT}", "body": '
    return head.encode() + body + b"}\n"


def upload_form(content: bytes, *, name: str, boundary: str) -> bytes:
    """The multipart form that uploads a file of requests."""
    parts = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n',
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n',
        "Content-Type: application/jsonl\r\n\r\n",
    )
    return "".join(parts).encode() + content + f"\r\n--{boundary}--\r\n".encode()


def read_id(body: bytes) -> str:
    """The id of an uploaded file. Raises BatchRefused."""
    return _id_of(_object(body), "id", is_needed=True)


def read_batch(body: bytes) -> BatchStatus:
    """A batch. Raises BatchRefused for what is none."""
    return _batch_of(_object(body))


def read_batches(body: bytes) -> list[BatchStatus]:
    """The batches of a list; those that can't be read are left out. Raises BatchRefused."""
    data = _object(body).get("data")
    if not isinstance(data, list):
        raise BatchRefused("no_list", "The endpoint’s answer is no list of batches.")
    return [_batch_of(one) for one in data if isinstance(one, dict) and one.get("id")]


def read_results(content: bytes, *, requests: int) -> Iterator[ResultLine]:
    """The lines of a file of answers or errors that name one of its requests; others are left out,
    and lines of more than a megabyte.

    requests: how many the batch has.
    """
    for line in list_lines(content):
        if len(line) > LONGEST_LINE:
            continue
        try:
            result = json_object(line.decode())
        except (UnicodeDecodeError, JsonRefusedError):
            continue
        position = _position(result.get("custom_id"), requests)
        if position is not None:
            yield _line_of(position, result)


def list_lines(content: bytes) -> Iterator[bytes]:
    """The lines of a file that are not blank, one at a time: their list could fill the memory."""
    return (line for line in io.BytesIO(content) if line.strip())


def _line_of(position: int, result: Mapping[str, Json]) -> ResultLine:
    response, error = result.get("response"), result.get("error")
    words = ""
    if isinstance(error, dict):
        words = ": ".join(str(error[key]) for key in ("code", "message") if error.get(key))
        words = words or "unknown error"
    status, body = None, None
    if isinstance(response, dict):
        code, answer = response.get("status_code"), response.get("body")
        status = code if type(code) is int and 100 <= code <= 599 else None
        body = answer if isinstance(answer, dict) else None
    return ResultLine(position, status, body, words[:LONGEST_WORDS])


def _position(custom_id: Json, requests: int) -> int | None:
    if not isinstance(custom_id, str) or not custom_id.startswith("pair-"):
        return None
    digits = custom_id.removeprefix("pair-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        return None
    position = int(digits)
    return position if position < requests and digits == str(position) else None


def _object(body: bytes) -> Mapping[str, Json]:
    if len(body) > LARGEST_OBJECT:
        raise BatchRefused("too_large", "The endpoint’s answer is larger than 4 MiB.")
    try:
        return json_object(body.decode())
    except (UnicodeDecodeError, JsonRefusedError) as error:
        raise BatchRefused(
            "not_json", f"The endpoint’s answer is no JSON object: {error}"
        ) from error


def _batch_of(said: Mapping[str, Json]) -> BatchStatus:
    status = said.get("status")
    if not isinstance(status, str):
        raise BatchRefused("no_batch", "The endpoint’s answer is no batch.")
    return BatchStatus(
        id=_id_of(said, "id", is_needed=True),
        status=status[:32],
        input=_id_of(said, "input_file_id"),
        output=_id_of(said, "output_file_id"),
        errors=_id_of(said, "error_file_id"),
        problem=_problem_of(said.get("errors")),
    )


def _problem_of(errors: Json) -> str:
    match errors:
        case {"data": [{"message": str(message)}, *_]}:
            return message[:LONGEST_WORDS]
    return ""


def _id_of(said: Mapping[str, Json], name: str, *, is_needed: bool = False) -> str:
    value = said.get(name)
    if (
        isinstance(value, str)
        and 0 < len(value) <= LONGEST
        and value.isprintable()
        and value not in {".", ".."}  # it becomes a part of a path
    ):
        return value
    if is_needed:
        raise BatchRefused("no_id", f"The endpoint’s answer has no {name}.")
    return ""
