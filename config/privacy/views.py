"""What is kept about a person, and the erasure of one."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from config.privacy.erasing import erase_person
from config.privacy.kept import list_sections, write_kept
from judgments.accounts.queries import get_account
from judgments.models import User
from judgments.pages.downloads import stream_text
from judgments.pages.rendering import posted, signed_in
from judgments.rate_limits import costly
from judgments.usernames import fold
from touchstone.errors import DomainError


class EraseForm(forms.Form):
    """The username, typed to confirm."""

    username = forms.CharField(
        label="Username",
        max_length=150,
        help_text="Type the username to confirm.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: object, user: User) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._user = user

    def clean_username(self) -> str:
        """Refuse any other username."""
        username: str = self.cleaned_data["username"]
        if fold(username) != self._user.username_key:
            raise forms.ValidationError("This is not the username.")
        return username


@require_safe
def kept(request: HttpRequest) -> HttpResponse:
    """What is kept about the person who asks."""
    user = signed_in(request)
    return render(request, "privacy/kept.html", {"sections": list_sections(user), "person": user})


@costly
@never_cache
@require_safe
def kept_file(request: HttpRequest) -> StreamingHttpResponse:
    """The same, with every row, as JSON."""
    return _file(signed_in(request))


@costly
@never_cache
@require_safe
def account_kept(request: HttpRequest, username: str) -> StreamingHttpResponse:
    """The same about anyone, for administrators."""
    return _file(get_account(viewer=signed_in(request), username=username))


@never_cache
@require_http_methods(["GET", "POST"])
def account_erase(request: HttpRequest, username: str) -> HttpResponse:
    """Erase a person, for administrators; the username is typed first."""
    by = signed_in(request)
    user = get_account(viewer=by, username=username)
    form = EraseForm(posted(request), user=user)
    if request.method == "POST" and form.is_valid():
        try:
            erase_person(user=user, by=by, at=timezone.now())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Erased. Labels and figures stay, under a number.")
            return redirect("accounts")
    return render(request, "privacy/erase.html", {"account": user, "form": form})


def _file(user: User) -> StreamingHttpResponse:
    lines = write_kept(user, at=timezone.now())
    return stream_text(lines, media_type="application/json", file_name="kept-about-me.json")
