"""Campaigns: all of them, a new one, one's dashboard, and what is done with it."""

import secrets
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns import services
from annotation.campaigns.archiving import archive_campaign, restore_campaign
from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.campaigns.forms import ApprovalForm, CampaignForm, PeopleForm
from annotation.campaigns.queries import (
    Dashboard,
    get_annotator,
    get_campaign,
    get_closed_campaign,
    get_dashboard,
    list_candidates,
)
from annotation.consolidation.services import approve
from annotation.dashboards.approvals import get_approval_page
from annotation.dashboards.queries import (
    get_campaign_page,
    get_campaigns_page,
    get_my_campaigns,
    get_own_page,
    get_summary_page,
    list_undone,
)
from annotation.dashboards.work_overview import get_work_overview
from annotation.guidelines.queries import list_guidelines, list_lists
from annotation.models import Campaign
from annotation.pages.rendering import render_page
from annotation.permissions import get_annotator_context
from annotation.rule_change.services import ask_for_plan
from judgments.live import labels_topic
from judgments.models import User
from judgments.pages.languages import use_language_of
from judgments.pages.rendering import is_part, posted
from judgments.pages.streams import offer_stream
from judgments.permissions import (
    Access,
    NotFound,
    check_may_lead,
    get_access,
    may_lead,
    may_see_people,
)
from touchstone.errors import DomainError
from touchstone.files.parquet import can_write_parquet

FIELDS = {
    "name_taken": "name",
    "name_invalid": "name",
    "guideline_scale": "guideline",
    "overlap_invalid": "overlap",
    "depth_invalid": "depth",
    "lease_invalid": "lease_minutes",
    "too_few_annotators": "overlap",
}


@never_cache
@require_safe
def my_campaigns(request: HttpRequest) -> HttpResponse:
    """Where one annotates, in all collections."""
    assert isinstance(request.user, User)  # LoginRequiredMiddleware has seen to it
    page = get_my_campaigns(viewer=request.user)
    return render(request, "annotation/my_campaigns.html", {"page": page})


@never_cache
@require_safe
def work_overview(request: HttpRequest) -> HttpResponse:
    """All campaigns that one leads, those that wait for a decision first."""
    assert isinstance(request.user, User)  # LoginRequiredMiddleware has seen to it
    page = get_work_overview(
        viewer=request.user, now=timezone.now(), page=request.GET.get("page", "")
    )
    return render(request, "annotation/work_overview.html", {"page": page})


