"""Machine judges: their list, their revisions, and a pair to try."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.machine_judges.configuration import ConfigurationRefused
from annotation.machine_judges.forms import JudgeForm, initial_of
from annotation.machine_judges.queries import (
    JudgePage,
    get_judge,
    get_judge_page,
    get_judges_page,
    list_newest_guidelines,
)
from annotation.machine_judges.services import create_judge, remove_secret, revise_judge
from annotation.machine_judges.trying import Tried, try_pair
from annotation.models import GuidelineRevision, MachineJudge
from annotation.pages.rendering import render_page
from judgments.pages.rendering import posted
from judgments.permissions import Access, NotFound, check_may_lead, get_access
from judgments.rate_limits import costly
from touchstone.errors import DomainError


@require_safe
def machine_judges(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's machine judges."""
    access = get_access(viewer=request.user, slug=slug)
    return render_page(request, "machine_judges", get_judges_page(access=access), access=access)


@require_safe
def machine_judge(
    request: HttpRequest, slug: str, judge_id: int, number: int | None = None
) -> HttpResponse:
    """A machine judge as it is now, or in an older revision."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_judge_page(access=access, judge_id=judge_id, number=number)
    return render_page(request, "machine_judge", page, access=access)


@costly
@sensitive_post_parameters("secret")
@require_http_methods(["GET", "POST"])
def machine_judge_create(request: HttpRequest, slug: str) -> HttpResponse:
    """A new machine judge; or one pair, asked as the form says."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    guidelines = list_newest_guidelines(access=access)
    form = JudgeForm(posted(request), guidelines=guidelines, has_name=True)
    return _edit(request, access, form, None)


@costly
@sensitive_post_parameters("secret")
@require_http_methods(["GET", "POST"])
def machine_judge_edit(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """Another revision of a machine judge; or one pair, asked as the form says."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    page = get_judge_page(access=access, judge_id=judge_id)
    guidelines = list_newest_guidelines(access=access)
    current = _current(guidelines, page.revision.guideline_revision)
    initial = initial_of(page.configuration, current)
    form = JudgeForm(posted(request), guidelines=guidelines, has_name=False, initial=initial)
    return _edit(request, access, form, page)


def _current(guidelines: list[GuidelineRevision], used: GuidelineRevision) -> GuidelineRevision:
    """The newest revision of the guideline that a judge uses."""
    return next(one for one in guidelines if one.guideline_id == used.guideline_id)


def _edit(
    request: HttpRequest, access: Access, form: JudgeForm, page: JudgePage | None
) -> HttpResponse:
    tried = None
    judge = page.judge if page else None
    if request.method == "POST" and form.is_valid():
        try:
            if "try" in request.POST:
                tried = _try(request, access, form, judge)
            else:
                made = _save(request, access, form, judge)
                return redirect("machine-judge", access.collection.slug, made)
        except ConfigurationRefused as error:
            form.add_error(error.field if error.field in form.fields else None, error.message)
        except NotFound:
            raise
        except DomainError as error:
            form.add_error("name" if error.code.startswith("name_") else None, error.message)
    return render_page(
        request,
        "machine_judge_edit",
        page,
        access=access,
        form=form,
        tried=tried,
        try_qid=request.POST.get("qid", ""),
        try_docid=request.POST.get("docid", ""),
    )


def _save(request: HttpRequest, access: Access, form: JudgeForm, judge: MachineJudge | None) -> int:
    """The id of the judge, which has the revision now."""
    configuration, guideline = form.to_configuration(), form.to_guideline()
    secret, now = form.cleaned_data["secret"], timezone.now()
    if judge is None:
        judge = create_judge(
            access=access,
            name=form.cleaned_data["name"],
            configuration=configuration,
            guideline_revision=guideline,
            secret=secret,
            at=now,
        )
        messages.success(request, f"The machine judge “{judge.name}” created.")
        return judge.pk
    revision = revise_judge(
        access=access,
        judge=judge,
        configuration=configuration,
        guideline_revision=guideline,
        secret=secret,
        at=now,
    )
    messages.success(request, f"Saved. Revision {revision.number} is current.")
    return judge.pk


def _try(
    request: HttpRequest, access: Access, form: JudgeForm, judge: MachineJudge | None
) -> Tried:
    return try_pair(
        access=access,
        judge=judge,
        configuration=form.to_configuration(),
        guideline_revision=form.to_guideline(),
        secret=form.cleaned_data["secret"],
        qid=request.POST.get("qid", "").strip(),
        docid=request.POST.get("docid", "").strip(),
    )


@require_POST
def machine_judge_secret_remove(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """Erase the stored secret."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judge = get_judge(access=access, judge_id=judge_id)
    try:
        remove_secret(access=access, judge=judge, at=timezone.now())
    except NotFound:
        raise
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Secret removed.")
    return redirect("machine-judge", slug, judge_id)
