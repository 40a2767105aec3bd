"""What is asked about each pair of a campaign, and what is stored of the answers."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.machine_judges.answers import Outcome
from annotation.machine_judges.asking import Asked, masked
from annotation.machine_judges.campaigns import pairs_in_scope
from annotation.machine_judges.configuration import Prompt, Prompter
from annotation.machine_judges.shown import Pair, load_shown
from annotation.machine_judges.spending import RemainingBudget, Spent
from annotation.models import JudgeAttempt, JudgeCampaign, JudgeRevision, MachineLabel

LONGEST_DETAIL: Final = 500
AT_ONCE: Final = 500  # pairs whose texts are loaded together


@dataclass(frozen=True)
class Wanted:
    """A pair to ask about."""

    pair: Pair
    prompt: Prompt
    content_hash: str


Answered = tuple[list[Asked], bool]  # each request, and whether no further one is of use


class Part:
    """The pairs of one job: what is asked about each, and what is stored of the answers."""

    def __init__(self, own: JudgeCampaign, prompter: Prompter, remaining: RemainingBudget) -> None:
        self._own = own
        self._prompter = prompter
        self._remaining = remaining
        self.stored = own.attempts.filter(is_last=True).count()
        self.cached = 0

    def list_requests(self) -> Iterator[tuple[Wanted, Prompt]]:
        """What is to be asked; pairs whose answer is known get their label on the way."""
        left = list_unasked(self._own)
        for start in range(0, len(left), AT_ONCE):
            some = left[start : start + AT_ONCE]
            shown = load_shown(collection=self._own.judge.collection, pairs=some)
            wanted = [
                Wanted(pair, self._prompter.prompt(what), content_hash)
                for pair, (what, content_hash) in shown.items()
            ]
            for one in self._without_known(wanted):
                yield one, one.prompt

    def _without_known(self, wanted: Sequence[Wanted]) -> list[Wanted]:
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

    def store(self, came: list[tuple[Wanted, Answered]], secret: str) -> None:
        """Store some answers, and count what they cost."""
        at = timezone.now()
        rows: list[tuple[Wanted, JudgeAttempt]] = []
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
        self, wanted: Wanted, asked: Asked, *, is_last: bool, secret: str, at: datetime
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
    revision: JudgeRevision, labels: Sequence[tuple[Wanted, int, int]], at: datetime
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
