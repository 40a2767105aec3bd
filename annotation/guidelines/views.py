"""Guidelines: their list, their revisions, and the editor."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.guidelines.forms import ExampleForm, GuidelineForm, PreviewForm
from annotation.guidelines.queries import (
    get_guideline,
    get_guideline_page,
    get_list_of,
    list_guideline_rows,
    list_lists,
)
from annotation.guidelines.rules import GuidelineRefused, empty_grades
from annotation.guidelines.services import create_guideline, get_newest_revision, revise_guideline
from annotation.models import Campaign
from annotation.pages.rendering import render_page
from judgments.models import JudgmentList
from judgments.pages.rendering import posted
from judgments.permissions import Access, NotFound, check_may_lead, get_access
from judgments.rate_limits import costly
from touchstone.scales import Scale


@require_safe
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's guidelines."""
    access = get_access(viewer=request.user, slug=slug)
    rows = list_guideline_rows(access=access)
    return render_page(request, "guidelines", rows, access=access)


@require_safe
def guideline(
    request: HttpRequest, slug: str, guideline_id: int, number: int | None = None
) -> HttpResponse:
    """A guideline as it is now, or in an older revision."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_guideline_page(access=access, guideline_id=guideline_id, number=number)
    return render_page(request, "guideline", page, access=access)


@require_http_methods(["GET", "POST"])
def guideline_create(request: HttpRequest, slug: str) -> HttpResponse:
    """A new guideline, for the scale of one of the lists."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    lists = list_lists(access=access)
    chosen = _chosen_list(lists, request.GET.get("list", ""))
    if chosen is None:
        return render_page(request, "guideline_create", access=access)
    grades = empty_grades(Scale.from_json(chosen.scale))
    form = GuidelineForm(posted(request), grades=grades)
    if request.method == "POST" and "preview" not in request.POST and form.is_valid():
        made = _create(access, chosen, form)
        if made is not None:
            messages.success(request, f"The guideline “{form.cleaned_data['name']}” created.")
            return redirect("guideline", slug, made)
    return render_page(
        request, "guideline_create", access=access, form=form, lists=lists, chosen=chosen
    )


@require_http_methods(["GET", "POST"])
def guideline_revise(request: HttpRequest, slug: str, guideline_id: int) -> HttpResponse:
    """The editor: what is saved is the next revision, the old ones stay.

    The address may bring an example (`grade`, `example`, `kind`), which is filled in.
    """
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    result = get_guideline(access=access, guideline_id=guideline_id)
    newest = get_newest_revision(result)
    initial = {"name": result.name, "text": newest.text, "base": newest.number}
    grades = ExampleForm(request.GET).with_example(newest.grades)
    form = GuidelineForm(posted(request), grades=grades, initial=initial)
    form.fields.pop("name")
    if request.method == "POST" and "preview" not in request.POST and form.is_valid():
        if form.cleaned_data["base"] != newest.number:
            form.rebase(newest.number)
            form.add_error(
                None,
                f"Revision {newest.number} was saved while you were writing. Review it, then "
                "save again to make yours the next revision.",
            )
        elif _revise(request, access, guideline_id, form):
            return redirect("guideline", slug, guideline_id)
    is_followed = result.campaigns.filter(state=Campaign.State.OPEN).exists()
    return render_page(
        request,
        "guideline_revise",
        newest,
        access=access,
        form=form,
        found=result,
        is_followed=is_followed,
        has_example=grades != newest.grades,
    )


@costly
@require_POST
def guideline_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What a text will look like; the editor asks for it while one types."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    return render_page(request, "_preview", access=access, form=PreviewForm(request.POST))


def _chosen_list(lists: list[JudgmentList], slug: str) -> JudgmentList | None:
    """The list that the address names, else the first; None where there is none."""
    if not slug:
        return lists[0] if lists else None
    for one in lists:
        if one.slug == slug:
            return one
    raise NotFound("list")


def _create(access: Access, judgment_list: JudgmentList, form: GuidelineForm) -> int | None:
    """The id of the new guideline; None where it was refused, and the form says why."""
    try:
        made = create_guideline(
            access=access,
            at=timezone.now(),
            judgment_list=judgment_list,
            name=form.cleaned_data["name"],
            text=form.cleaned_data["text"],
            grades=form.cleaned_grades(),
        )
    except GuidelineRefused as error:
        form.add_error("name" if error.code.startswith("name") else None, error.message)
        return None
    return made.pk


def _revise(request: HttpRequest, access: Access, guideline_id: int, form: GuidelineForm) -> bool:
    result = get_guideline(access=access, guideline_id=guideline_id)
    before = get_newest_revision(result).number
    try:
        revision = revise_guideline(
            access=access,
            at=timezone.now(),
            guideline=result,
            judgment_list=get_list_of(access=access, guideline=result),
            text=form.cleaned_data["text"],
            grades=form.cleaned_grades(),
        )
    except GuidelineRefused as error:
        form.add_error(None, error.message)
        return False
    if revision.number == before:
        messages.info(request, "No changes, so no new revision was saved.")
    else:
        messages.success(
            request,
            f"Revision {revision.number} is now current. Earlier labels keep their revision.",
        )
    return True
