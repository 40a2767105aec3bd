"""Forms of one's own account."""

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts

from judgments.models import ApiToken
from judgments.services.tokens import TOKEN_DAYS


class AccountForm(forms.Form):
    """A new account: for the first person, and for those who were invited."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="For signing in. Letters, digits and @ . + - _ only.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    name = forms.CharField(
        label="Your name",
        max_length=200,
        required=False,
        help_text="How leads of your collections see you.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label="Password",
        max_length=1000,
        strip=False,
        help_text=" ".join(password_validators_help_texts()),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class SetupForm(AccountForm):
    """The first account, made by whoever can read the server's terminal."""

    code = forms.CharField(
        label="Code", max_length=100, help_text="The server printed it when it started."
    )
    field_order = ("code", "username", "name", "password")


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(
        label="Name", max_length=100, help_text="What it is for, such as “nightly runs”."
    )
    scope = forms.ChoiceField(
        label="It may", choices=ApiToken.Scope.choices, initial=ApiToken.Scope.READ
    )
    days = forms.TypedChoiceField(
        label="Valid for",
        coerce=int,
        choices=[(days, f"{days} days") for days in TOKEN_DAYS],
        initial=90,
    )
