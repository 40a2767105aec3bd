"""To the identity provider, and back; imported only where sign-on is configured."""

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from requests import RequestException

from judgments.accounts.sign_in_log import SIGN_ON, record_sign_in
from judgments.accounts.signing_in import SIGNED_ON
from judgments.models import User
from judgments.sign_on.adapters import FAILED, LET_IN, refuse


@login_not_required
@never_cache
@require_safe
def begin(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send the browser to the identity provider, with a state and a PKCE challenge."""
    wanted = request.GET.get("next", "")
    is_own = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    if isinstance(request.user, User):
        return redirect(wanted if is_own else "home")
    provider = get_adapter().get_provider(request, provider_id)
    try:
        answer: HttpResponse = provider.redirect(
            request, process=AuthProcess.LOGIN, next_url=wanted if is_own else None
        )
    except (RequestException, ValueError, KeyError):  # away, or no OpenID provider
        return refuse(request, FAILED)
    return answer


@login_not_required
@never_cache
@require_safe
def complete(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where the identity provider sends the browser back to."""
    adapter = OpenIDConnectOAuth2Adapter(request, provider_id)
    try:
        answer: HttpResponse = OAuth2CallbackView.adapter_view(adapter)(request)
    except (ValueError, KeyError):  # what is no OpenID provider's answer
        return refuse(request, FAILED)
    # not a user who was signed in before, with a password, and was refused here
    if isinstance(request.user, User) and request.user.pk == getattr(request, LET_IN, None):
        request.session[SIGNED_ON] = True
        record_sign_in(request, request.user, by=SIGN_ON)
    return answer
