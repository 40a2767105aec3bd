"""No text of a translated page stays in English, and the finders that say so find."""

from pathlib import Path

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from judgments.pages.languages import IS_TRANSLATED
from tests.texts.sources import PYTHON, ROOT, SCRIPTS, WORDS_OF_QUERIES, list_files, list_templates
from tests.texts.unmarked_code import find_unmarked_in_python, find_unmarked_in_script
from tests.texts.unmarked_templates import find_unmarked

SCRIPT_FILES = [file for file in list_files(SCRIPTS) if file.name != WORDS_OF_QUERIES]


def name_of(file: Path) -> str:
    return file.name


@pytest.mark.parametrize("file", list_templates(), ids=name_of)
def test_a_template_has_no_text_without_a_mark(file: Path) -> None:
    assert find_unmarked(file.read_text()) == []


@pytest.mark.parametrize("file", list_files(PYTHON), ids=str)
def test_a_module_has_no_text_without_a_mark(file: Path) -> None:
    assert find_unmarked_in_python(file.read_text()) == []


@pytest.mark.parametrize("file", SCRIPT_FILES, ids=name_of)
def test_a_script_has_no_text_without_a_mark(file: Path) -> None:
    assert find_unmarked_in_script(file.read_text()) == []


def test_every_template_that_translated_pages_include_is_looked_at() -> None:
    known = set(list_templates())
    included = {
        ROOT / "templates" / name.split('"')[0]
        for file in known
        for name in file.read_text().split('{% include "')[1:]
    }
    assert included <= known


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Undo</p>", ["Undo"]),
        ('<p>{% translate "Undo" %}</p>', []),
        ("<p>{{ done }} of {{ all }}</p>", ["of"]),
        ("<p>{% blocktranslate %}{{ done }} of {{ all }}{% endblocktranslate %}</p>", []),
        ("<p>{% if a %}Yes{% else %}{{ b }}{% endif %}</p>", ["Yes"]),
        ('<input placeholder="Search">', ['placeholder="Search"']),
        ('<input placeholder="{% if a %}Search{% endif %}">', ['placeholder="Search"']),
        ('<input placeholder="{% translate "Search" %}" class="wide field">', []),
        ('{{ title|default:"Untitled" }}', ['"Untitled"']),
        ('{{ title|default:_("Untitled") }}', []),
        ('{% include "a.html" with title="Nothing yet" only %}', ['"Nothing yet"']),
        ('{% include "a.html" with title=_("Nothing yet") icon="inbox" only %}', []),
        ('{% badge "new" "info" %}', ['"new"']),
        ('{% badge _("new") "info" %}', []),
        ("{% comment %}What it is.{% endcomment %}<kbd>Esc</kbd><code>run.sh now</code>", []),
        ("{% block page_class %}narrow{% endblock %}", []),
    ],
)
def test_the_finder_of_templates_finds(source: str, found: list[str]) -> None:
    assert find_unmarked(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('raise Refused("taken", "This name is taken.")', ["This name is taken."]),
        ('raise LabelRefused("taken", "This name is taken.")', []),
        ('words = gettext("This name is taken.")', []),
        ('words = f"{count} labels were removed"', [" labels were removed"]),
        ('REASONS = (("unsure", "Other"),)', ["Other"]),
        ('def f() -> "Page[Row]":\n    """Say it. Or not."""', []),
        ('name = "grade_unknown"', []),
    ],
)
def test_the_finder_of_python_finds(source: str, found: list[str]) -> None:
    assert find_unmarked_in_python(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('toast("Query skipped.");', ["Query skipped."]),
        ('toast(gettext("Query skipped."), "warn");', []),
        ("toast(`${count} not accepted`);", [" not accepted"]),
        ('toast(format(gettext("{count} not accepted"), { count }));', []),
        ('const text = ngettext("{n} label here", "{n} labels here", n);', []),
        ('throw new Error("the page has no part");', []),
        ('x = isDone ? "Yes" : gettext("No");', ["Yes"]),
        ('button.className = "button primary";', []),
    ],
)
def test_the_finder_of_scripts_finds(source: str, found: list[str]) -> None:
    assert find_unmarked_in_script(source) == found


def views(patterns: list[URLPattern | URLResolver]) -> list[URLPattern]:
    return [
        one
        for pattern in patterns
        for one in (views(pattern.url_patterns) if isinstance(pattern, URLResolver) else [pattern])
    ]


def test_every_page_of_an_annotator_is_translated() -> None:
    """What lies under label/, and the pages of an account that an annotator meets."""
    own = {"home", "login", "invitation", "language", "my-campaigns"}
    own |= {"password", "password-forgotten", "password-reset"}
    own |= {"sessions", "session-end", "sessions-end"}
    own |= {"kept"}
    own |= {"sign-in-key", "security-key-add"}
    own |= {"sign-in-code", "second-factor", "second-factor-begin", "second-factor-change"}
    own |= {"notices", "notice-open", "message-settings", "message-address", "address-confirm"}
    files = {"label-script", "label-first", "label-style", "label-picture"}
    found = {
        str(view.name)
        for view in views(get_resolver().url_patterns)
        if getattr(view.callback, IS_TRANSLATED, False) and not str(view.name).startswith("api-")
    }
    expected = {
        str(view.name)
        for view in views(get_resolver().url_patterns)
        if str(view.pattern).startswith("label/") and view.name not in files
    }
    assert found == expected | own
