"""The labelling page's scripts and stylesheets, in one file each that a browser keeps."""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.utils.translation.trans_real import translation
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from annotation.labelling.scripts import joined_modules, joined_styles
from judgments.pages.languages import find_language
from judgments.permissions import NotFound

ENTRY = "label"
FIRST = "api"  # the module that asks for the first pairs
EVERYWHERE = "touchstone/app.js"  # what every page has
STYLES = ("touchstone/app.css", "annotation/label.css")
DIGEST = re.compile(r"[0-9a-f]{16}")
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Joined:
    """A text of several files, and its digest: what its address names."""

    digest: str
    text: str


def get_script(language: str) -> Joined:
    """The script as the files are now, with its texts in this language."""
    everywhere = _find(EVERYWHERE)
    directory = _find(f"annotation/{ENTRY}.js").parent
    changed_at = _changed_at(everywhere, *directory.glob("*.js"))
    return _script(everywhere, directory, changed_at, language)


def get_first_script() -> Joined:
    """What asks for the first pairs, as the files are now."""
    directory = _find(f"annotation/{FIRST}.js").parent
    return _first_script(directory, _changed_at(*directory.glob("*.js")))


def get_style() -> Joined:
    """The stylesheet as the files are now."""
    files = tuple(_find(name) for name in STYLES)
    return _style(files, _changed_at(*files))


@login_not_required
@require_safe
@gzip_page
def label_script(request: HttpRequest, digest: str) -> HttpResponse:
    """What every page does, and all modules of the labelling page."""
    scripts = (get_script(language) for language, _ in settings.LANGUAGES)
    asked_for = next((one for one in scripts if one.digest == digest), None)
    return _respond(asked_for or get_script(find_language(request)), digest, "text/javascript")


@login_not_required
@require_safe
@gzip_page
def label_first(request: HttpRequest, digest: str) -> HttpResponse:
    """The module that asks for the first pairs: small, so that it runs before the others."""
    return _respond(get_first_script(), digest, "text/javascript")


@login_not_required
@require_safe
@gzip_page
def label_style(request: HttpRequest, digest: str) -> HttpResponse:
    """What every page looks like, and the labelling page."""
    return _respond(get_style(), digest, "text/css")


def _respond(joined: Joined, digest: str, content_type: str) -> HttpResponse:
    """A page from before an update gets the newest too, but must not keep it under the old name."""
    if not DIGEST.fullmatch(digest):
        raise NotFound("digest")
    response = HttpResponse(joined.text, content_type=f"{content_type}; charset=utf-8")
    response["Cache-Control"] = FOR_EVER if digest == joined.digest else "no-store"
    return response


def _find(name: str) -> Path:
    result = finders.find(name)
    assert result is not None
    return Path(result)


def _changed_at(*files: Path) -> int:
    return max(file.stat().st_mtime_ns for file in files)


@lru_cache(maxsize=len(settings.LANGUAGES))
def _script(everywhere: Path, directory: Path, changed_at: int, language: str) -> Joined:
    """changed_at: when a file was changed last; it makes the cache forget."""
    del changed_at
    sources = _sources(directory)
    sources["app"] = everywhere.read_text(encoding="utf-8")
    own = joined_modules(sources, ENTRY, translation(language))
    return _joined(f"{joined_modules(sources, 'app')}\n{own}")


@lru_cache(maxsize=1)
def _first_script(directory: Path, changed_at: int) -> Joined:
    del changed_at
    return _joined(joined_modules(_sources(directory), FIRST))


@lru_cache(maxsize=1)
def _style(files: tuple[Path, ...], changed_at: int) -> Joined:
    del changed_at
    return _joined(joined_styles(file.read_text(encoding="utf-8") for file in files))


def _sources(directory: Path) -> dict[str, str]:
    return {file.stem: file.read_text(encoding="utf-8") for file in directory.glob("*.js")}


def _joined(text: str) -> Joined:
    return Joined(hashlib.sha256(text.encode()).hexdigest()[:16], text)
