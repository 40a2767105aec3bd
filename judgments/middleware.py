"""Who asks, and what a refusal looks like from outside."""

from collections.abc import Callable
from typing import Any, Final

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.views.defaults import bad_request

from judgments.accounts.confirmation import ConfirmForm, is_confirmed
from judgments.accounts.second_factor import has_second_factor, is_required
from judgments.accounts.signing_in import SECOND_FACTOR, SIGNED_ON
from judgments.models import User
from judgments.pages.confirming import IS_CONFIRMED
from judgments.pages.languages import IS_TRANSLATED, use_language_of
from judgments.permissions import Archived, NotFound
from judgments.rate_limits import SCOPE, seconds_to_wait
from judgments.rest.problems import CONTENT_TYPE
from judgments.rest.uploads import MOST_BYTES
from touchstone.errors import NotNow

REST = "/api/v1/"  # which refuses in its own words
MOST_OF_OTHERS: Final = 2 * 1024 * 1024 + 64 * 1024  # JSON of two megabytes, or a form's fields
BEFORE_SECOND_FACTOR: Final = {
    "second-factor", "second-factor-begin", "logout", "language", "healthz", "readyz", "metrics"
}  # fmt: skip
Respond = Callable[[HttpRequest], HttpResponseBase]


def _refuse_rest(code: str, detail: str, status: int = 403) -> JsonResponse:
    """A problem, from outside REST framework."""
    body = {"type": "about:blank", "title": code.replace("_", " "), "status": status}
    said = {"code": code, "detail": detail}
    return JsonResponse(body | said, status=status, content_type=CONTENT_TYPE)


class PolicyMiddleware:
    """The headers that say what a page may load and use: where a view says nothing else, those of
    the settings. django-csp puts the first together, once; its own middleware does so for every
    answer."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response
        self._policy = build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault(HEADER, self._policy)
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        return response


class LanguageMiddleware:
    """English, but where a view is translated: there the reader's language, also for refusals."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            response = self.get_response(request)
            if translation.get_language() != settings.LANGUAGE_CODE:
                response.headers["Content-Language"] = translation.get_language()
            return response
        finally:
            translation.deactivate()

    def process_view(self, request: HttpRequest, view: Any, args: Any, options: Any) -> None:
        """Answer in the reader's language where the view is marked by `translated`."""
        if getattr(view, IS_TRANSLATED, False):
            use_language_of(request)


class BodyLimitMiddleware:
    """Refuses a body by its length, before anyone reads it: 413.

    Django would store the files of any form before it asks who sent it. Only a view that says
    `most_bytes` takes more than a form's fields, and as a page only from who is signed in.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, options: Any
    ) -> HttpResponseBase | None:
        """Compare the length that the request announces with what its view takes."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        is_rest = request.path_info.startswith(REST)
        # a class of REST framework's stands behind the function that is called
        most: int = getattr(getattr(view, "cls", view), MOST_BYTES, MOST_OF_OTHERS)
        if most > MOST_OF_OTHERS and not (is_rest or request.user.is_authenticated):
            most = MOST_OF_OTHERS
        if length.isdecimal() and int(length) <= most:
            return None
        if is_rest:
            detail = f"The body is too large: at most {most:,} bytes are accepted here."
            return _refuse_rest("too_large", detail, 413)
        return render(request, "413.html", status=413)


class ThrottleMiddleware:
    """429 for a person who asks for pages too often; over REST, `PersonThrottle` sees to that."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, options: Any
    ) -> HttpResponseBase | None:
        """Count the request of a person who is signed in."""
        if request.path_info.startswith(REST) or not request.user.is_authenticated:
            return None
        scope: Any = getattr(view, SCOPE, "pages")
        seconds = seconds_to_wait(scope=scope, person=request.user.pk)
        if seconds is None:
            return None
        response = render(request, "429.html", {"seconds": seconds}, status=429)
        response.headers["Retry-After"] = str(seconds)
        return response


class SecondFactorMiddleware:
    """People who must have a second factor set it up before anything else."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, options: Any
    ) -> HttpResponseBase | None:
        """Send a session without one to the page that sets it up.

        One that the identity provider signed in is the provider's business, and API tokens start
        no session.
        """
        user, matched = request.user, request.resolver_match
        if not settings.SECOND_FACTOR_ROLES or not isinstance(user, User):
            return None
        is_free = {SECOND_FACTOR, SIGNED_ON} & request.session.keys()
        if is_free or (matched and matched.url_name in BEFORE_SECOND_FACTOR):
            return None
        if not is_required(user) or has_second_factor(user):
            return None
        if not request.path_info.startswith(REST):
            return redirect("second-factor")
        return _refuse_rest(
            "second_factor_required",
            "Your role requires two-step sign-in. Set it up on the page first.",
        )


class ConfirmMiddleware:
    """Asks for the password or a code before a change that `confirmed` marks, unless just given."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, options: Any
    ) -> HttpResponseBase | None:
        """Let a change through with a fresh proof: the form is sent once more, with it."""
        is_marked = getattr(getattr(view, "cls", view), IS_CONFIRMED, False)
        user = request.user
        is_change = is_marked and request.method not in ("GET", "HEAD", "OPTIONS")
        if not is_change or not isinstance(user, User) or is_confirmed(request):
            return None
        if request.path_info.startswith(REST):
            return _refuse_rest(
                "confirmation_required",
                "You signed in a while ago. Do this on its page, or sign in again.",
            )
        form = ConfirmForm(request, user)
        if form.is_passed():
            return None
        shown = {"form": form, "action": request.get_full_path()}
        response = render(request, "judgments/confirm.html", shown, status=403)
        add_never_cache_headers(response)
        return response


class RefusalMiddleware:
    """What does not exist and what one may not see answer alike: 404."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # no id and no search has a NUL, and PostgreSQL would answer one with an error
        has_nul = "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
        if has_nul and not request.path_info.startswith(REST):
            return bad_request(request, SuspiciousOperation("a NUL in the address"))
        response = self.get_response(request)
        # a view that says nothing else: its answer is for one person, and is asked for again
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Answer what a view let through: NotFound as Django's own 404; Archived, and what can't be
        done now, by a page."""
        if isinstance(exception, NotFound):
            raise Http404(exception.message) from exception
        if isinstance(exception, Archived | NotNow):
            title = "Archived" if isinstance(exception, Archived) else "Not now"
            context = {"title": title, "reason": exception.message}
            return render(request, "409.html", context, status=409)
        return None
