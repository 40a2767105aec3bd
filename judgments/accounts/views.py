"""Signing in, the first account, invitations, and one's own tokens."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, PasswordChangeView, redirect_to_login
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.accounts import tokens
from judgments.accounts.forms import (
    BROWSERS,
    AccountForm,
    BreakGlassForm,
    ChangePasswordForm,
    ForgottenPasswordForm,
    LanguageForm,
    NewPasswordForm,
    SetupForm,
    TokenForm,
)
from judgments.accounts.own_sessions import end_other_sessions, end_session, list_sessions
from judgments.accounts.password_reset import get_reset_account, request_reset, reset_password
from judgments.accounts.services import set_language
from judgments.accounts.signing_in import begin_sign_in, sign_in
from judgments.members import services as members
from judgments.members.queries import count_tokens, get_tokens_page
from judgments.messages.channels import get_channel
from judgments.messages.kinds import EMAIL
from judgments.models import ApiToken, Invitation, User
from judgments.pages.languages import message_of, use_language_of
from judgments.pages.rendering import posted, render_page, signed_in
from judgments.permissions import NotFound
from touchstone.errors import DomainError

FORM_METHODS = ("get", "head", "post")  # Django would take PUT for a POST


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    """Django's own sign-in; an installation without anyone is set up first."""

    http_method_names = FORM_METHODS
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if not members.is_set_up():
            return redirect("setup")
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "sends_mail": get_channel(EMAIL).is_on() and not settings.SIGN_ON_ONLY,
            "has_sign_on": bool(settings.SIGN_ON_ISSUER),
            "sign_on_name": settings.SIGN_ON_NAME,
            "is_sign_on_only": settings.SIGN_ON_ONLY,
        }

    def form_valid(self, form: Any) -> HttpResponse:
        """Sign in, or ask for the code where a second factor is on."""
        wanted = self.get_success_url()
        if begin_sign_in(self.request, form.get_user()):
            return redirect(wanted)
        return redirect(f"{reverse('sign-in-code')}?{urlencode({'next': wanted})}")

    def get_form_class(self) -> Any:
        """Passwords are for the break-glass account alone where there is only sign-on."""
        return BreakGlassForm if settings.SIGN_ON_ONLY else super().get_form_class()


@login_not_required
@never_cache
@sensitive_post_parameters("password", "code")
@require_http_methods(["GET", "POST"])
def setup(request: HttpRequest) -> HttpResponse:
    """The first account, with the code that the server printed; not found once there is one."""
    if members.is_set_up():
        raise NotFound
    form = SetupForm(posted(request), initial={"code": request.GET.get("code", "")})
    if request.method == "POST" and form.is_valid():
        try:
            user = members.create_first_user(**form.cleaned_data, at=timezone.now())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            sign_in(request, user)
            return redirect("home")
    return render_page(request, "setup", form=form)


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Join a collection by a link: as who is signed in, or with a new account."""
    now = timezone.now()
    result = members.get_invitation(token=token, at=now)
    if isinstance(request.user, User):
        return _accept(request, token, result)
    if settings.SIGN_ON_ONLY:  # no one gets an account with a password, which could not sign in
        return redirect_to_login(request.get_full_path())
    form = AccountForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            user = members.register_and_accept(token=token, **form.cleaned_data, at=now)
        except DomainError as error:
            form.add_error(None, message_of(error))
        else:
            sign_in(request, user)
            return redirect("collection", result.collection.slug)
    return render_page(request, "invitation", result, form=form)


def _accept(request: HttpRequest, token: str, found: Invitation) -> HttpResponse:
    if request.method == "POST":
        try:
            members.accept_invitation(token=token, user=signed_in(request), at=timezone.now())
        except members.MemberRefused as error:
            messages.warning(request, message_of(error))
        return redirect("collection", found.collection.slug)
    return render_page(request, "invitation", found)


def wanted_token(parameters: QueryDict) -> dict[str, str]:
    """What the page that led here needs a token for, as `?scope=write`."""
    scope = parameters.get("scope", "")
    return {"scope": scope} if scope in ApiToken.Scope.values else {}


@never_cache
@require_http_methods(["GET", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """One's own API tokens; a new one is shown once, in the answer to the POST that made it."""
    user = signed_in(request)
    form = TokenForm(posted(request), initial=wanted_token(request.GET))
    made = ""
    if request.method == "POST" and form.is_valid():
        try:
            _, made = tokens.create_token(by=user, **form.cleaned_data, at=timezone.now())
            form = TokenForm()
        except DomainError as error:
            form.add_error(None, error.message)
    return render_page(
        request, "tokens", get_tokens_page(user=user, now=timezone.now()), form=form, made=made
    )


