"""Asking a model in batches: reserved, uploaded, made, waited for, and stored in one transaction.

Each step is stored before the next begins. The file's id comes before the batch is made, so a
worker that takes over first looks for a batch of that file: at most one batch is paid twice, and
only where the endpoint does not list its batches.
"""

import json
import secrets
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from django.db import transaction

from annotation.machine_judges.answers import HOPELESS, Outcome, may_retry
from annotation.machine_judges.asking import Asked, read_answer, secret_of
from annotation.machine_judges.batch_files import (
    BatchStatus,
    ResultLine,
    base_of,
    list_lines,
    read_batch,
    read_batches,
    read_id,
    read_results,
    request_line,
    upload_form,
)
from annotation.machine_judges.configuration import Prompt, Prompter, tokens_of
from annotation.machine_judges.spending import USED_UP, RemainingBudget, Spent
from annotation.machine_judges.storing import Part, Wanted
from annotation.models import JudgeBatch, JudgeCampaign, MachineJudge
from judgments.outgoing.client import Client, Limits, OutgoingError
from touchstone.errors import DomainError

MOST_REQUESTS: Final = 5_000
MOST_BYTES: Final = 32 * 1024 * 1024  # of a file of requests
LARGEST: Final = 128 * 1024 * 1024  # bytes of a file of answers
WINDOW: Final = "24h"
LONGEST_WAIT: Final = timedelta(hours=30)  # after which a batch that has not ended is given up
FIRST_POLL: Final = 5.0  # seconds
LAST_POLL: Final = 600.0
MOST_FAILURES: Final = 30  # in a row, of requests about a batch
LONGEST_EXCHANGE: Final = 120.0  # seconds for an upload or a file of answers
NOT_FOUND: Final = 404
USUAL_TOKENS: Final = 1_000  # of an answer, where the parameters do not limit them


@dataclass(frozen=True)
class Step:
    """The result of a look at a campaign's batch.

    problem: why the campaign ends, and state: how; both empty while it goes on. next_at: when to
    look again; None where nothing is waited for.
    """

    state: str = ""
    problem: str = ""
    next_at: datetime | None = None


class BatchEndpoint:
    """Files and batches of an endpoint, through the guarded client.

    Raises OutgoingError, BatchRefused for answers that are none, and what `secret_of` does.
    """

    def __init__(self, *, client: Client, prompter: Prompter, judge: MachineJudge) -> None:
        self._client = client
        self._base = base_of(prompter.configuration.url)
        self._header = prompter.configuration.secret_header
        self._secret_of = partial(secret_of, judge, prompter.configuration)

    @property
    def secret(self) -> str:
        """The value of the secret header."""
        return self._secret_of()

    def upload(self, content: bytes, *, name: str) -> str:
        """The id of the uploaded file."""
        boundary = secrets.token_hex(16)
        body = upload_form(content, name=name, boundary=boundary)
        return read_id(
            self._send("POST", "files", f"multipart/form-data; boundary={boundary}", body)
        )

    def create(self, file_id: str) -> BatchStatus:
        """Make a batch of an uploaded file."""
        asked = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": WINDOW,
        }
        return read_batch(
            self._send("POST", "batches", "application/json", json.dumps(asked).encode())
        )

    def find(self, file_id: str) -> BatchStatus | None:
        """The batch that was made of a file, among the newest; None where none is listed."""
        try:
            listed = read_batches(self._send("GET", "batches?limit=100"))
        except OutgoingError as error:
            if error.answer is not None and error.answer.status in (404, 405, 501):
                return None  # it lists none
            raise
        return next((one for one in listed if one.input == file_id), None)

    def get(self, batch_id: str) -> BatchStatus:
        """A batch as it is now."""
        return read_batch(self._send("GET", f"batches/{quote(batch_id, safe='')}"))

    def cancel(self, batch_id: str) -> None:
        """Ask for its end; what was answered is kept."""
        self._send("POST", f"batches/{quote(batch_id, safe='')}/cancel")

    def content(self, file_id: str) -> bytes:
        """A file of answers or errors."""
        return self._send("GET", f"files/{quote(file_id, safe='')}/content")

    def _send(self, method: str, path: str, kind: str = "", body: bytes | None = None) -> bytes:
        secret = self.secret
        headers = [("Accept", "application/json")]
        headers += [(self._header, secret)] if self._header else []
        headers += [("Content-Type", kind)] if kind else []
        url = f"{self._base}/{path}"
        return self._client.request(method, url, headers=headers, body=body).body


