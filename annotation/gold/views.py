"""Gold: a campaign's list of it, marking and retiring it, and how much is planted."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.campaigns.queries import get_pair
from annotation.gold import services
from annotation.gold.actions import change_rules, list_rules, undo_action
from annotation.gold.forms import CheckPlanForm, GoldForm, ReasonForm, RulesForm
from annotation.gold.queries import (
    get_check_action,
    get_check_plan,
    get_gold_item,
    get_gold_page,
)
from annotation.pages.rendering import render_page
from judgments.pages.rendering import posted
from judgments.permissions import check_may_lead, get_access
from touchstone.scales import Scale


@never_cache
@require_http_methods(["GET", "POST"])
def gold(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The gold of a campaign; a POST changes how much of it is planted."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    plan = get_check_plan(campaign)
    form = CheckPlanForm(posted(request), initial=plan.__dict__)
    if request.method == "POST":
        check_may_lead(access)
        if form.is_valid():
            services.change_checks(
                access=access, campaign=campaign, at=timezone.now(), **form.cleaned_data
            )
            messages.success(request, "Shares changed. They apply from the next pairs on.")
            return redirect("campaign-gold", slug, campaign_id)
    page = get_gold_page(
        access=access,
        campaign=campaign,
        page=request.GET.get("page", ""),
        shows_retired=request.GET.get("show") == "retired",
    )
    return render_page(
        request,
        "gold",
        page,
        access=access,
        form=form,
        rules=RulesForm(rules=list_rules(campaign)),
        take=ReasonForm(),
    )


@require_POST
def rules(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Change the actions on low accuracy."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = RulesForm(request.POST)
    if form.is_valid():
        change_rules(access=access, campaign=campaign, rules=form.rules(), at=timezone.now())
        messages.success(request, "Rules changed and applied to all checks so far.")
    else:
        clash = [str(error) for error in form.non_field_errors()]
        needs = "A rule needs 1 to 100 percent and 3 to 20 checks."
        messages.error(request, clash[0] if clash else needs)
    return redirect("campaign-gold", slug, campaign_id)


@require_POST
def action_undo(request: HttpRequest, slug: str, action_id: int) -> HttpResponse:
    """Undo an action of a rule."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    action = get_check_action(access=access, action_id=action_id)
    try:
        undo_action(access=access, action=action, at=timezone.now())
    except services.GoldRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Undone.")
    back = request.POST.get("back") == "aside"
    return redirect("campaign-aside" if back else "campaign-gold", slug, action.campaign.public_id)


@require_POST
def gold_take(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Make gold of the decided pairs whose labels agree."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The reason is too long.")
        return redirect("campaign-gold", slug, campaign_id)
    try:
        taken = services.take_agreed_decisions(
            access=access, campaign=campaign, at=timezone.now(), **form.cleaned_data
        )
    except services.GoldRefused as error:
        messages.error(request, error.message)
    else:
        made = len(taken)
        messages.success(request, f"{made} {'pair is' if made == 1 else 'pairs are'} now gold.")
    return redirect("campaign-gold", slug, campaign_id)


@require_POST
def pair_gold(request: HttpRequest, slug: str, pair_id: int) -> HttpResponse:
    """Make a pair gold."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    pair = get_pair(access=access, pair_id=pair_id)
    form = GoldForm(request.POST, scale=Scale.from_json(pair.list.scale))
    if not form.is_valid():
        messages.error(request, "Choose the grades that are right for this pair.")
        return redirect("pair", slug, pair_id)
    said = form.cleaned_data
    try:
        services.mark_gold(
            access=access,
            pair=pair,
            low=said["low"],
            high=said["high"],
            reason=said["gold_reason"],
            at=timezone.now(),
        )
    except services.GoldRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(
            request, "The pair is now gold and will be planted at the campaign’s share."
        )
    return redirect("pair", slug, pair_id)


@require_POST
def gold_retire(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    """Plant a pair no longer."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    item = get_gold_item(access=access, item_id=item_id)
    try:
        services.retire_gold(access=access, item=item, at=timezone.now())
    except services.GoldRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "This pair is no longer gold. It is labelled like any other.")
    return redirect("campaign-gold", slug, item.campaign.public_id)
