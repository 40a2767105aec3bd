"""Templates and scripts do nothing that the Content Security Policy forbids; all compile."""

import re
from pathlib import Path

import pytest
from django.template.loader import get_template

from judgments.templatetags import touchstone

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static").rglob("*.js"))
STYLES = sorted((ROOT / "static").rglob("*.css"))
GUIDE = (ROOT / "docs" / "look.md").read_text()

FORBIDDEN_HTML = {
    "inline style attribute": r"<[^>]*\sstyle\s*=",
    "style element": r"<style\b",
    "script without src": r"<script\b(?![^>]*\ssrc=)",
    "script with a body": r"<script\b[^>]*>\s*[^\s<]",
    "event attribute": r"<[^>]*\son[a-z]+\s*=",
    "htmx code attribute": r"<[^>]*\s(hx-on|hx-vars|hx-vals=.js:|hx-headers=.js:)",
    "asset of another host": r"<(script|link|img|iframe|source|use|image|object|embed|form)\b[^>]*"
    r"\s(src|href|srcset|data|action)\s*=\s*[\"']?\s*(https?:)?//",
    "javascript: address": r"javascript:",
}
FORBIDDEN_JS = {
    "evaluated code": r"\beval\(|new Function\(|set(Timeout|Interval)\(\s*[\"'`]",
    "markup from text": r"\.(inner|outer)HTML\s*=|insertAdjacentHTML|document\.write",
    "style attribute": r"setAttribute\(\s*[\"']style",
    "other host": r"(from|import|fetch)\s*\(?\s*[\"'`](https?:)?//",
    "the frame's own module": r"import[^;]*app\.js",
}


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def without_template_code(text: str) -> str:
    """The markup alone: `{% … %}`, `{{ … }}` and comments blanked, lines kept."""
    return re.sub(
        r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<!--.*?-->",
        lambda match: "x" + "\n" * match[0].count("\n"),
        text,
        flags=re.DOTALL,
    )


def violations(text: str, rules: dict[str, str]) -> list[str]:
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {rule}"
        for rule, pattern in rules.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("file", TEMPLATES, ids=name_of)
def test_a_template_has_nothing_that_the_policy_forbids(file: Path) -> None:
    assert violations(without_template_code(file.read_text()), FORBIDDEN_HTML) == []


@pytest.mark.parametrize("file", SCRIPTS, ids=name_of)
def test_a_script_neither_evaluates_nor_builds_markup_from_text(file: Path) -> None:
    assert violations(file.read_text(), FORBIDDEN_JS) == []


@pytest.mark.parametrize("file", STYLES, ids=name_of)
def test_a_stylesheet_loads_nothing(file: Path) -> None:
    assert violations(file.read_text(), {"loaded file": r"@import|url\("}) == []


@pytest.mark.parametrize("file", TEMPLATES, ids=name_of)
def test_a_template_compiles_and_its_icons_exist(file: Path) -> None:
    get_template(str(file.relative_to(ROOT / "templates")))
    text = file.read_text()
    for name, size in re.findall(r'\{% icon "([^"]+)"(?: size=(\d+))?', text):
        assert touchstone.icon(name, size=int(size or 20))
    for name in re.findall(r'\bicon(?:=|\|default:)"([^"]+)"', text):
        assert touchstone.icon(name, size=20)
        assert touchstone.icon(name, size=32)


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        ('<p style="color: red">', "inline style attribute"),
        ("<p\n  STYLE = x>", "inline style attribute"),
        ("<style>p {}</style>", "style element"),
        ("<script>run()</script>", "script without src"),
        ('<script type="module" src="a.js">run()</script>', "script with a body"),
        ('<a onclick="run()">', "event attribute"),
        ('<a hx-on:click="run()">', "htmx code attribute"),
        ("<a hx-vals='js:{}'>", "htmx code attribute"),
        ('<img alt="" src="https://example.org/a.png">', "asset of another host"),
        ('<script src="//example.org/a.js"></script>', "asset of another host"),
        ('<a href="javascript:run()">', "javascript: address"),
    ],
)
def test_each_rule_catches_what_it_is_for(html: str, rule: str) -> None:
    assert f"line 1: {rule}" in violations(without_template_code(html), FORBIDDEN_HTML)


@pytest.mark.parametrize(
    "html",
    [
        '{% include "a.html" with onset=1 style="x" only %}',
        '<a class="x" href="https://example.org/">elsewhere</a>',
        '<script type="module" src="{% static "a.js" %}"></script>',
        "<button {% if x %}disabled{% endif %}>on = style</button>",
    ],
)
def test_what_is_allowed_passes(html: str) -> None:
    assert violations(without_template_code(html), FORBIDDEN_HTML) == []


def test_the_guide_shows_every_tag_filter_and_component() -> None:
    frame = {"theme_attribute", "components/topbar.html", "components/messages.html"}
    drawn_by_tags = {"components/pager.html"}
    names = set(touchstone.register.tags) | set(touchstone.register.filters)
    files = {f"components/{file.name}" for file in (ROOT / "templates/components").glob("*.html")}
    missing = {name for name in names | files if name not in GUIDE}
    assert missing - frame - drawn_by_tags == set()
