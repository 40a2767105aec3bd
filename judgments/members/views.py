"""Who is in a collection, and the log of what was done."""

from datetime import date

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.audit.queries import (
    AuditFilters,
    get_audit_page,
    get_site_audit_page,
    list_audit_lines,
    list_site_audit_lines,
)
from judgments.members import services
from judgments.members.forms import InvitationForm, RoleForm
from judgments.members.queries import get_members_page
from judgments.models import Role
from judgments.pages.downloads import stream_text
from judgments.pages.rendering import posted, render_page, signed_in
from judgments.permissions import NotFound, RoleRefused, check_may_manage_members, get_access
from touchstone.errors import DomainError


@never_cache
@require_http_methods(["GET", "POST"])
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """The members; a POST makes an invitation, whose link is shown once, in the answer."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_manage_members(access)
    form = InvitationForm(posted(request), access=access)
    link, link_for, link_sent = "", "", False
    now = timezone.now()
    if request.method == "POST" and form.is_valid():
        try:
            made, token = services.invite(access=access, **form.cleaned_data, at=now)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            link = request.build_absolute_uri(reverse("invitation", args=[token]))
            link_for, link_sent = made.note, bool(form.cleaned_data.get("email"))
            form = InvitationForm(access=access)
    page = get_members_page(access=access, now=now)
    return render_page(
        request,
        "members",
        page,
        access=access,
        section="members",
        form=form,
        link=link,
        link_for=link_for,
        link_sent=link_sent,
        roles=Role,
    )


@require_POST
def member_role(request: HttpRequest, slug: str, username: str) -> HttpResponse:
    """Give a member another role."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_manage_members(access)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise NotFound("role")
    role = form.cleaned_data["role"]
    try:
        services.change_role(access=access, username=username, role=role, at=timezone.now())
    except (services.MemberRefused, RoleRefused) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{username} is now {role}.")
    return redirect("members", slug)


@require_POST
def member_tags(request: HttpRequest, slug: str, username: str) -> HttpResponse:
    """Say which languages and skills a member has."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_manage_members(access)
    tags = request.POST.get("tags", "").split(",")
    try:
        services.set_tags(access=access, username=username, tags=tags, at=timezone.now())
    except services.MemberRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"Languages and skills of {username} saved.")
    return redirect("members", slug)


@require_POST
def member_end(request: HttpRequest, slug: str, username: str) -> HttpResponse:
    """End a membership."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_manage_members(access)
    try:
        services.end_membership(access=access, username=username, at=timezone.now())
    except (services.MemberRefused, RoleRefused) as error:
        messages.error(request, error.message)
        return redirect("members", slug)
    messages.success(request, f"{username} is no longer a member.")
    if username == access.user.username:
        return redirect("home")
    return redirect("members", slug)


@require_POST
def invitation_withdraw(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Make an invitation's link useless."""
    access = get_access(viewer=request.user, slug=slug)
    services.withdraw_invitation(access=access, invitation_id=invitation_id, at=timezone.now())
    messages.success(request, "Invitation withdrawn. Its link no longer works.")
    return redirect("members", slug)


@require_safe
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """What was done in the collection, by whom, and when."""
    access = get_access(viewer=request.user, slug=slug)
    filters = _audit_filters(request)
    page = get_audit_page(access=access, filters=filters, page=request.GET.get("page", ""))
    return render_page(request, "audit", page, access=access, section="audit", filters=filters)


@require_safe
def audit_file(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The entries that the filters choose, as JSON lines."""
    access = get_access(viewer=request.user, slug=slug)
    lines = list_audit_lines(access=access, filters=_audit_filters(request))
    return stream_text(lines, media_type="application/x-ndjson", file_name=f"{slug}-audit.jsonl")


@require_safe
def site_audit(request: HttpRequest) -> HttpResponse:
    """What was done in all collections and with accounts, sign-ins included."""
    filters = _audit_filters(request, is_about=True)
    page = get_site_audit_page(
        viewer=signed_in(request), filters=filters, page=request.GET.get("page", "")
    )
    return render_page(request, "audit", page, filters=filters)


@require_safe
def site_audit_file(request: HttpRequest) -> StreamingHttpResponse:
    """The entries that the filters choose, as JSON lines."""
    filters = _audit_filters(request, is_about=True)
    lines = list_site_audit_lines(viewer=signed_in(request), filters=filters)
    return stream_text(lines, media_type="application/x-ndjson", file_name="audit.jsonl")


def _audit_filters(request: HttpRequest, *, is_about: bool = False) -> AuditFilters:
    """What was asked for, as far as it can be read."""
    return AuditFilters(
        is_about=is_about,
        action=request.GET.get("action", ""),
        person=request.GET.get("person", ""),
        since=_day(request.GET.get("since", "")),
        until=_day(request.GET.get("until", "")),
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
