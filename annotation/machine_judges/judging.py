"""The long work: asking a model about all pairs, and storing each answer as it comes."""

import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.machine_judges.answers import Outcome
from annotation.machine_judges.asking import Asked, masked, open_endpoint
from annotation.machine_judges.campaigns import pairs_in_scope, queue_rest
from annotation.machine_judges.configuration import Configuration, Prompt, Prompter
from annotation.machine_judges.shown import Pair, load_shown
from annotation.machine_judges.spending import (
    USED_UP,
    RemainingBudget,
    Spent,
    get_remaining_budget,
    note_spent,
)
from annotation.models import JudgeAttempt, JudgeCampaign, JudgeRevision, MachineLabel
from judgments.jobs.kinds import Work
from judgments.jobs.sliced import end
from judgments.outgoing.client import Client, Limits
from judgments.outgoing.slices import Slice
from touchstone.errors import DomainError

LARGEST: Final = 1024 * 1024  # bytes of an answer
LONGEST_DETAIL: Final = 500
AT_ONCE: Final = 500  # pairs whose texts are loaded together


def judge_pairs(work: Work) -> None:
    """The job kind `judge_pairs`: for half a minute; what is left then is another job's.

    params: campaign. Each answer is stored as it comes, so that after a worker was killed only
    what was in flight is asked again.
    """
    own = JudgeCampaign.objects.select_related(
        "judge__collection", "judge__secret", "revision__guideline_revision", "campaign"
    ).get(pk=work.params["campaign"])
    state, problem = str(JudgeCampaign.State.FAILED), ""
    remaining = get_remaining_budget(own.judge, at=timezone.now())
    if own.state == JudgeCampaign.State.RUNNING:
        try:
            state, problem = _judge(own, work, remaining)
        except DomainError as refusal:
            problem = refusal.message
    now = timezone.now()
    with transaction.atomic():
        work.finish({"campaign": str(own.public_id)})
        note_spent(own.judge, at=now, added=remaining.added)
        _settle(own, state=state, problem=problem, at=now)


def prompter_of(revision: JudgeRevision) -> Prompter:
    """What makes the requests of a revision."""
    return Prompter(
        configuration=Configuration.from_json(revision.configuration),
        instructions=revision.instructions,
        salt=revision.salt,
        codes=[grade["code"] for grade in revision.guideline_revision.grades],
    )


@dataclass(frozen=True)
class _Wanted:
    """A pair to ask about."""

    pair: Pair
    prompt: Prompt
    content_hash: str


_Answered = tuple[list[Asked], bool]  # each request, and whether no further one is of use


class _Part:
    """The pairs of one job: what is asked about each, and what is stored of the answers."""

    def __init__(self, own: JudgeCampaign, prompter: Prompter, remaining: RemainingBudget) -> None:
        self._own = own
        self._prompter = prompter
        self._remaining = remaining
        self.stored = own.attempts.filter(is_last=True).count()
        self.cached = 0

    def list_requests(self) -> Iterator[tuple[_Wanted, Prompt]]:
        """What is to be asked; pairs whose answer is known get their label on the way."""
        left = list_unasked(self._own)
        for start in range(0, len(left), AT_ONCE):
            some = left[start : start + AT_ONCE]
            shown = load_shown(collection=self._own.judge.collection, pairs=some)
            wanted = [
                _Wanted(pair, self._prompter.prompt(what), content_hash)
                for pair, (what, content_hash) in shown.items()
            ]
            for one in self._without_known(wanted):
                yield one, one.prompt

    def _without_known(self, wanted: Sequence[_Wanted]) -> list[_Wanted]:
        digests = {one.prompt.digest for one in wanted}
        known_qs = MachineLabel.objects.filter(revision=self._own.revision, digest__in=digests)
        known = {one.digest: one for one in known_qs.order_by("-pk")}
        result = [one for one in wanted if one.prompt.digest in known]
        self.cached += len(result)
        labels = [(one, known[one.prompt.digest]) for one in result]
        _store_labels(
            self._own.revision,
            [(one, label.attempt_id, label.grade) for one, label in labels],
            timezone.now(),
        )
        return [one for one in wanted if one.prompt.digest not in known]

    def store(self, came: list[tuple[_Wanted, _Answered]], secret: str) -> None:
        """Store some answers, and count what they cost."""
        at = timezone.now()
        rows: list[tuple[_Wanted, JudgeAttempt]] = []
        for wanted, (made, is_final) in came:
            for position, asked in enumerate(made, start=1):
                is_last = is_final and position == len(made)
                attempt = self._attempt_of(wanted, asked, is_last=is_last, secret=secret, at=at)
                rows.append((wanted, attempt))
                self.stored += is_last
        attempts = [attempt for _, attempt in rows]
        with transaction.atomic():
            JudgeAttempt.objects.bulk_create(attempts)
            labels = [
                (wanted, attempt.pk, attempt.grade)
                for wanted, attempt in rows
                if attempt.grade is not None
            ]
            _store_labels(self._own.revision, labels, at)
        self._remaining.add(
            Spent(
                requests=len(attempts),
                tokens=sum(one.prompt_tokens + one.completion_tokens for one in attempts),
                cost=sum(one.cost for one in attempts),
            )
        )

    def _attempt_of(
        self, wanted: _Wanted, asked: Asked, *, is_last: bool, secret: str, at: datetime
    ) -> JudgeAttempt:
        body, detail = masked(asked.body, secret), masked(asked.detail.encode(), secret).decode()
        return JudgeAttempt(
            campaign=self._own,
            query_id=wanted.pair[0],
            document_id=wanted.pair[1],
            digest=wanted.prompt.digest,
            content_hash=wanted.content_hash,
            outcome=asked.outcome,
            grade=asked.grade if asked.outcome is Outcome.LABELLED else None,
            is_last=is_last,
            status=asked.status,
            seconds=asked.seconds,
            prompt_tokens=asked.prompt_tokens,
            completion_tokens=asked.completion_tokens,
            is_estimated=asked.is_estimated,
            cost=self._prompter.configuration.cost_of(
                prompt_tokens=asked.prompt_tokens, completion_tokens=asked.completion_tokens
            ),
            answer=zlib.compress(body) if body else b"",
            detail=detail.replace("\0", "")[:LONGEST_DETAIL],
            ended_at=at,
        )


