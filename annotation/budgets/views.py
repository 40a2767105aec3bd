"""The pages on which deadlines and budgets are set."""

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.budgets.forms import BudgetForm, ScheduleForm
from annotation.budgets.services import check_budgets, list_own_budgets, plan_work, subject_of
from annotation.campaigns.finding import led_campaign
from annotation.pages.rendering import render_page
from judgments.budgets.queries import list_budgets, show_budgets
from judgments.budgets.services import COLLECTION, set_budgets
from judgments.pages.rendering import posted
from judgments.permissions import check_may_lead, get_access


@require_http_methods(["GET", "POST"])
def campaign_budget(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Deadline, target and budgets of a campaign."""
    access, campaign = led_campaign(request, slug, campaign_id)
    budgets, now = list_own_budgets(campaign), timezone.now()
    form = ScheduleForm(posted(request), campaign=campaign, budgets=budgets)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            plan_work(
                access=access,
                campaign=campaign,
                due_on=form.cleaned_data["due_on"],
                daily_target=form.cleaned_data["daily_target"],
                label_price=form.price(),
                at=now,
            )
            set_budgets(
                access=access,
                subject=subject_of(campaign),
                name=campaign.name,
                limits=form.limits(),
                warn_percent=form.cleaned_data["warn_percent"],
                stops=form.cleaned_data["stops"],
                at=now,
            )
            check_budgets(collection_id=access.collection.pk, at=now)
        messages.success(request, "Saved.")
        return redirect("campaign-budget", slug, campaign_id)
    shown = show_budgets(budgets, each=campaign.label_price or 0, now=now)
    return render_page(
        request, "campaign_budget", campaign, access=access, form=form, budgets=shown
    )


@require_http_methods(["GET", "POST"])
def collection_budget(request: HttpRequest, slug: str) -> HttpResponse:
    """The budgets of all campaigns of a collection together."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    budgets, now = list_budgets(access.collection, COLLECTION), timezone.now()
    form = BudgetForm(posted(request), budgets=budgets)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            set_budgets(
                access=access,
                subject=COLLECTION,
                name=access.collection.name,
                limits=form.limits(),
                warn_percent=form.cleaned_data["warn_percent"],
                stops=form.cleaned_data["stops"],
                at=now,
            )
            check_budgets(collection_id=access.collection.pk, at=now)
        messages.success(request, "Saved.")
        return redirect("collection-budget", slug)
    shown = show_budgets(budgets, each=0, now=now)
    return render_page(request, "collection_budget", access=access, form=form, budgets=shown)
