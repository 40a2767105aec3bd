"""Another rule for a campaign whose labels are there already."""

from datetime import datetime

from django.db import transaction

from annotation.models import Campaign, QualityReport
from annotation.permissions import check_may_run
from annotation.selectors.due import is_report_due
from annotation.services.consolidating import conclude_again, lock_list
from annotation.weighing import WEIGHED
from judgments.errors import DomainError
from judgments.permissions import Access
from judgments.services import audit


class RuleRefused(DomainError):
    """The campaign can't be concluded like this, or not yet."""


def choose_rule(*, access: Access, campaign: Campaign, rule: str, at: datetime) -> Campaign:
    """Conclude all that was said in a campaign by a rule; for leads.

    The same rule again weighs labels by what is known of the annotators by now. In a live
    campaign what comes out another than before is committed, in the others it waits for the
    approval. Decided pairs stay decided. Raises RuleRefused for a rule that does not exist, for
    a draft, whose plan is changed instead, and where the figures that labels are weighed by have
    not seen all of them.
    """
    check_may_run(access, campaign)
    if rule not in Campaign.Rule.values:
        raise RuleRefused("rule_unknown", "There is no such rule.")
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        changed = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if changed.state == Campaign.State.DRAFT:
            raise RuleRefused("campaign_draft", "A draft’s rule is changed with its plan.")
        if rule in WEIGHED:
            check_is_known(changed)
        before, changed.rule = changed.rule, rule
        changed.save(update_fields=["rule"])
        conclude_again(judgment_list=judgment_list, campaign=changed, at=at)
        audit.record_by(
            access,
            at,
            "campaign.rule_chosen",
            changed.name,
            before={"rule": before},
            after={"rule": rule},
        )
    return changed


def check_is_known(campaign: Campaign) -> None:
    """Whether the stored figures have seen every label, so that labels can be weighed by them."""
    report = QualityReport.objects.filter(campaign=campaign).first()
    if report is None or not report.seen or is_report_due(campaign, report):
        raise RuleRefused(
            "figures_behind",
            "The quality report has not seen every label yet. Open it, and come back in a moment.",
        )