def _store_labels(
    revision: JudgeRevision, labels: Sequence[tuple[_Wanted, int, int]], at: datetime
) -> None:
    """Labels of the attempts with these ids; those that are there already stay."""
    MachineLabel.objects.bulk_create(
        [
            MachineLabel(
                revision=revision,
                query_id=wanted.pair[0],
                document_id=wanted.pair[1],
                digest=wanted.prompt.digest,
                content_hash=wanted.content_hash,
                grade=grade,
                attempt_id=attempt,
                created_at=at,
            )
            for wanted, attempt, grade in labels
        ],
        ignore_conflicts=True,  # a worker that was taken for dead may have stored it too
    )


def list_unasked(own: JudgeCampaign) -> list[Pair]:
    """The pairs of the campaign that are still to be asked about, or looked up."""
    scope = pairs_in_scope(own.campaign, saved_set=own.saved_set, plan=own.plan)
    asked = set(own.attempts.filter(is_last=True).values_list("query", "document"))
    pairs_qs = scope.filter(pk__lte=own.last_pair).order_by("pk").values_list("query", "document")
    return [pair for pair in pairs_qs if pair not in asked]


def _judge(own: JudgeCampaign, work: Work, remaining: RemainingBudget) -> tuple[str, str]:
    """Ask what is left: the state to end in, and why; no reason where nothing speaks against
    going on."""
    prompter, stop = prompter_of(own.revision), threading.Event()
    configuration = prompter.configuration
    limits = Limits(seconds=configuration.timeout, size=LARGEST, connections=configuration.at_once)
    part = _Part(own, prompter, remaining)

    def store(came: list[tuple[_Wanted, _Answered]]) -> None:
        part.store(came, endpoint.secret)
        work.progress(part.stored + part.cached)
        if remaining.is_empty:
            requests.cancel()

    with Client(limits=limits) as client:
        endpoint = open_endpoint(judge=own.judge, prompter=prompter, client=client, stop=stop)
        pace = endpoint.pace
        requests = Slice(
            requests=part.list_requests(),
            ask=endpoint.ask,
            store=store,
            at_once=configuration.at_once,
            may_send=remaining.may_ask,
        )
        requests.run(pace=pace, stop=stop, goes_on=lambda: _is_running(own))
    JudgeCampaign.objects.filter(pk=own.pk).update(cached=part.cached)
    if pace.given_up:
        return JudgeCampaign.State.FAILED, pace.given_up
    is_left = len(list_unasked(own)) > part.cached
    return JudgeCampaign.State.STOPPED, USED_UP if is_left and not remaining.may_ask(0) else ""


def _is_running(own: JudgeCampaign) -> bool:
    return JudgeCampaign.objects.filter(pk=own.pk, state=JudgeCampaign.State.RUNNING).exists()


def _settle(own: JudgeCampaign, *, state: str, problem: str, at: datetime) -> None:
    """Go on in another job, or end. In a transaction."""
    locked = JudgeCampaign.objects.select_for_update(no_key=True).get(pk=own.pk)
    if locked.state != JudgeCampaign.State.RUNNING:
        return
    if problem:
        end(own, state=state, problem=problem, at=at)
    elif len(list_unasked(own)) > locked.cached:
        queue_rest(own, at=at)
    else:
        end(own, state=JudgeCampaign.State.DONE, problem="", at=at)
