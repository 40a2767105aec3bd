"""How long a collection keeps what is no fact, as a page."""

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.pages.rendering import render_page
from annotation.retention.forms import RetentionForm
from annotation.retention.queries import Choice, get_choice
from annotation.retention.services import choose_retention
from judgments.pages.rendering import posted
from judgments.permissions import get_access


@require_http_methods(["GET", "HEAD", "POST"])
def retention(request: HttpRequest, slug: str) -> HttpResponse:
    """See and choose for how long records are kept; for leads and administrators."""
    access = get_access(viewer=request.user, slug=slug)
    choice = get_choice(access=access)
    form = RetentionForm(posted(request), initial=asdict(choice))
    if request.method == "POST" and form.is_valid():
        choose_retention(access=access, choice=Choice(**form.cleaned_data), at=timezone.now())
        messages.success(request, "Saved. What is older is deleted within a day.")
        return redirect("retention", slug)
    return render_page(request, "retention", access=access, form=form, section="")
