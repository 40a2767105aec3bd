"""The long work: asking a model about all pairs, and storing each answer as it comes."""

import threading
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.machine_judges.asking import open_endpoint
from annotation.machine_judges.batches import look_at_batches
from annotation.machine_judges.campaigns import queue_rest
from annotation.machine_judges.configuration import Configuration, Prompter
from annotation.machine_judges.spending import (
    USED_UP,
    RemainingBudget,
    get_remaining_budget,
    note_spent,
)
from annotation.machine_judges.storing import Answered, Part, Wanted, list_unasked
from annotation.models import JudgeCampaign, JudgeRevision
from judgments.jobs.kinds import Work
from judgments.jobs.sliced import end
from judgments.outgoing.client import Client, Limits
from judgments.outgoing.slices import Slice
from touchstone.errors import DomainError

LARGEST: Final = 1024 * 1024  # bytes of an answer


def judge_pairs(work: Work) -> None:
    """The job kind `judge_pairs`: for half a minute; what is left then is another job's.

    params: campaign. Each answer is stored as it comes, so that after a worker was killed only
    what was in flight is asked again.
    """
    own = JudgeCampaign.objects.select_related(
        "judge__collection", "judge__secret", "revision__guideline_revision", "campaign"
    ).get(pk=work.params["campaign"])
    state, problem, next_at = str(JudgeCampaign.State.FAILED), "", None
    remaining = get_remaining_budget(own.judge, at=timezone.now())
    prompter = prompter_of(own.revision)
    if prompter.configuration.batches:
        step = look_at_batches(own, prompter, remaining, at=timezone.now())
        state, problem, next_at = step.state, step.problem, step.next_at
    elif own.state == JudgeCampaign.State.RUNNING:
        try:
            state, problem = _judge(own, prompter, work, remaining)
        except DomainError as refusal:
            problem = refusal.message
    now = timezone.now()
    with transaction.atomic():
        work.finish({"campaign": str(own.public_id)})
        note_spent(own.judge, at=now, added=remaining.added)
        if next_at is not None:
            queue_rest(own, at=now, not_before=next_at)
        else:
            _settle(own, state=state, problem=problem, at=now)


def prompter_of(revision: JudgeRevision) -> Prompter:
    """What makes the requests of a revision."""
    return Prompter(
        configuration=Configuration.from_json(revision.configuration),
        instructions=revision.instructions,
        salt=revision.salt,
        codes=[grade["code"] for grade in revision.guideline_revision.grades],
    )


def _judge(
    own: JudgeCampaign, prompter: Prompter, work: Work, remaining: RemainingBudget
) -> tuple[str, str]:
    """Ask what is left: the state to end in, and why; no reason where nothing speaks against
    going on."""
    stop = threading.Event()
    configuration = prompter.configuration
    limits = Limits(seconds=configuration.timeout, size=LARGEST, connections=configuration.at_once)
    part = Part(own, prompter, remaining)

    def store(came: list[tuple[Wanted, Answered]]) -> None:
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