class BatchWork:
    """The batches of a campaign: one job's look at them."""

    def __init__(
        self,
        *,
        own: JudgeCampaign,
        part: Part,
        prompter: Prompter,
        endpoint: BatchEndpoint,
        remaining: RemainingBudget,
    ) -> None:
        self._own = own
        self._part = part
        self._prompter = prompter
        self._endpoint = endpoint
        self._remaining = remaining

    def look(self, *, at: datetime) -> Step:
        """Send a batch, wait for it, or store its results. at: now."""
        batch, failures = open_batch(self._own), 0
        is_running = self._own.state == JudgeCampaign.State.RUNNING
        if batch is not None and not batch.file_id:
            # its file never came: nothing was asked
            close(batch, problem=batch.problem or "never sent", at=at)
            failures = batch.failures
            batch = None
        if batch is None and not is_running:
            return Step()
        try:
            if batch is None:
                return self._begin(at, failures)
            if not batch.batch_id:
                return self._make(batch, at, is_known=False)
            return self._follow(batch, at, is_running=is_running)
        except OutgoingError as error:
            status = error.answer.status if error.answer else None
            return self._after_failure(error.detail, status=status, at=at)
        except DomainError as error:
            return self._after_failure(error.message, status=None, at=at)

    def _begin(self, at: datetime, failures: int) -> Step:
        """Reserve, upload and make the next batch. failures: of uploads before, in a row."""
        wanted, content, reserved = self._choose()
        if not wanted:
            return Step() if reserved is None else Step(JudgeCampaign.State.STOPPED, USED_UP)
        assert reserved is not None
        batch = JudgeBatch.objects.create(
            campaign=self._own,
            pairs=pack(wanted),
            requests=len(wanted),
            reserved_tokens=reserved.tokens,
            reserved_cost=reserved.cost,
            failures=failures,
            polls=failures,
            next_at=at,
            created_at=at,
        )
        file_id = self._endpoint.upload(content, name=f"touchstone-{batch.public_id}.jsonl")
        _note(batch, file_id=file_id)
        return self._make(batch, at, is_known=True)

    def _choose(self) -> tuple[list[Wanted], bytes, Spent | None]:
        """The next pairs, their file, and what they may cost; no pairs and no cost where none is
        left, no pairs and a cost where the budgets leave nothing."""
        wanted: list[Wanted] = []
        lines: list[bytes] = []
        size, reserved = 0, Spent()
        for one, prompt in self._part.list_requests():
            line = request_line(len(wanted), prompt.body)
            more = reserved.plus(self._most_of(prompt))
            if not self._remaining.fits(more):
                return wanted, b"".join(lines), reserved
            if len(wanted) >= MOST_REQUESTS or size + len(line) > MOST_BYTES:
                break
            wanted.append(one)
            lines.append(line)
            size, reserved = size + len(line), more
        return wanted, b"".join(lines), reserved if wanted else None

    def _most_of(self, prompt: Prompt) -> Spent:
        own = self._prompter.configuration
        limits = [own.parameters.get(name) for name in ("max_completion_tokens", "max_tokens")]
        most = next((one for one in limits if type(one) is int and one > 0), USUAL_TOKENS)
        sent = tokens_of(len(prompt.body))
        cost = own.cost_of(prompt_tokens=sent, completion_tokens=most)
        return Spent(1, sent + most, cost)

    def _make(self, batch: JudgeBatch, at: datetime, *, is_known: bool) -> Step:
        """Make the batch of an uploaded file. is_known: that there is none of it yet."""
        status = None if is_known else self._endpoint.find(batch.file_id)
        if status is None:
            if self._own.state != JudgeCampaign.State.RUNNING:
                close(batch, problem="stopped before it was sent", at=at)
                return Step()
            status = self._endpoint.create(batch.file_id)
        _note(batch, batch_id=status.id, status=status.status, sent_at=at, failures=0)
        return self._wait(batch, at)

    def _follow(self, batch: JudgeBatch, at: datetime, *, is_running: bool) -> Step:
        status = self._endpoint.get(batch.batch_id)
        _note(batch, status=status.status, failures=0)
        if status.is_ended:
            return self._collect(batch, status, at)
        if batch.sent_at is not None and at - batch.sent_at > LONGEST_WAIT:
            return self._collect(batch, status, at)
        if not is_running and not batch.is_cancelled:
            self._endpoint.cancel(batch.batch_id)
            _note(batch, is_cancelled=True)
        return self._wait(batch, at)

    def _wait(self, batch: JudgeBatch, at: datetime) -> Step:
        seconds = min(LAST_POLL, FIRST_POLL * 2.0 ** min(batch.polls, 10))
        _note(batch, polls=batch.polls + 1, next_at=at + timedelta(seconds=seconds))
        return Step(next_at=batch.next_at)

    def _after_failure(self, words: str, *, status: int | None, at: datetime) -> Step:
        """Look again later; or end, where that can't help.

        A batch that was made is paid for: a secret that is refused can be entered again meanwhile.
        """
        batch = open_batch(self._own)
        if batch is None:
            return Step(JudgeCampaign.State.FAILED, words)
        _note(batch, failures=batch.failures + 1, problem=words[:500])
        is_final = status == NOT_FOUND if batch.batch_id else status in HOPELESS
        if is_final or batch.failures >= MOST_FAILURES:
            if batch.batch_id:  # it may have been paid for
                lost = Asked(outcome=Outcome.TIMEOUT, detail=f"results can’t be read: {words}")
                self._store(batch, dict.fromkeys(range(batch.requests), lost), at=at)
            else:
                close(batch, problem=words, at=at)
            return Step(JudgeCampaign.State.FAILED, f"The batch endpoint failed: {words}.")
        return self._wait(batch, at)

    def _collect(self, batch: JudgeBatch, status: BatchStatus, at: datetime) -> Step:
        """Store the batch's results, all at once."""
        results: dict[int, Asked] = {}
        ignored = 0
        seconds = (at - (batch.sent_at or batch.created_at)).total_seconds()
        sizes = read_sizes(batch)
        for file_id in (status.output, status.errors):
            if not file_id:
                continue
            content = self._endpoint.content(file_id)
            lines = 0
            for line in read_results(content, requests=batch.requests):
                lines += 1
                if line.position in results:
                    ignored += 1  # the first line of a request counts
                    continue
                results[line.position] = self._asked_of(line, seconds, sizes[line.position])
            ignored += sum(1 for _ in list_lines(content)) - lines
        words = f"{ignored:,} lines of its files were ignored" if ignored else ""
        if status.status == "failed" and not results:
            problem = status.problem or "no reason given"
            close(batch, problem=problem, at=at)
            return Step(JudgeCampaign.State.FAILED, f"The batch was refused: {problem}.")
        missing = Asked(
            outcome=Outcome.TIMEOUT,
            detail=f"no line in the files of the batch, which is {status.status}",
            seconds=seconds,
        )
        whole = {place: results.get(place, missing) for place in range(batch.requests)}
        self._store(batch, whole, at=at, problem=words)
        return Step()

    def _asked_of(self, line: ResultLine, seconds: float, size: int) -> Asked:
        if line.error or line.body is None or line.status is None:
            is_late = line.error.startswith("batch_expired")
            return Asked(
                outcome=Outcome.TIMEOUT if is_late else Outcome.BAD_ANSWER,
                status=line.status,
                seconds=seconds,
                detail=line.error or "no response in the line",
            )
        body = json.dumps(line.body, ensure_ascii=False).encode()
        if not 200 <= line.status < 300:
            return Asked(
                outcome=Outcome.HTTP_ERROR,
                status=line.status,
                seconds=seconds,
                detail=f"status {line.status}",
                body=body,
            )
        return read_answer(self._prompter, body, line.status, seconds, size=size)

    def _find_secret(self) -> str:
        """To mask it in what is stored; "" where it was removed meanwhile."""
        try:
            return self._endpoint.secret
        except DomainError:
            return ""

    def _store(
        self, batch: JudgeBatch, results: dict[int, Asked], *, at: datetime, problem: str = ""
    ) -> None:
        wanted = unpack(batch)
        pairs = self._own.attempts.values_list("query", "document")
        before = Counter(pairs.filter(query__in={one.pair[0] for one in wanted}))
        most = self._prompter.configuration.attempts
        secret = self._find_secret()
        came = []
        for place, one in enumerate(wanted):
            asked = results[place]
            is_late = asked.outcome is Outcome.TIMEOUT
            may = is_late or may_retry(asked.outcome, asked.status)
            came.append((one, ([asked], not may or before[one.pair] + 1 >= most)))
        with transaction.atomic():
            if close(batch, problem=problem, at=at):
                self._part.store(came, secret)


