"""A campaign's quality report: the page, its state while it is computed, and its exports."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.forms.quality import RateForm
from annotation.models import Campaign
from annotation.selectors.list_quality import (
    get_list_quality_page,
    list_report_csv,
    list_report_values,
)
from annotation.selectors.quality import (
    QualityPage,
    get_freshness,
    get_quality_page,
    report_csv,
    report_values,
)
from annotation.views.finding import watched_campaign
from annotation.views.rendering import render_page
from judgments.permissions import Access, get_access
from judgments.views.rendering import render_freshness
from judgments.waking import publish


@never_cache
@require_safe
def quality(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The report. What it has not seen yet is computed by a worker, who hears of it here."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = RateForm(request.GET)
    page = _page(access, campaign, form)
    if page.freshness.is_waiting:
        publish("annotation.refresh_quality", campaign.pk)
    return render_page(request, "quality", page, access=access, form=form)


@never_cache
@require_safe
def quality_state(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The part that says how far a computation is; when it is done, the page comes anew."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    freshness = get_freshness(access=access, campaign=campaign)
    return render_freshness(request, freshness, what="report")


@never_cache
@require_safe
def quality_export(request: HttpRequest, slug: str, campaign_id: UUID, form: str) -> HttpResponse:
    """The same figures as a file."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    page = _page(access, campaign, RateForm({}))
    if form == "json":
        response: HttpResponse = JsonResponse(
            report_values(page), json_dumps_params={"ensure_ascii": False}
        )
    else:
        response = HttpResponse(report_csv(page), content_type="text/csv; charset=utf-8")
    name = f"quality-{slugify(campaign.name) or 'campaign'}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@never_cache
@require_safe
def list_quality(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The report over all campaigns of a list; workers hear of campaigns that are due."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_list_quality_page(access=access, slug=list_slug)
    for part in page.due:
        publish("annotation.refresh_quality", part.campaign.pk)
    return render_page(request, "list_quality", page, access=access, section="lists")


@never_cache
@require_safe
def list_quality_export(request: HttpRequest, slug: str, list_slug: str, form: str) -> HttpResponse:
    """The same figures as a file."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_list_quality_page(access=access, slug=list_slug)
    if form == "json":
        response: HttpResponse = JsonResponse(
            list_report_values(page), json_dumps_params={"ensure_ascii": False}
        )
    else:
        response = HttpResponse(list_report_csv(page), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="quality-{slug}-{list_slug}.{form}"'
    return response


def _page(access: Access, campaign: Campaign, form: RateForm) -> QualityPage:
    rates = form.rates()
    return get_quality_page(access=access, campaign=campaign, **rates)
