"""Another rule for a campaign whose labels are there already."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, QualityReport
from annotation.permissions import check_may_run
from annotation.selectors.choices import find_rule_job
from annotation.selectors.conclusions import list_said
from annotation.selectors.due import is_report_due
from annotation.services.consolidating import ConcludedAgain, conclude_again, lock_list
from annotation.weighing import WEIGHED
from judgments.errors import DomainError
from judgments.jobs import Work
from judgments.models import Collection, Job, User
from judgments.permissions import Access, get_access
from judgments.services import audit
from judgments.services.jobs import submit_job


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
    if find_rule_job(campaign) is not None:
        raise RuleRefused("under_way", "The labels are being concluded by a rule just now.")
    address = [access.collection.slug, campaign.public_id]
    params = {
        "campaign": str(campaign.public_id),
        "rule": rule,
        "retry_url": reverse("campaign-rule", args=address),
    }
    return submit_job(
        access=access,
        kind="choose_rule",
        file=None,
        params=params,
        units=list_said(campaign).count(),
        at=at,
    )


def work_on_rule(work: Work) -> None:
    """The job kind `choose_rule`. params: campaign (its public id), rule. Its units are pairs."""
    collection = Collection.objects.get(pk=work.collection_id)
    campaigns_qs = Campaign.objects.select_related("list__collection", "guideline")
    campaign = campaigns_qs.get(list__collection=collection, public_id=work.params["campaign"])
    viewer = User.objects.get(pk=work.created_by_id or 0)
    with transaction.atomic():
        done = choose_rule(
            access=get_access(viewer=viewer, slug=collection.slug),
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
                "next_url": reverse("campaign", args=[collection.slug, campaign.public_id]),
            }
        )


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
    approval. Decided pairs stay decided. report: called with how many pairs are heard.
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
        raise RuleRefused("rule_unknown", "There is no such rule.")
    if campaign.state == Campaign.State.DRAFT:
        raise RuleRefused("campaign_draft", "A draft’s rule is changed with its plan.")
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
