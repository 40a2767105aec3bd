"""The page on which a lead says who labels which queries."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.assignment import services
from annotation.assignment.forms import RuleForm
from annotation.assignment.queries import get_assignment_page, list_assignable, list_segments
from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.pages.rendering import render_page
from annotation.permissions import check_may_run
from judgments.pages.rendering import posted


@never_cache
@require_http_methods(["GET", "POST"])
def assignment(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The rules, and the queries that too few people may label; a POST adds a rule."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = RuleForm(
        posted(request), people=list_assignable(campaign), segments=list_segments(campaign)
    )
    if request.method == "POST":
        check_may_run(access, campaign)
        if form.is_valid():
            try:
                services.add_rule(
                    access=access, campaign=campaign, at=timezone.now(), **form.values()
                )
            except services.AssignmentRefused as error:
                form.add_error(None, error.message)
            else:
                messages.success(request, "Rule added.")
                return redirect("campaign-assignment", slug, campaign_id)
    page = get_assignment_page(access=access, campaign=campaign)
    return render_page(request, "assignment", page, access=access, form=form)


@require_POST
def assignment_remove(
    request: HttpRequest, slug: str, campaign_id: UUID, rule_id: int
) -> HttpResponse:
    """Remove a rule."""
    access, campaign = led_campaign(request, slug, campaign_id)
    services.remove_rule(access=access, campaign=campaign, rule_id=rule_id, at=timezone.now())
    messages.success(request, "Rule removed.")
    return redirect("campaign-assignment", slug, campaign_id)
