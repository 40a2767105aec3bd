"""Forms of one's own account."""

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.password_validation import password_validators_help_texts
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils.functional import lazy
from django.utils.translation import gettext, gettext_lazy

from judgments.accounts.tokens import list_token_days
from judgments.models import ApiToken, User
from judgments.usernames import fold

BROWSERS: Final = "auto"  # the browser's language: an account keeps none then


def _password_rules() -> str:
    """What a password must be like. Django's own is a list, which a form's help has no room for."""
    return " ".join(password_validators_help_texts())


class AccountForm(forms.Form):
    """A new account: for the first person, and for those who were invited."""

    username = forms.CharField(
        label=gettext_lazy("Username"),
        max_length=150,
        help_text=gettext_lazy("For signing in. Letters, digits and @ . + - _ only."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    name = forms.CharField(
        label=gettext_lazy("Your name"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("How leads of your collections see you."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=gettext_lazy("Password"),
        max_length=1000,
        strip=False,
        help_text=lazy(_password_rules, str)(),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class BreakGlassForm(AuthenticationForm):
    """Signing in with a password where all others use sign-on."""

    def clean(self) -> dict[str, Any]:
        """Refuse other names before a password is looked at, so that none can be guessed."""
        if fold(self.cleaned_data.get("username", "")) != fold(settings.BREAK_GLASS):
            raise ValidationError(gettext("Accounts on this server use sign-on."), code="sign_on")
        return super().clean()


class SetupForm(AccountForm):
    """The first account, created with the code from the server's terminal."""

    code = forms.CharField(
        label="Code", max_length=100, help_text="Printed by the server when it started."
    )
    field_order = ("code", "username", "name", "password")


class ChangePasswordForm(PasswordChangeForm):
    """Another password for oneself; a wrong old one counts like a wrong one at the sign-in."""

    end_tokens = forms.BooleanField(required=False, initial=True)

    def __init__(self, user: User, *args: Any, request: HttpRequest, tokens: int, **kwargs: Any):
        super().__init__(user, *args, **kwargs)
        self._request = request
        self.fields["new_password1"].help_text = _password_rules()
        if tokens:
            self.fields["end_tokens"].label = gettext("Also revoke my API tokens ({count})").format(
                count=tokens
            )
            self.fields["end_tokens"].help_text = gettext("Scripts that use them need a new token.")
        else:
            del self.fields["end_tokens"]

    def clean_old_password(self) -> str:
        """The present password. AxesMiddleware answers with 429 where the limit is reached."""
        password: str = self.cleaned_data["old_password"]
        if authenticate(self._request, username=self.user.username, password=password) is None:
            raise ValidationError(
                self.error_messages["password_incorrect"], code="password_incorrect"
            )
        return password


class LanguageForm(forms.Form):
    """In which language translated pages are."""

    language = forms.TypedChoiceField(
        label=gettext_lazy("Language"),
        choices=[(BROWSERS, gettext_lazy("As in my browser")), *settings.LANGUAGES],
        coerce=lambda choice: "" if choice == BROWSERS else choice,
    )


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        label="Name", max_length=100, help_text="What you will use it for, such as “nightly runs”."
    )
    scope = forms.ChoiceField(
        label="Scope",
        choices=ApiToken.Scope.choices,
        initial=ApiToken.Scope.READ,
        help_text="Uploading runs and judgments, and labelling, need “read and write”.",
    )
    days = forms.TypedChoiceField(
        label="Expires in",
        coerce=int,
        choices=lambda: [(days, f"{days} days") for days in list_token_days()],
        initial=lambda: min(90, list_token_days()[-1]),
    )


class NewPasswordForm(forms.Form):
    """A new password, set through a reset link."""

    password = forms.CharField(
        label=gettext_lazy("New password"),
        max_length=1000,
        strip=False,
        help_text=lazy(_password_rules, str)(),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "autofocus": True}),
    )


class ForgottenPasswordForm(forms.Form):
    """Whose password is to be reset."""

    username = forms.CharField(
        label=gettext_lazy("Username"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )


class CodeForm(forms.Form):
    """A code of the second factor."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=40,
        help_text=gettext_lazy("Six digits from your authenticator app, or a recovery code."),
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}
        ),
    )


class KeyForm(CodeForm):
    """A code, and what a new security key is called."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=60, widget=forms.TextInput({"autocomplete": "off"})
    )
    field_order = ("name", "code")

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id="new_key_%s")
        del self.fields["code"].widget.attrs["autofocus"]