@require_POST
def token_delete(request: HttpRequest, token_key: str) -> HttpResponse:
    """Delete one of one's own tokens."""
    tokens.delete_token(by=signed_in(request), token_key=token_key, at=timezone.now())
    messages.success(request, "Token deleted.")
    return redirect("tokens")


@never_cache
@require_http_methods(["GET", "POST"])
def language(request: HttpRequest) -> HttpResponse:
    """The language of translated pages, kept with one's account."""
    user = signed_in(request)
    form = LanguageForm(posted(request), initial={"language": user.language or BROWSERS})
    if request.method == "POST" and form.is_valid():
        set_language(by=user, language=form.cleaned_data["language"])
        use_language_of(request)
        messages.success(request, gettext("Language saved."))
        return redirect("home")
    return render_page(request, "language", form=form)


@require_safe
def session_list(request: HttpRequest) -> HttpResponse:
    """The browsers that one is signed in with."""
    rows = list_sessions(
        user=signed_in(request), current=request.session.session_key, now=timezone.now()
    )
    return render_page(request, "sessions", rows)


@require_POST
def session_end(request: HttpRequest, key: str) -> HttpResponse:
    """Sign out another of one's own browsers."""
    end_session(user=signed_in(request), key=key, at=timezone.now())
    messages.success(request, gettext("Session ended."))
    return redirect("sessions")


@require_POST
def sessions_end(request: HttpRequest) -> HttpResponse:
    """Sign out all of one's own browsers but this one."""
    ended = end_other_sessions(
        user=signed_in(request), current=request.session.session_key, at=timezone.now()
    )
    words = ngettext("{count} other session ended.", "{count} other sessions ended.", ended)
    messages.success(request, words.format(count=ended))
    return redirect("sessions")


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def password_forgotten(request: HttpRequest) -> HttpResponse:
    """Send a reset link to an account's address; the answer is the same for any username."""
    if not get_channel(EMAIL).is_on() or settings.SIGN_ON_ONLY:
        raise NotFound
    form = ForgottenPasswordForm(posted(request))
    is_done = request.method == "POST" and form.is_valid()
    if is_done:
        request_reset(username=form.cleaned_data["username"], at=timezone.now())
    return render_page(request, "password_forgotten", form=form, is_done=is_done)


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def password_reset(request: HttpRequest, account: UUID, token: str) -> HttpResponse:
    """Set another password by a link; not found once it was used, or after a day."""
    user = get_reset_account(account=account, token=token)
    form = NewPasswordForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            reset_password(account=account, token=token, at=timezone.now(), **form.cleaned_data)
        except members.MemberRefused as error:
            form.add_error("password", message_of(error))
        else:
            messages.success(request, gettext("Password changed. Sign in with it."))
            return redirect("login")
    return render_page(request, "password_reset", form=form, account=user)


class ChangePassword(PasswordChangeView):
    """Another password for oneself; other sessions end, and API tokens unless they are kept."""

    http_method_names = FORM_METHODS
    form_class = ChangePasswordForm
    template_name = "judgments/password.html"
    success_url = reverse_lazy("home")

    def get_form_kwargs(self) -> dict[str, Any]:
        user = signed_in(self.request)
        tokens = count_tokens(user=user, now=timezone.now())
        return super().get_form_kwargs() | {"request": self.request, "tokens": tokens}

    def form_valid(self, form: ChangePasswordForm) -> HttpResponse:  # type: ignore[override]
        user = signed_in(self.request)
        ended = members.change_password(
            user=user,
            password=form.cleaned_data["new_password1"],
            # a token that was made since the form was shown ends too
            end_tokens=form.cleaned_data.get("end_tokens", True),
            by=user,
            at=timezone.now(),
        )
        # the old password was right: as after a sign-in, earlier mistakes no longer count
        AxesProxyHandler.get_implementation().reset_user_attempts(
            self.request, {"username": user.username}
        )
        update_session_auth_hash(self.request, user)
        said = gettext("Password changed.")
        if ended:
            revoked = ngettext("{count} API token revoked.", "{count} API tokens revoked.", ended)
            said = f"{said} {revoked.format(count=ended)}"
        messages.success(self.request, said)
        return redirect(self.get_success_url())
