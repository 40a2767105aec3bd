"""Gold: a campaign's list of it, marking and retiring it, and how much is planted."""

import secrets
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.campaigns.queries import get_pair
from annotation.gold import services
from annotation.gold.actions import change_rules, list_rules, undo_action
from annotation.gold.adding import add_gold_file, draw_gold_of_list, list_gold
from annotation.gold.files import gold_csv, read_gold
from annotation.gold.forms import (
    CheckPlanForm,
    GoldFileForm,
    GoldForm,
    GoldListForm,
    ReasonForm,
    RulesForm,
)
from annotation.gold.queries import (
    get_check_action,
    get_check_plan,
    get_gold_item,
    get_gold_page,
)
from annotation.guidelines.queries import list_lists
from annotation.pages.rendering import render_page
from judgments.pages.downloads import stream_text
from judgments.pages.rendering import posted, sent
from judgments.permissions import check_may_lead, get_access
from judgments.rest.uploads import takes_file
from touchstone.files.errors import FileRefused
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
            messages.success(request, "Settings saved. They apply to pairs assigned from now on.")
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


@takes_file
@never_cache
@require_http_methods(["GET", "POST"])
def gold_add(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Add gold from a file, or from another list; a POST with a `count` is for a list."""
    access, campaign = led_campaign(request, slug, campaign_id)
    lists = [one for one in list_lists(access=access) if one.pk != campaign.list_id]
    of_list = "count" in request.POST
    file_form = GoldFileForm(*(() if of_list else sent(request)))
    list_form = GoldListForm(request.POST if of_list else None, lists=lists)
    try:
        if list_form.is_valid():
            drawn = draw_gold_of_list(
                access=access,
                campaign=campaign,
                source=list_form.cleaned_data["judgment_list"],
                count=list_form.cleaned_data["count"],
                seed=secrets.randbits(62),
                at=timezone.now(),
            )
            messages.success(request, _now_gold(len(drawn)))
            return redirect("campaign-gold", slug, campaign_id)
        if file_form.is_valid():
            file = file_form.cleaned_data["file"]
            added = add_gold_file(
                access=access,
                campaign=campaign,
                given=read_gold(file, name=file.name, scale=Scale.from_json(campaign.list.scale)),
                adds_pairs=file_form.cleaned_data["adds_pairs"],
                at=timezone.now(),
            )
            unchanged = f" Already gold: {added.unchanged:,}." if added.unchanged else ""
            messages.success(request, _now_gold(added.gold) + unchanged)
            return redirect("campaign-gold", slug, campaign_id)
    except FileRefused as refused:
        file_form.refuse(refused)
    except services.GoldRefused as refused:
        (list_form if of_list else file_form).add_error(None, refused.message)
    return render_page(
        request, "gold_add", campaign, access=access, file_form=file_form, list_form=list_form
    )


@never_cache
@require_safe
def gold_file(request: HttpRequest, slug: str, campaign_id: UUID) -> StreamingHttpResponse:
    """The gold in use as CSV."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    lines = gold_csv(list_gold(access=access, campaign=campaign))
    name = f"gold-{slugify(campaign.name) or 'campaign'}.csv"
    return stream_text(lines, media_type="text/csv", file_name=name)


@require_POST
def rules(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Change the actions on low accuracy."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = RulesForm(request.POST)
    if form.is_valid():
        change_rules(access=access, campaign=campaign, rules=form.rules(), at=timezone.now())
        messages.success(request, "Rules saved and applied to all checks so far.")
    else:
        clash = [str(error) for error in form.non_field_errors()]
        needs = "A rule needs a threshold of 1 to 100 percent and 3 to 20 checks."
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
        messages.success(request, _now_gold(len(taken)))
    return redirect("campaign-gold", slug, campaign_id)


@require_POST
def pair_gold(request: HttpRequest, slug: str, pair_id: int) -> HttpResponse:
    """Make a pair gold."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    pair = get_pair(access=access, pair_id=pair_id)
    form = GoldForm(request.POST, scale=Scale.from_json(pair.list.scale))
    if not form.is_valid():
        messages.error(request, "Choose the right grade for this pair.")
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
        messages.success(request, "This pair is now gold.")
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


def _now_gold(count: int) -> str:
    return f"{count:,} {'pair is' if count == 1 else 'pairs are'} now gold."
