"""The pages of the second factor: one's own, and the code or key at the sign-in."""

from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from judgments.accounts import second_factor as services
from judgments.accounts import security_keys
from judgments.accounts.forms import CodeForm, KeyForm
from judgments.accounts.own_sessions import end_other_sessions
from judgments.accounts.sign_in_log import CODE, SECURITY_KEY, record_failure
from judgments.accounts.signing_in import SECOND_FACTOR, complete_sign_in, get_half_signed_in
from judgments.pages.languages import message_of
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import posted, render_page, signed_in
from judgments.permissions import NotFound
from touchstone.errors import DomainError

ASKED: Final = "security_key_asked"  # what a key has to sign for this sign-in
ADDING: Final = "security_key_adding"  # the name of a new key, and what it has to sign


@login_not_required
@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """The second step of a sign-in, after the password."""
    user = get_half_signed_in(request)
    if user is None:
        return redirect("login")
    form = CodeForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            services.check_code(user=user, code=form.cleaned_data["code"], at=timezone.now())
        except DomainError as error:
            if error.code == "code_wrong":
                record_failure(request, user, by=CODE)
            form.add_error("code", message_of(error))
        else:
            complete_sign_in(request, user)
            return redirect(_wanted(request))
    challenge = security_keys.begin_asking(user=user, site=_site(request))
    if challenge:
        request.session[ASKED] = challenge.state
    return render_page(request, "sign_in_code", form=form, challenge=challenge)


@login_not_required
@require_POST
def sign_in_key(request: HttpRequest) -> HttpResponse:
    """The second step of a sign-in by a security key, which has signed what the page showed."""
    user = get_half_signed_in(request)
    if user is None:
        return redirect("login")
    state = request.session.pop(ASKED, {})  # each is answered once
    answer = request.POST.get("credential", "")
    try:
        security_keys.check_key(
            user=user, site=_site(request), state=state, answer=answer, at=timezone.now()
        )
    except services.CodeRefused as error:
        record_failure(request, user, by=SECURITY_KEY)
        messages.error(request, message_of(error))
        query = {"next": request.GET["next"]} if "next" in request.GET else None
        return redirect(reverse("sign-in-code", query=query))
    complete_sign_in(request, user, by=SECURITY_KEY)
    return redirect(_wanted(request))


@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """One's own second factor; a POST with a first code turns it on, and shows recovery codes."""
    user = signed_in(request)
    form, codes = CodeForm(posted(request)), list[str]()
    if request.method == "POST" and form.is_valid():
        try:
            codes = services.confirm_set_up(
                user=user, code=form.cleaned_data["code"], at=timezone.now()
            )
        except services.CodeRefused as error:
            form.add_error("code", message_of(error))
        else:
            request.session[SECOND_FACTOR] = True
            end_other_sessions(user=user, current=request.session.session_key, at=timezone.now())
    return _page(request, form, codes)


@require_POST
def second_factor_begin(request: HttpRequest) -> HttpResponse:
    """Make the secret that the page then shows."""
    with RefusalsAsMessages(request):
        services.begin_set_up(user=signed_in(request), at=timezone.now())
    return redirect("second-factor")


@never_cache
@sensitive_post_parameters("code")
@require_POST
def second_factor_change(request: HttpRequest, act: str) -> HttpResponse:
    """Turn one's own second factor off, or make new recovery codes, with a valid code."""
    user, codes = signed_in(request), list[str]()
    form = KeyForm(request.POST) if act == "add-key" else CodeForm(request.POST)
    if act not in ("off", "codes", "add-key", "remove-key"):
        raise NotFound("action")
    if form.is_valid():
        code, at = form.cleaned_data["code"], timezone.now()
        try:
            if act == "codes":
                codes = services.renew_codes(user=user, code=code, at=at)
            elif act == "remove-key":
                services.check_code(user=user, code=code, at=at)
                key = request.POST.get("key", "")
                security_keys.remove_key(
                    user=user, key_id=int(key) if key.isdecimal() else 0, at=at
                )
                messages.success(request, gettext("The security key was removed."))
                return redirect("second-factor")
            elif act == "add-key":
                services.check_code(user=user, code=code, at=at)
                challenge = security_keys.begin_adding(user=user, site=_site(request))
                name = form.cleaned_data["name"]
                request.session[ADDING] = {"name": name, "state": challenge.state}
                return _page(request, CodeForm(), codes, challenge=challenge)
            else:
                services.turn_off(user=user, code=code, at=at)
                request.session.pop(SECOND_FACTOR, None)
                messages.success(request, gettext("Two-step sign-in is off."))
                return redirect("second-factor")
        except services.CodeRefused as error:
            form.add_error("code", message_of(error))
    return _page(request, form, codes)


@require_POST
def security_key_add(request: HttpRequest) -> HttpResponse:
    """Keep the security key that has answered."""
    begun = request.session.pop(ADDING, None)
    if begun is None:
        raise NotFound("security key")
    with RefusalsAsMessages(request):
        security_keys.add_key(
            user=signed_in(request),
            site=_site(request),
            state=begun["state"],
            answer=request.POST.get("credential", ""),
            name=begun["name"],
            at=timezone.now(),
        )
        messages.success(request, gettext("The security key was added."))
    return redirect("second-factor")


def _site(request: HttpRequest) -> security_keys.Site:
    host = request.get_host()
    origin = f"{request.scheme}://{host}"
    return security_keys.Site(host=split_domain_port(host)[0], origin=origin)


def _page(
    request: HttpRequest,
    form: CodeForm,
    codes: list[str],
    *,
    challenge: security_keys.Challenge | None = None,
) -> HttpResponse:
    page = services.get_second_factor_page(signed_in(request))
    picture = _draw(page.set_up.uri) if page.set_up else ""
    if page.set_up:  # a recovery code does not turn it on
        form.fields["code"].help_text = ""
    return render_page(
        request,
        "second_factor",
        page,
        form=CodeForm() if isinstance(form, KeyForm) else form,
        codes_shown=codes,
        picture=picture,
        challenge=challenge,
        key_form=form if isinstance(form, KeyForm) else KeyForm(),
    )


def _draw(uri: str) -> str:
    """The QR code as a data URI, dark on light in every theme: not all apps read it inverted."""
    import segno  # noqa: PLC0415  (no command and no other page needs it)

    code = segno.make(uri, error="m", micro=False)
    drawn: str = code.svg_data_uri(scale=4, border=4, light="#fff")
    return drawn


def _wanted(request: HttpRequest) -> str:
    """The page that was asked for before the sign-in, if it is of this server."""
    wanted = request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_own else "home"
