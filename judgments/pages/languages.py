"""The language of a page: the reader's where the page is translated, English everywhere else."""

from typing import TypeVar

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation import gettext

from touchstone.errors import DomainError

IS_TRANSLATED = "is_translated"
View = TypeVar("View")


def translated(view: View) -> View:
    """Mark a view all of whose texts are in the catalogues: it answers in the reader's language."""
    setattr(view, IS_TRANSLATED, True)
    return view


def find_language(request: HttpRequest) -> str:
    """The language that the reader has chosen, else the first of their browser's that there is."""
    chosen: str = getattr(request.user, "language", "")
    return chosen or translation.get_language_from_request(request)


def use_language_of(request: HttpRequest) -> None:
    """Answer this request in the reader's language; LanguageMiddleware ends it."""
    translation.activate(find_language(request))


def message_of(error: DomainError) -> str:
    """What a rule says, in the language of the page."""
    pattern = gettext(error.pattern)
    return pattern.format(**error.values) if error.values else pattern