def look_at_batches(
    own: JudgeCampaign, prompter: Prompter, remaining: RemainingBudget, *, at: datetime
) -> Step:
    """Send a batch of a campaign, wait for it, or store its results. at: now.

    Of a campaign that was stopped, the batch under way is cancelled and its answers are stored.
    """
    seconds = max(prompter.configuration.timeout, LONGEST_EXCHANGE)
    part = Part(own, prompter, remaining)
    with Client(limits=Limits(seconds=seconds, size=LARGEST, connections=1)) as client:
        endpoint = BatchEndpoint(client=client, prompter=prompter, judge=own.judge)
        work = BatchWork(
            own=own, part=part, prompter=prompter, endpoint=endpoint, remaining=remaining
        )
        step = work.look(at=at)
    if step == Step():
        JudgeCampaign.objects.filter(pk=own.pk).update(cached=part.cached)
    return step


def open_batch(own: JudgeCampaign) -> JudgeBatch | None:
    """The batch of a campaign that has not ended."""
    return own.batches.filter(ended_at=None).first()


def close(batch: JudgeBatch, *, problem: str, at: datetime) -> bool:
    """End a batch, and with it what it reserves; False if it has ended already."""
    own_qs = JudgeBatch.objects.filter(pk=batch.pk, ended_at=None)
    return bool(own_qs.update(ended_at=at, problem=problem[:500]))


def _note(batch: JudgeBatch, **values: object) -> None:
    for name, value in values.items():
        setattr(batch, name, value)
    batch.save(update_fields=list(values))


def pack(wanted: Sequence[Wanted]) -> bytes:
    """The pairs of a batch, in the order of its lines, with the sizes of their requests."""
    rows = [
        [*one.pair, one.prompt.digest, one.content_hash, len(one.prompt.body)] for one in wanted
    ]
    return zlib.compress(json.dumps(rows).encode())


def unpack(batch: JudgeBatch) -> list[Wanted]:
    """What `pack` was given; without the requests' bodies."""
    return [
        Wanted((query, document), Prompt(b"", digest), content_hash)
        for query, document, digest, content_hash, _ in _rows_of(batch)
    ]


def read_sizes(batch: JudgeBatch) -> list[int]:
    """Bytes of each request."""
    return [row[-1] for row in _rows_of(batch)]


def _rows_of(batch: JudgeBatch) -> list[list[Any]]:
    rows: list[list[Any]] = json.loads(zlib.decompress(bytes(batch.pairs)))
    return rows
