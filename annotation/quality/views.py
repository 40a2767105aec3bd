"""A campaign's quality report: the page, its state while it is computed, and its exports."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.campaigns.finding import watched_campaign
from annotation.campaigns.queries import get_labelled_campaign
from annotation.guidelines.services import get_newest_revision
from annotation.pages.rendering import render_page
from annotation.quality.costs import Rates
from annotation.quality.files import (
    list_report_csv,
    list_report_values,
    report_csv,
    report_values,
)
from annotation.quality.forms import RateForm
from annotation.quality.label_files import CONTENT_TYPES, LabelChoice, label_file
from annotation.quality.list_reports import get_list_quality_page
from annotation.quality.people import PeopleWish, get_people_table
from annotation.quality.queries import get_freshness, get_quality_page
from judgments.lists.changed_documents import count_changed
from judgments.pages.downloads import stream_bytes
from judgments.pages.rendering import render_freshness
from judgments.permissions import NotFound, get_access
from judgments.waking import publish
from touchstone.files.parquet import can_write_parquet


@never_cache
@require_safe
def quality(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The report. What it has not seen yet is computed by a worker, who hears of it here."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = RateForm(request.GET)
    page = get_quality_page(access=access, campaign=campaign, rates=form.rates())
    if page.freshness.is_waiting:
        publish("annotation.refresh_quality", campaign.pk)
    table = get_people_table(page.people, _wish(request))
    parquet = can_write_parquet()
    return render_page(
        request, "quality", page, access=access, form=form, table=table, can_parquet=parquet
    )


def _wish(request: HttpRequest) -> PeopleWish:
    asked = {name: request.GET.get(name, "") for name in ("find", "show", "sort", "page")}
    return PeopleWish(**asked, chosen=frozenset(request.GET.getlist("person")))


@never_cache
@require_safe
def quality_person(
    request: HttpRequest, slug: str, campaign_id: UUID, username: str
) -> HttpResponse:
    """One person's part of the report."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    page = get_quality_page(access=access, campaign=campaign, rates=Rates())
    person = next((one for one in page.people if one.username == username), None)
    if person is None:
        raise NotFound("annotator")
    return render_page(request, "quality_person", page, access=access, person=person)


@never_cache
@require_safe
def quality_summary(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The report on one page: verdict, figures and method, to be printed."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    page = get_quality_page(access=access, campaign=campaign, rates=Rates())
    revision = get_newest_revision(campaign.guideline)
    return render_page(request, "quality_summary", page, access=access, revision=revision)


@never_cache
@require_safe
def quality_state(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The progress of a computation, as a part; when it is done, the page is reloaded."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    freshness = get_freshness(access=access, campaign=campaign)
    return render_freshness(request, freshness, what="report")


@never_cache
@require_safe
def quality_export(request: HttpRequest, slug: str, campaign_id: UUID, form: str) -> HttpResponse:
    """The same figures as a file, with the rate that the page was asked for."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    rates = RateForm(request.GET).rates()
    page = get_quality_page(access=access, campaign=campaign, rates=rates)
    name = f"quality-{slugify(campaign.name) or 'campaign'}"
    return _file(form, name, partial(report_values, page), partial(report_csv, page))


@never_cache
@require_safe
def labels_export(
    request: HttpRequest, slug: str, campaign_id: UUID, form: str
) -> StreamingHttpResponse:
    """The labels behind the report, as a file."""
    if form == "parquet" and not can_write_parquet():
        raise NotFound
    access = get_access(viewer=request.user, slug=slug)
    campaign = get_labelled_campaign(access=access, campaign_id=campaign_id)
    choice = LabelChoice(
        counting=request.GET.get("counting") == "1", pseudonyms=request.GET.get("pseudonyms") == "1"
    )
    parts = label_file(access=access, campaign=campaign, form=form, choice=choice)
    name = f"labels-{slugify(campaign.name) or 'campaign'}.{form}"
    return stream_bytes(parts, CONTENT_TYPES[form], file_name=name)


@never_cache
@require_safe
def list_quality(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The report over all campaigns of a list; workers hear of campaigns that are due."""
    access = get_access(viewer=request.user, slug=slug)
    form = RateForm(request.GET)
    page = get_list_quality_page(access=access, slug=list_slug, rates=form.rates())
    for part in page.due:
        if part.freshness.is_waiting:
            publish("annotation.refresh_quality", part.campaign.pk)
    more = {
        "form": form,
        "changed": count_changed(page.judgment_list),
        "table": get_people_table(page.people, _wish(request)),
    }
    return render_page(request, "list_quality", page, access=access, section="lists", **more)


@never_cache
@require_safe
def list_quality_export(request: HttpRequest, slug: str, list_slug: str, form: str) -> HttpResponse:
    """The same figures as a file, with the rate that the page was asked for."""
    access = get_access(viewer=request.user, slug=slug)
    rates = RateForm(request.GET).rates()
    page = get_list_quality_page(access=access, slug=list_slug, rates=rates)
    name = f"quality-{slug}-{list_slug}"
    return _file(form, name, partial(list_report_values, page), partial(list_report_csv, page))


def _file(
    form: str, name: str, values: Callable[[], dict[str, Any]], table: Callable[[], str]
) -> HttpResponse:
    if form == "json":
        response: HttpResponse = JsonResponse(values(), json_dumps_params={"ensure_ascii": False})
    else:
        response = HttpResponse(table(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response
