"""Machine judges: their list, their revisions, a pair to try, budgets and campaigns."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.machine_judges.campaign_queries import (
    get_judge_campaign,
    get_judge_campaign_page,
    list_campaign_rows,
    list_gradable,
    list_scopes,
)
from annotation.machine_judges.campaigns import start_judging, stop_judging
from annotation.machine_judges.configuration import ConfigurationRefused
from annotation.machine_judges.forms import (
    GradeForm,
    JudgeBudgetForm,
    JudgeForm,
    ScopeForm,
    initial_of,
)
from annotation.machine_judges.grading import Lists, remove_grades, request_grades
from annotation.machine_judges.queries import (
    JudgePage,
    get_judge,
    get_judge_page,
    get_judges_page,
    list_newest_guidelines,
)
from annotation.machine_judges.services import (
    choose_family,
    create_judge,
    remove_secret,
    revise_judge,
)
from annotation.machine_judges.spending import note_spent, subject_of
from annotation.machine_judges.trust import get_trust_page
from annotation.machine_judges.trying import Tried, try_pair
from annotation.models import GuidelineRevision, MachineJudge
from annotation.pages.rendering import render_page
from judgments.budgets.queries import list_budgets, show_budgets
from judgments.budgets.services import set_budgets
from judgments.lists.queries import get_list
from judgments.models.lists import Takes
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import is_part, posted
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
    budgets = list_budgets(access.collection, subject_of(page.judge))
    return render_page(
        request,
        "machine_judge",
        page,
        access=access,
        rows=list_campaign_rows(page.judge),
        form=_scope_form(access),
        grading=GradeForm(offer=list_gradable(access=access, judge=page.judge)),
        budgets=show_budgets(budgets, each=0, now=timezone.now()),
    )


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
    with RefusalsAsMessages(request):
        remove_secret(access=access, judge=judge, at=timezone.now())
        messages.success(request, "Secret removed.")
    return redirect("machine-judge", slug, judge_id)


@require_http_methods(["GET", "POST"])
def machine_judge_budget(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """The budgets of a machine judge, in tokens and money."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    page, now = get_judge_page(access=access, judge_id=judge_id), timezone.now()
    subject = subject_of(page.judge)
    budgets = list_budgets(access.collection, subject)
    form = JudgeBudgetForm(posted(request), budgets=budgets, has_prices=page.has_prices)
    if request.method == "POST" and form.is_valid():
        set_budgets(
            access=access,
            subject=subject,
            name=page.judge.name,
            limits=form.limits(),
            warn_percent=form.cleaned_data["warn_percent"],
            stops=form.cleaned_data["stops"],
            at=now,
        )
        note_spent(page.judge, at=now)
        messages.success(request, "Saved.")
        return redirect("machine-judge", slug, judge_id)
    return render_page(request, "machine_judge_budget", page, access=access, form=form)


@require_POST
def judge_campaign_start(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """Let a worker ask about the pairs of a campaign."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judge = get_judge(access=access, judge_id=judge_id)
    form = _scope_form(access, request.POST)
    if not form.is_valid():
        messages.error(request, "Choose the pairs that it is to label.")
        return redirect("machine-judge", slug, judge_id)
    campaign, saved_set, plan = form.chosen()
    with RefusalsAsMessages(request):
        started = start_judging(
            access=access,
            judge=judge,
            campaign=campaign,
            saved_set=saved_set,
            plan=plan,
            at=timezone.now(),
        )
        return redirect("judge-campaign", slug, started.public_id)
    return redirect("machine-judge", slug, judge_id)


def _scope_form(access: Access, data: QueryDict | None = None) -> ScopeForm:
    scopes = list_scopes(access=access)
    return ScopeForm(data, campaigns=scopes.campaigns, sets=scopes.sets, plans=scopes.plans)


@require_safe
def judge_campaign(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """The progress of a judge's campaign; then its outcomes."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_judge_campaign_page(
        access=access, public_id=public_id, page=request.GET.get("page", "")
    )
    template = "_judge_campaign" if is_part(request) else "judge_campaign"
    return render_page(request, template, page, access=access)


@require_POST
def judge_campaign_stop(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """Ask about no more pairs."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    own = get_judge_campaign(access=access, public_id=public_id)
    with RefusalsAsMessages(request):
        stop_judging(access=access, own=own, at=timezone.now())
        messages.success(request, "Stopped.")
    return redirect("judge-campaign", slug, public_id)


@costly
@require_safe
def machine_judge_trust(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """A judge's agreement with people on a list."""
    access = get_access(viewer=request.user, slug=slug)
    number = request.GET.get("revision", "")
    page = get_trust_page(
        access=access,
        judge_id=judge_id,
        list_slug=request.GET.get("list", ""),
        number=int(number) if number.isascii() and number.isdigit() else None,
        page=request.GET.get("page", ""),
    )
    return render_page(request, "machine_judge_trust", page, access=access)


@require_POST
def machine_judge_family(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """Which rankers are of the judge's family."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judge = get_judge(access=access, judge_id=judge_id)
    with RefusalsAsMessages(request):
        choose_family(
            access=access, judge=judge, family=request.POST.get("family", ""), at=timezone.now()
        )
        messages.success(request, "Saved.")
    return redirect("machine-judge-trust", slug, judge_id)


@require_POST
def machine_judge_grade(request: HttpRequest, slug: str, judge_id: int) -> HttpResponse:
    """Put a revision's grades into a list, in a worker."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judge = get_judge(access=access, judge_id=judge_id)
    form = GradeForm(request.POST, offer=list_gradable(access=access, judge=judge))
    if not form.is_valid():
        messages.error(request, "Choose whose pairs it is, and the list that gets the grades.")
        return redirect("machine-judge", slug, judge_id)
    number, source, target = form.chosen()
    with RefusalsAsMessages(request):
        job = request_grades(
            access=access,
            judge=judge,
            number=number,
            lists=Lists(source, target),
            takes=Takes.ELSEWHERE if target.head or source == target else Takes.MACHINE,
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return redirect("machine-judge", slug, judge_id)


@require_POST
def list_machine_remove(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """A version of a list without grades of machine judges."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=list_slug)
    version = remove_grades(access=access, judgment_list=judgment_list, at=timezone.now())
    if version is None:
        messages.info(request, "The list takes grades of people only.")
    else:
        messages.success(request, f"Version {version.number} has grades of people only.")
    return redirect("list", slug, list_slug)
