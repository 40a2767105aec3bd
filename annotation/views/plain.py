"""Labelling where no script runs: one pair at a time, by forms."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.forms.labelling import REASONS, SKIP_REASONS, LabelForm, SkipForm
from annotation.keys import keyed_grades
from annotation.permissions import Desk, get_desk, is_open
from annotation.selectors.feedback import has_news
from annotation.selectors.labelling import get_label_page
from annotation.selectors.shown_guidelines import get_unread_change
from annotation.selectors.standing import Told
from annotation.services.labelling import submit_label
from annotation.services.leasing import lease_next
from annotation.services.skipping import skip_query
from annotation.views.rendering import with_steps
from annotation.views.scripts import get_style
from touchstone.errors import DomainError
from touchstone.scales import Scale

AT_HAND = 20


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def label_plain(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """The pair at hand with a form for its label; a POST says it, and shows the next."""
    desk = get_desk(viewer=request.user, campaign_id=campaign_id)
    if request.method == "POST":
        _post(request, desk)
        return redirect("label-plain", campaign_id)
    return render(request, "annotation/label_plain.html", _context(desk))


def _post(request: HttpRequest, desk: Desk) -> None:
    """A grade or why there is none, the wish not to be asked of a query, or that for pairs."""
    now = timezone.now()
    try:
        if "skip" in request.POST:
            skip = SkipForm(request.POST)
            if not skip.is_valid():
                messages.error(request, "That query could not be skipped. Please try again.")
                return
            reason = skip.cleaned_data["reason"]
            skip_query(desk=desk, assignment=skip.cleaned_data["skip"], reason=reason, at=now)
            messages.success(request, "Skipped. You are not asked about that query again.")
        elif "assignment" in request.POST:
            form = LabelForm(request.POST)
            if not form.is_valid():
                messages.error(request, "That was not a label. Please try again.")
                return
            receipt = submit_label(desk=desk, submission=form.submission(made_at=now), at=now)
            if receipt.told:
                messages.info(request, _words_of(desk, receipt.told))
        lease_next(desk=desk, count=AT_HAND, at=now)
    except DomainError as error:
        messages.error(request, error.message)


def _words_of(desk: Desk, told: Told) -> str:
    """The right answer of a training pair."""
    scale = Scale.from_json(desk.campaign.list.scale)
    names = {grade.code: f"{grade.code} {grade.name}" for grade in scale.grades}
    right = names[told.low] if told.low == told.high else f"{told.low} to {names[told.high]}"
    begin = "Right: " if told.is_right else "Right would have been "
    return f"{begin}{right}. {told.reason} {told.right} of {told.done} right so far.".strip()


def _context(desk: Desk) -> dict[str, Any]:
    page = get_label_page(desk)
    return {
        "page": page,
        "pair": page.pairs[0] if page.pairs else None,
        "grades": with_steps(keyed_grades(page.guideline.grades, {})),
        "change": get_unread_change(desk, page.guideline),
        "reasons": REASONS,
        "skip_reasons": SKIP_REASONS,
        "label_id": uuid.uuid4(),
        "collection_slug": desk.campaign.list.collection.slug,
        "style": get_style().digest,
        "is_open": is_open(desk),
        "has_feedback": has_news(desk),
    }