@require_safe
def campaigns(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's campaigns, as far as they are the viewer's."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_campaigns_page(access=access, shows_archived="archived" in request.GET)
    return render_page(request, "campaigns", page, access=access)


@require_http_methods(["GET", "POST"])
def campaign_create(request: HttpRequest, slug: str) -> HttpResponse:
    """Plan a campaign; it begins as a draft."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    lists, guidelines = list_lists(access=access), list_guidelines(access=access)
    initial = {"guideline": request.GET.get("guideline"), "judgment_list": request.GET.get("list")}
    form = CampaignForm(posted(request), lists=lists, guidelines=guidelines, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_campaign(
                access=access, at=timezone.now(), seed=secrets.randbits(62), **form.cleaned_data
            )
        except DomainError as error:
            form.add_error(FIELDS.get(error.code), error.message)
        else:
            return redirect("campaign", slug, made.public_id)
    return render_page(
        request, "campaign_create", access=access, form=form, lists=lists, guidelines=guidelines
    )


@require_http_methods(["GET", "POST"])
def campaign_change(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Change the plan; of an open campaign, what is safe to change."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = CampaignForm(
        posted(request),
        lists=[campaign.list],
        guidelines=list_guidelines(access=access),
        initial={field: getattr(campaign, field) for field in services.CHANGEABLE},
    )
    is_draft = campaign.state == Campaign.State.DRAFT
    form.keep(services.CHANGEABLE if is_draft else services.CHANGEABLE_WHILE_OPEN)
    if request.method == "POST" and form.is_valid():
        try:
            job = ask_for_plan(
                access=access, campaign=campaign, changes=form.cleaned_data, at=timezone.now()
            )
        except DomainError as error:
            form.add_error(FIELDS.get(error.code), error.message)
        else:
            if job is not None:
                return redirect("job", slug, job.public_id)
            messages.success(request, "Plan changed.")
            return redirect("campaign", slug, campaign_id)
    return render_page(request, "campaign_change", campaign, access=access, form=form)


@never_cache
@require_safe
def campaign_page(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The dashboard for leads, a summary for researchers once closed, one's own counts else."""
    access = get_access(viewer=request.user, slug=slug)
    if may_see_people(access):
        return _dashboard(request, access, get_campaign(access=access, campaign_id=campaign_id))
    try:
        closed = get_closed_campaign(access=access, campaign_id=campaign_id)
    except NotFound:
        context = get_annotator_context(viewer=access.user, campaign_id=campaign_id)
        use_language_of(request)
        own = get_own_page(access=access, context=context)
        return render_page(request, "campaign_own", own, access=access)
    summary = get_summary_page(access=access, campaign=closed)
    return render_page(
        request, "campaign_summary", summary, access=access, can_parquet=can_write_parquet()
    )


@require_POST
def campaign_open(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Begin, or begin again."""
    access, campaign = led_campaign(request, slug, campaign_id)
    is_first = campaign.state == Campaign.State.DRAFT
    start = services.open_campaign if is_first else services.reopen_campaign
    try:
        start(access=access, campaign=campaign, at=timezone.now())
    except services.CampaignRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The campaign is open. Annotators see it on their home page.")
    return redirect("campaign", slug, campaign_id)


@require_POST
def campaign_close(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """End the labelling."""
    access, campaign = led_campaign(request, slug, campaign_id)
    undone = list_undone(access=access, campaign=campaign)
    try:
        services.close_campaign(access=access, campaign=campaign, at=timezone.now())
    except services.CampaignRefused as error:
        messages.error(request, error.message)
    else:
        said = " ".join(("The campaign is closed. All labels are kept.", *undone))
        messages.success(request, said)
    return redirect("campaign", slug, campaign_id)


@require_POST
def campaign_archive(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Hide a campaign, which is read-only from then on."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    check_may_lead(access)
    try:
        archive_campaign(access=access, campaign=campaign, at=timezone.now())
    except services.CampaignRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Archived. It can be restored here.")
    return redirect("campaign", slug, campaign_id)


@require_POST
def campaign_restore(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Show a campaign again."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    check_may_lead(access)
    restore_campaign(access=access, campaign=campaign, at=timezone.now())
    messages.success(request, "Restored.")
    return redirect("campaign", slug, campaign_id)


@require_POST
def campaign_people_add(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Let members annotate."""
    access, campaign = led_campaign(request, slug, campaign_id)
    candidates = list_candidates(access=access, campaign=campaign)
    form = PeopleForm(request.POST, candidates=candidates)
    if not form.is_valid():
        messages.error(request, "Select at least one member who is not yet in the campaign.")
        return redirect("campaign", slug, campaign_id)
    people = list(form.cleaned_data["people"])
    services.add_annotators(access=access, campaign=campaign, people=people, at=timezone.now())
    messages.success(request, f"Added: {', '.join(str(person) for person in people)}.")
    return redirect("campaign", slug, campaign_id)


@require_POST
def campaign_person_remove(
    request: HttpRequest, slug: str, campaign_id: UUID, username: str
) -> HttpResponse:
    """Remove a person from the campaign."""
    access, campaign = led_campaign(request, slug, campaign_id)
    person = get_annotator(access=access, campaign=campaign, username=username)
    services.remove_annotator(access=access, campaign=campaign, person=person, at=timezone.now())
    messages.success(request, f"{person} is no longer in this campaign. Their labels are kept.")
    return redirect("campaign", slug, campaign_id)


@require_http_methods(["GET", "POST"])
def campaign_approve(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """See what an approval would change in the list, and approve it."""
    access, campaign = led_campaign(request, slug, campaign_id)
    if campaign.commit != Campaign.Commit.APPROVAL:
        raise NotFound("approval")
    form = ApprovalForm(posted(request))
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        version = approve(access=access, campaign=campaign, at=timezone.now(), reason=reason)
        if version is None:
            messages.info(request, "The list already has these grades.")
        else:
            messages.success(
                request, f"Approved: the list {campaign.list.name} is at version {version.number}."
            )
        return redirect("campaign", slug, campaign_id)
    page = get_approval_page(access=access, campaign=campaign, page=request.GET.get("page", ""))
    return render_page(request, "campaign_approve", page, access=access, form=form)


def _dashboard(request: HttpRequest, access: Access, campaign: Campaign) -> HttpResponse:
    now = timezone.now()
    if is_part(request):
        dashboard = get_dashboard(access=access, campaign=campaign, now=now)
        shown = _shown(request, dashboard)
        response = render_page(request, "_progress", access=access, dashboard=dashboard, **shown)
        # without a key: its forms have the token of one session
        offer_stream(response, request, access=access, topic=labels_topic(campaign.list_id))
        return response
    page = get_campaign_page(access=access, campaign=campaign, now=now)
    shown = _shown(request, page.dashboard)
    blocked = ""
    is_archived = campaign.archived_at or campaign.list.archived_at
    if may_lead(access) and campaign.state != Campaign.State.OPEN and not is_archived:
        try:
            services.check_may_open(campaign)
        except services.CampaignRefused as error:
            blocked = error.message
    people = PeopleForm(candidates=list(page.candidates))
    return render_page(
        request, "campaign", page, access=access, blocked=blocked, people=people, **shown
    )


def _shown(request: HttpRequest, dashboard: Dashboard) -> dict[str, Any]:
    """Who is in the table: everyone, or of very many the busiest unless all are asked for."""
    shows_all = request.GET.get("people") == "all"
    shown = dashboard.annotators if shows_all else dashboard.busiest
    return {"shows_all": shows_all, "annotators": shown}
