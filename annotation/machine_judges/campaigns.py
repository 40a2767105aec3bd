"""Machine judges at work: their campaigns begin and end."""

from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, QuerySet

from annotation.machine_judges.services import JudgeRefused, check_own
from annotation.models import Campaign, JudgeBatch, JudgeCampaign, MachineJudge, Pair
from annotation.permissions import check_may_run
from judgments.audit import services as audit
from judgments.jobs.sliced import end, end_abandoned, queue_slice
from judgments.models import Job, SampledQuery, SamplePlan, SavedSet, SavedSetQuery
from judgments.permissions import Access, NotFound, check_may_lead
from touchstone.scales import Scale

KIND: Final = "judge_pairs"


def pairs_in_scope(
    campaign: Campaign, *, saved_set: SavedSet | None = None, plan: SamplePlan | None = None
) -> QuerySet[Pair]:
    """The pairs of a campaign that can be shown, of a set's or a sample's queries alone."""
    own_qs = Pair.objects.filter(campaign=campaign, document__is_stub=False).exclude(query__text="")
    if saved_set is not None:
        members_qs = SavedSetQuery.objects.filter(saved_set=saved_set)
        own_qs = own_qs.filter(query__in=members_qs.values("query"))
    if plan is not None:
        drawn_qs = SampledQuery.objects.filter(plan=plan)
        own_qs = own_qs.filter(query__in=drawn_qs.values("query"))
    return own_qs


def start_judging(
    *,
    access: Access,
    judge: MachineJudge,
    campaign: Campaign,
    saved_set: SavedSet | None = None,
    plan: SamplePlan | None = None,
    at: datetime,
) -> JudgeCampaign:
    """Let a worker ask the judge's newest revision about a campaign's pairs; for leads.

    Pairs that have a label of this revision, on the same texts, are not asked again.
    Raises JudgeRefused while another campaign of the judge runs, for a list with other grades
    than the judge's guideline, and where there is no pair with texts.
    """
    check_may_lead(access)
    check_own(access, judge)
    check_may_run(access, campaign)
    own = access.collection.pk
    if (saved_set and saved_set.collection_id != own) or (
        plan and plan.list_id != campaign.list_id
    ):
        raise NotFound("set")
    revision = judge.revisions.select_related("guideline_revision").latest("number")
    codes = tuple(grade["code"] for grade in revision.guideline_revision.grades)
    if codes != Scale.from_json(campaign.list.scale).codes:
        raise JudgeRefused("other_scale", "The judge’s guideline has other grades than the list.")
    scope = pairs_in_scope(campaign, saved_set=saved_set, plan=plan)
    result = scope.aggregate(count=Count("pk"), last=Max("pk"))
    if not result["count"]:
        raise JudgeRefused("no_pairs", "No pair there has texts, so there is nothing to label.")
    end_abandoned(judge.campaigns.all(), at=at)
    _check_batches(judge, at=at)
    try:
        with transaction.atomic():
            started = JudgeCampaign.objects.create(
                judge=judge,
                revision=revision,
                campaign=campaign,
                saved_set=saved_set,
                plan=plan,
                pairs=result["count"],
                last_pair=result["last"],
                created_at=at,
                created_by=access.user,
            )
            queue_rest(started, at=at)
            audit.record_by(
                access,
                at,
                "judge.campaign_started",
                campaign.name,
                after={"judge": judge.name, "revision": revision.number, "pairs": result["count"]},
            )
    except IntegrityError as error:
        if not judge.campaigns.filter(state=JudgeCampaign.State.RUNNING).exists():
            raise
        message = "This machine judge is still at work."
        raise JudgeRefused("judge_running", message) from error
    return started


def _check_batches(judge: MachineJudge, *, at: datetime) -> None:
    """Raises JudgeRefused while a batch of an earlier campaign is under way: its pairs would be
    paid twice. A worker looks at it, also where the one that did has died."""
    open_qs = JudgeBatch.objects.filter(campaign__judge=judge, ended_at=None)
    left = open_qs.select_related("campaign__judge__collection", "campaign__job").first()
    if left is None or left.campaign.state == JudgeCampaign.State.RUNNING:
        return
    job = left.campaign.job
    if job is not None and job.state in (Job.State.DONE, Job.State.FAILED):
        with transaction.atomic():
            queue_rest(left.campaign, at=at)
    message = "A batch of an earlier campaign is still under way. Its answers are stored first."
    raise JudgeRefused("batch_open", message)


def queue_rest(own: JudgeCampaign, *, at: datetime, not_before: datetime | None = None) -> None:
    """Queue the job that asks about what is left. not_before: when it may begin."""
    queue_slice(
        own,
        collection=own.judge.collection,
        kind=KIND,
        params={"campaign": own.pk},
        units=own.pairs,
        at=at,
    )
    if not_before is not None and own.job is not None:
        Job.objects.filter(pk=own.job.pk).update(not_before=not_before)


def stop_judging(*, access: Access, own: JudgeCampaign, at: datetime) -> None:
    """Ask no more; what was answered stays. For leads."""
    check_may_lead(access)
    check_own(access, own.judge)
    with transaction.atomic():
        if not end(own, state=JudgeCampaign.State.STOPPED, problem="", at=at):
            raise JudgeRefused("campaign_ended", "This has ended already.")
        audit.record_by(access, at, "judge.campaign_stopped", own.campaign.name)
