"""Binds django-allauth to this application; imported only where sign-on is configured."""

import logging
from typing import Any, Final

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext

from judgments.accounts.sign_in_log import SIGN_ON, record_failure
from judgments.models import User
from judgments.pages.languages import message_of
from judgments.sign_on.rules import SignOnRefused, read_claims
from judgments.sign_on.services import sign_on

logger = logging.getLogger(__name__)
SECONDS: Final = 5  # for an answer of the identity provider
LET_IN: Final = "signed_on_as"  # of a request: whom the provider has just signed in


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by this application alone; allauth says nothing on its pages."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """No one signs up at a page of allauth's."""
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Nothing."""


class SignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Lets in who may come in, and refuses everyone else at the sign-in page."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Decide by the claims; nothing of them is kept beside the account but the subject."""
        link = sociallogin.account
        data = dict(link.extra_data)
        link.extra_data, sociallogin.email_addresses = {}, []
        if link.pk:
            link.save(update_fields=["extra_data"])
        account = sociallogin.user if sociallogin.is_existing else None
        try:
            user = sign_on(
                claims=read_claims(
                    data,
                    issuer=settings.SIGN_ON_ISSUER,
                    groups_claim=settings.SIGN_ON_GROUPS_CLAIM,
                ),
                account=account,
                grants=settings.SIGN_ON_GRANTS,
                creates=settings.SIGN_ON_CREATES,
                link=lambda made: _link(link, made),
                at=timezone.now(),
            )
        except SignOnRefused as refused:
            if account is not None:
                record_failure(request, account, by=SIGN_ON)
            raise ImmediateHttpResponse(refuse(request, refused)) from refused
        except IntegrityError as error:  # two first sign-ons at once: one of them made the account
            again = SignOnRefused("try_again", "Try again.")
            raise ImmediateHttpResponse(refuse(request, again)) from error
        sociallogin.user = user
        setattr(request, LET_IN, user.pk)

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """A wrong state, code or token, or a provider that does not answer."""
        logger.warning("sign-on failed: %s %s", error, type(exception).__name__)
        raise ImmediateHttpResponse(refuse(request, FAILED))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """No one signs up at a page of allauth's."""
        return False

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        """An address does not identify a person."""
        return False


FAILED: Final = SignOnRefused("failed", "Sign-on failed. Try again, or ask an administrator.")


def refuse(request: HttpRequest, why: SignOnRefused) -> HttpResponse:
    """Back to the sign-in page, with the reason; nothing of the request is repeated there."""
    logger.warning("sign-on refused: %s", why.code)
    messages.error(request, gettext("Not signed in.") + " " + message_of(why))
    return redirect("login")


def _link(link: SocialAccount, user: User) -> None:
    link.user = user
    link.save()
