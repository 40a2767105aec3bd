"""The accounts of the installation, for its administrators."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from config.suspending import suspend
from judgments.accounts import services
from judgments.accounts.password_reset import create_reset_token
from judgments.accounts.queries import (
    STATES,
    AccountFilters,
    get_account,
    get_account_page,
    get_accounts_page,
)
from judgments.accounts.second_factor import reset_second_factor
from judgments.models import User
from judgments.pages.rendering import signed_in
from judgments.permissions import NotFound
from touchstone.errors import DomainError

Act = Callable[[User, User, datetime], str]


@require_safe
def accounts(request: HttpRequest) -> HttpResponse:
    """All accounts, with search and a filter by state."""
    filters = AccountFilters(request.GET.get("q", ""), request.GET.get("state", ""))
    page = get_accounts_page(
        viewer=signed_in(request), filters=filters, page=request.GET.get("page", "")
    )
    shown = {"page": page, "filters": filters, "states": STATES}
    return render(request, "accounts/accounts.html", shown)


@never_cache
@require_safe
def account(request: HttpRequest, username: str) -> HttpResponse:
    """One account: its state, roles, sessions and tokens."""
    page = get_account_page(viewer=signed_in(request), username=username)
    return render(request, "accounts/account.html", {"page": page})


@require_POST
def account_act(request: HttpRequest, username: str, act: str) -> HttpResponse:
    """Do one of ACTS to an account."""
    by = signed_in(request)
    user = get_account(viewer=by, username=username)
    if act not in ACTS:
        raise NotFound("action")
    try:
        messages.success(request, ACTS[act](user, by, timezone.now()))
    except DomainError as error:
        messages.error(request, error.message)
    return redirect("account", user.username)


@never_cache
@require_POST
def account_reset_link(request: HttpRequest, username: str) -> HttpResponse:
    """A link with which the person sets another password; shown once, in this answer."""
    by = signed_in(request)
    user = get_account(viewer=by, username=username)
    token = create_reset_token(user=user, by=by, at=timezone.now())
    path = reverse("password-reset", args=[user.public_id, token])
    page = get_account_page(viewer=by, username=username)
    shown = {"page": page, "link": request.build_absolute_uri(path)}
    return render(request, "accounts/account.html", shown)


def _suspend(user: User, by: User, at: datetime) -> str:
    ended = suspend(user=user, by=by, at=at)
    if ended is None:
        return f"{user.username} is already suspended."
    words = f"{user.username} is suspended."
    if ended.collections_without_lead:
        slugs = ", ".join(ended.collections_without_lead)
        words += f" These collections no longer have an active lead: {slugs}."
    return words


def _resume(user: User, by: User, at: datetime) -> str:
    services.resume_account(user=user, by=by, at=at)
    return f"{user.username} can sign in again."


def _make_administrator(user: User, by: User, at: datetime) -> str:
    services.make_administrator(user=user, by=by, at=at)
    return f"{user.username} is an administrator."


def _remove_administrator(user: User, by: User, at: datetime) -> str:
    services.remove_administrator(user=user, by=by, at=at)
    return f"{user.username} is no longer an administrator."


def _end_sessions(user: User, by: User, at: datetime) -> str:
    services.end_sessions(user=user, by=by, at=at)
    return f"{user.username} is signed out everywhere."


def _revoke_tokens(user: User, by: User, at: datetime) -> str:
    ended = services.revoke_tokens(user=user, by=by, at=at)
    return f"{ended} API token{'' if ended == 1 else 's'} of {user.username} revoked."


def _reset_second_factor(user: User, by: User, at: datetime) -> str:
    if not reset_second_factor(user=user, by=by, at=at):
        return f"{user.username} has no second factor."
    return f"{user.username} is signed out and signs in with the password alone."


ACTS: Final[dict[str, Act]] = {
    "suspend": _suspend,
    "resume": _resume,
    "make-administrator": _make_administrator,
    "remove-administrator": _remove_administrator,
    "end-sessions": _end_sessions,
    "revoke-tokens": _revoke_tokens,
    "reset-second-factor": _reset_second_factor,
}
