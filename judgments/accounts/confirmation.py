"""Asking a person who is signed in again who they are, before what does most harm."""

import time
from typing import Any, Final, Literal

from axes.handlers.proxy import AxesProxyHandler
from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from judgments.accounts.second_factor import check_code, has_second_factor
from judgments.accounts.sessions import CONFIRMED
from judgments.models import User
from judgments.pages.languages import message_of
from judgments.usernames import fold
from touchstone.errors import DomainError

FIELD: Final = "confirm_secret"  # never a field of the form that is confirmed
Proof = Literal["password", "code", "sign_on"]


def is_confirmed(request: HttpRequest) -> bool:
    """Whether this session has seen a password or a code within TOUCHSTONE_CONFIRM_MINUTES."""
    since: int = request.session.get(CONFIRMED, 0)
    return time.time() - since < 60 * settings.CONFIRM_MINUTES


def proof_of(user: User) -> Proof:
    """How this person can show that it is them; sign_on: at the identity provider alone."""
    if has_second_factor(user):
        return "code"
    is_off = settings.SIGN_ON_ONLY and user.username_key != fold(settings.BREAK_GLASS)
    return "sign_on" if is_off or not user.has_usable_password() else "password"


class ConfirmForm(forms.Form):
    """The password or a code, with the fields of the form that it confirms.

    A wrong password counts like a wrong one at the sign-in, a wrong code like one there.
    """

    def __init__(self, request: HttpRequest, user: User) -> None:
        is_bound = FIELD in request.POST
        super().__init__(request.POST if is_bound else None)
        self._request, self._user = request, user
        self.proof = proof_of(user)
        self.passed_on = [
            (name, value)
            for name, values in request.POST.lists()
            if name not in (FIELD, "csrfmiddlewaretoken")
            for value in values
        ]
        if self.proof == "password":
            self.fields[FIELD] = forms.CharField(
                label=gettext("Password"),
                max_length=1000,
                strip=False,
                widget=forms.PasswordInput(
                    attrs={"autocomplete": "current-password", "autofocus": True}
                ),
            )
        elif self.proof == "code":
            self.fields[FIELD] = forms.CharField(
                label=gettext("Code"),
                max_length=40,
                widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
            )

    def clean(self) -> dict[str, Any]:
        """Check what was entered, once it is there."""
        if FIELD in self.cleaned_data:
            check = self._check_code if self.proof == "code" else self._check_password
            check(self.cleaned_data[FIELD])
        return self.cleaned_data

    def is_passed(self) -> bool:
        """Whether the person has shown that it is them; the session notes it."""
        if self.proof == "sign_on" or not self.is_valid():
            return False
        self._request.session[CONFIRMED] = int(time.time())
        return True

    def _check_code(self, code: str) -> None:
        try:
            check_code(user=self._user, code=code, at=timezone.now())
        except DomainError as error:
            raise ValidationError({FIELD: message_of(error)}) from error

    def _check_password(self, password: str) -> None:
        username = self._user.username
        if authenticate(self._request, username=username, password=password) is None:
            raise ValidationError({FIELD: gettext("Wrong password.")})
        AxesProxyHandler.get_implementation().reset_user_attempts(
            self._request, {"username": username}
        )
