"""A reviewer's page, and the one on which leads plan reviews."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.campaigns.finding import watched_campaign
from annotation.campaigns.queries import list_candidates
from annotation.pages.rendering import render_page
from annotation.permissions import check_may_run, get_reviewer_context
from annotation.reviews import services
from annotation.reviews.forms import ReviewForm, ReviewsForm
from annotation.reviews.queries import get_review_page, get_reviewed_picture, get_reviews_page
from judgments.models import User
from judgments.pages.downloads import as_kept
from judgments.pages.rendering import posted
from judgments.pictures.encoding import MEDIA_TYPE
from touchstone.errors import DomainError


@never_cache
@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, campaign_id: UUID) -> HttpResponse:
    """The next label to review; a POST accepts it or sends it back."""
    context = get_reviewer_context(viewer=request.user, campaign_id=campaign_id)
    form = ReviewForm(posted(request))
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            services.review_label(
                context=context,
                label_id=data["label"],
                verdict=data["verdict"],
                reason=data["reason"],
                at=timezone.now(),
            )
        except services.ReviewRefused as error:
            messages.error(request, error.message)
            return redirect("review", campaign_id)
        except DomainError as error:
            form.add_error("reason", error.message)
        else:
            done = "Sent back." if data["verdict"] == "returned" else "Accepted."
            messages.success(request, done)
            return redirect("review", campaign_id)
    page = get_review_page(context)
    return render(request, "annotation/review.html", {"page": page, "form": form})


@require_safe
def review_picture(request: HttpRequest, campaign_id: UUID, name: UUID) -> HttpResponse:
    """A picture of a document whose label is reviewed."""
    context = get_reviewer_context(viewer=request.user, campaign_id=campaign_id)
    return as_kept(get_reviewed_picture(context, name=name), media_type=MEDIA_TYPE)


@never_cache
@require_http_methods(["GET", "POST"])
def reviews(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Reviews of a campaign; a POST says which share is reviewed, and by whom."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    page = get_reviews_page(access=access, campaign=campaign)
    known = User.objects.filter(username__in=page.reviewers).order_by("username")
    people = [*known, *list_candidates(access=access, campaign=campaign)]
    initial = {"percent": page.percent, "reviewers": page.reviewers}
    form = ReviewsForm(posted(request), people=people, initial=initial)
    if request.method == "POST":
        check_may_run(access, campaign)
        if form.is_valid():
            services.plan_reviews(
                access=access, campaign=campaign, at=timezone.now(), **form.cleaned_data
            )
            messages.success(request, "Saved.")
            return redirect("campaign-reviews", slug, campaign_id)
    return render_page(request, "reviews", page, access=access, form=form)
