"""What a list takes: the page of the choice."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.machine_judges.forms import TakesForm
from annotation.machine_judges.grading import Lists, remove_grades, request_grades
from annotation.machine_judges.list_takes import get_takes_page
from annotation.pages.rendering import render_page
from judgments.models.lists import Takes
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import posted
from judgments.permissions import check_may_lead, get_access


@require_http_methods(["GET", "POST"])
def list_takes(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """What the list takes, and the choice of something else."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_takes_page(access=access, slug=list_slug)
    initial = {"takes": page.judgment_list.takes, "machine": page.current}
    form = TakesForm(posted(request), options=page.options, initial=initial)
    if request.method == "POST":
        check_may_lead(access)
        if form.is_valid():
            option = form.chosen()
            with RefusalsAsMessages(request):
                if option is None:
                    made = remove_grades(
                        access=access, judgment_list=page.judgment_list, at=timezone.now()
                    )
                    said = f"Version {made.number} takes" if made else "The list takes"
                    messages.success(request, f"{said} grades of people only.")
                    return redirect("list", slug, list_slug)
                job = request_grades(
                    access=access,
                    judge=option.revision.judge,
                    number=option.revision.number,
                    lists=Lists(option.source, page.judgment_list),
                    takes=Takes(form.cleaned_data["takes"]),
                    at=timezone.now(),
                )
                return redirect("job", slug, job.public_id)
    return render_page(request, "list_takes", page, access=access, section="lists", form=form)
