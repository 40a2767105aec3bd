"""Another rule for a campaign: what it would change, and choosing it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.campaigns.finding import led_campaign
from annotation.campaigns.forms import RuleForm
from annotation.pages.rendering import render_page
from annotation.rule_change.queries import get_rule_freshness, get_rule_page
from annotation.rule_change.services import ask_for_rule
from judgments.pages.rendering import render_freshness
from judgments.waking import publish
from touchstone.errors import DomainError


@never_cache
@require_http_methods(["GET", "POST"])
def campaign_rule(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """A preview of a rule, by a worker; a POST has the labels concluded by it."""
    access, campaign = led_campaign(request, slug, campaign_id)
    if request.method == "POST":
        rule = request.POST.get("rule", "")
        try:
            job = ask_for_rule(access=access, campaign=campaign, rule=rule, at=timezone.now())
        except DomainError as error:
            messages.error(request, error.message)
            return redirect("campaign-rule", slug, campaign_id)
        return redirect("job", slug, job.public_id)
    rule = request.GET.get("rule", campaign.rule)
    page = get_rule_page(access=access, campaign=campaign, rule=rule)
    if page.freshness.is_waiting:
        publish("annotation.preview_rule", campaign.pk, page.rule)
    form = RuleForm(initial={"rule": page.rule})
    return render_page(request, "campaign_rule", page, access=access, form=form)


@never_cache
@require_safe
def campaign_rule_state(
    request: HttpRequest, slug: str, campaign_id: UUID, rule: str
) -> HttpResponse:
    """The part that shows the progress of a preview; a worker that missed it is woken again."""
    access, campaign = led_campaign(request, slug, campaign_id)
    freshness = get_rule_freshness(access=access, campaign=campaign, rule=rule)
    if freshness.is_waiting and freshness.computed_at is None:
        publish("annotation.preview_rule", campaign.pk, rule)
    return render_freshness(request, freshness, what="preview")
