"""Another rule or another plan for a campaign whose labels are there already."""

from collections.abc import Callable, Mapping
from copy import copy
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.services import CONCLUDED_BY, change_campaign, check_plan
from annotation.consolidation.aggregation import list_labelled
from annotation.consolidation.services import ConcludedAgain, conclude_again, lock_list
from annotation.consolidation.weighing import WEIGHED
from annotation.models import Campaign, QualityReport
from annotation.permissions import check_may_run
from annotation.quality.due import is_report_due
from annotation.rule_change.queries import find_concluding_job
from judgments.audit import services as audit
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.models import Collection, Job, User
from judgments.permissions import Access, get_access
from touchstone.errors import DomainError


class RuleRefused(DomainError):
    """The campaign can't be concluded like this, or not yet."""


def ask_for_rule(*, access: Access, campaign: Campaign, rule: str, at: datetime) -> Job:
    """Have a worker conclude all that was said in a campaign by a rule; for leads.

    Raises RuleRefused where `choose_rule` would, and while a worker is at it. Two who ask at the
    same moment are not told apart: the second job finds what the first one left, and changes
    nothing.
    """
    check_may_run(access, campaign)
    check_may_choose(campaign, rule)
    return _submit(access, campaign, "choose_rule", {"rule": rule}, retry="campaign-rule", at=at)


def ask_for_plan(
    *, access: Access, campaign: Campaign, changes: Mapping[str, Any], at: datetime
) -> Job | None:
    """Change a campaign's plan as `change_campaign` does; the job of a worker, if it takes one.

    It takes one where labels are concluded again. changes: as JSON can hold them, in that case.
    Raises CampaignRefused where the plan can't be like this, RuleRefused while a worker is at it.
    """
    check_may_run(access, campaign)
    new = {name: value for name, value in changes.items() if value != getattr(campaign, name)}
    if new.keys().isdisjoint(CONCLUDED_BY) or not list_labelled(campaign).exists():
        change_campaign(access=access, campaign=campaign, at=at, **changes)
        return None
    check_plan(access=access, campaign=copy(campaign), changes=new)
    params = {"changes": new}
    return _submit(access, campaign, "change_plan", params, retry="campaign-change", at=at)


def _submit(
    access: Access,
    campaign: Campaign,
    kind: str,
    params: Mapping[str, Any],
    *,
    retry: str,
    at: datetime,
) -> Job:
    if find_concluding_job(campaign) is not None:
        raise RuleRefused(
            "under_way", "Labels are already being re-aggregated. Try again when that is done."
        )
    retry_page = [retry, *_place(access, campaign)]
    return submit_job(
        access=access,
        kind=kind,
        file=None,
        params={"campaign": str(campaign.public_id), "retry_page": retry_page, **params},
        units=list_labelled(campaign).count(),
        at=at,
    )


def work_on_rule(work: Work) -> None:
    """The job kind `choose_rule`. params: campaign (its public id), rule. Its units are pairs."""
    access, campaign = _asked(work)
    with transaction.atomic():
        done = choose_rule(
            access=access,
            campaign=campaign,
            rule=str(work.params["rule"]),
            at=timezone.now(),
            report=work.progress,
        )
        work.finish(
            {
                "concluded_pairs": done.pairs,
                "changed_pairs": done.changed,
                "version": done.version.number if done.version else None,
                "next_page": ["campaign", *_place(access, campaign)],
            }
        )


def work_on_plan(work: Work) -> None:
    """The job kind `change_plan`. params: campaign, changes of its plan. Its units are pairs."""
    access, campaign = _asked(work)
    with transaction.atomic():
        change_campaign(
            access=access,
            campaign=campaign,
            at=timezone.now(),
            report=work.progress,
            **work.params["changes"],
        )
        work.finish({"next_page": ["campaign", *_place(access, campaign)]})


def _asked(work: Work) -> tuple[Access, Campaign]:
    collection = Collection.objects.get(pk=work.collection_id)
    campaigns_qs = Campaign.objects.select_related("list__collection", "guideline")
    campaign = campaigns_qs.get(list__collection=collection, public_id=work.params["campaign"])
    viewer = User.objects.get(pk=work.created_by_id or 0)
    return get_access(viewer=viewer, slug=collection.slug), campaign


def _place(access: Access, campaign: Campaign) -> tuple[str, str]:
    """What names the campaign in an address."""
    return access.collection.slug, str(campaign.public_id)


def choose_rule(
    *,
    access: Access,
    campaign: Campaign,
    rule: str,
    at: datetime,
    report: Callable[[int], None] = lambda _: None,
) -> ConcludedAgain:
    """Conclude all that was said in a campaign by a rule; for leads.

    The same rule again weighs labels by what is known of the annotators by now. In a live
    campaign what comes out another than before is committed, in the others it waits for the
    approval. Decided pairs stay decided. report: called with how many pairs have been loaded.
    Raises RuleRefused for a rule that does not exist, for a draft, whose plan is changed instead,
    and where the figures that labels are weighed by have not seen all of them.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        changed = Campaign.objects.select_for_update().get(pk=campaign.pk)
        check_may_choose(changed, rule)
        before, changed.rule = changed.rule, rule
        changed.save(update_fields=["rule"])
        done = conclude_again(judgment_list=judgment_list, campaign=changed, at=at, report=report)
        audit.record_by(
            access,
            at,
            "campaign.rule_chosen",
            changed.name,
            before={"rule": before},
            after={"rule": rule},
        )
    return done


def check_may_choose(campaign: Campaign, rule: str) -> None:
    """Whether the campaign's labels can be concluded by the rule as things stand."""
    if rule not in Campaign.Rule.values:
        raise RuleRefused("rule_unknown", "Unknown rule.")
    if campaign.state == Campaign.State.DRAFT:
        raise RuleRefused("campaign_draft", "The campaign is a draft. Change the rule in its plan.")
    if rule in WEIGHED:
        check_is_known(campaign)


def check_is_known(campaign: Campaign) -> None:
    """Whether the stored figures have seen every label, so that labels can be weighed by them."""
    report = QualityReport.objects.filter(campaign=campaign).first()
    if report is None or not report.seen or is_report_due(campaign, report):
        raise RuleRefused(
            "figures_behind",
            "The quality report has not seen every label yet. Open it, and come back in a moment.",
        )
