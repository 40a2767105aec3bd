"""The annotator's page."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.forms.labelling import REASONS, LabelForm
from annotation.keys import keyed_grades
from annotation.permissions import Desk, get_desk, may_label
from annotation.selectors.labelling import LabelPage, get_label_page
from annotation.services.labelling import submit_label
from annotation.services.leasing import lease_next
from judgments.errors import DomainError
from judgments.markup import markdown
from judgments.templatetags.touchstone import ramp_step


@require_http_methods(["GET", "HEAD", "POST"])
def label(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Label pair after pair: by the page's module, and by plain forms without it."""
    desk = get_desk(viewer=request.user, campaign_id=campaign_id)
    if request.method == "POST":
        _post(request, desk)
        return redirect("label", campaign_id)
    page = get_label_page(desk)
    return render(request, "annotation/label.html", _context(request, desk, page))


def _post(request: HttpRequest, desk: Desk) -> None:
    """What a form without a script sends: a grade or why there is none, or the wish for pairs."""
    now = timezone.now()
    try:
        if "assignment" in request.POST:
            form = LabelForm(request.POST)
            if not form.is_valid():
                messages.error(request, "That was not a label. Please try again.")
                return
            submit_label(desk=desk, submission=form.submission(made_at=now), at=now)
        lease_next(desk=desk, count=20, at=now)
    except DomainError as error:
        messages.error(request, error.message)


def _context(request: HttpRequest, desk: Desk, page: LabelPage) -> dict[str, Any]:
    grades = keyed_grades(page.guideline.grades)
    return {
        "page": page,
        "pair": page.pairs[0] if page.pairs else None,
        "grades": [(grade, f"g{ramp_step(grade.position, len(grades))}") for grade in grades],
        "guideline_html": markdown(page.guideline.text),
        "reasons": REASONS,
        "label_id": uuid.uuid4(),
        "account": desk.viewer.public_id,
        "collection_slug": desk.campaign.list.collection.slug,
        "login_url": f"{reverse('login')}?next={request.path}",
        "total": page.progress.done + page.progress.left,
        "is_open": may_label(desk),
    }
