"""Below the views an answer holds numbers, names and codes: pages and REST make their own of it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("annotation", "evaluation", "judgments")
# made for pages and REST: they may write addresses and sentences
OUTERMOST = (
    *("views", "api", "urls", "forms", "bodies", "rendering", "finding", "overview"),
    *("middleware", "parts", "adapters"),
)
OUTSIDE = {"management", "migrations", "templatetags"}
# what pages and REST share: places of `judgments`
SHARED = {("judgments", "pages"), ("judgments", "rest")}
PAGE_MAKERS = (
    "django.contrib.messages",
    "django.http.HttpRequest",
    "django.http.HttpResponse",
    "django.shortcuts",
    "django.template",
    "django.urls",
    "django.utils.html",
    "django.utils.safestring",
)
# a session is a matter of the request
OF_SESSIONS = {
    "judgments/accounts/confirmation.py",
    "judgments/accounts/sign_in_log.py",
    "judgments/accounts/signing_in.py",
}
OF_A_PAGE = {"address", "href", "sentence", "sentences", "url", "urls"}
# the address that a document has in its collection, and the one that a paper cites
IN_THE_FACTS = {
    ("annotation/labelling/shown_pairs.py", "url"),
    # of an endpoint of a model, and of a document
    ("annotation/machine_judges/configuration.py", "url"),
    ("annotation/machine_judges/prompts.py", "url"),
    # of a data set
    ("evaluation/data_sets/places.py", "address"),
    # of a search engine, and of a document in its answer
    ("evaluation/live_rankers/configuration.py", "url"),
    ("evaluation/live_rankers/mapping.py", "url"),
    ("evaluation/live_rankers/presets.py", "url"),
    ("judgments/lists/citations.py", "url"),
    # where events are sent
    ("judgments/webhooks/queries.py", "url"),
}


def modules(app: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules below the views, by their paths."""
    for path in sorted((ROOT / app).rglob("*.py")):
        place = path.relative_to(ROOT)
        if place.parts[:2] in SHARED:
            continue
        if OUTSIDE.isdisjoint(place.parts) and path.stem.split("_")[-1] not in OUTERMOST:
            yield str(place), ast.parse(path.read_text())


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


@pytest.mark.parametrize("app", APPS)
def test_nothing_below_the_views_makes_pages_or_addresses(app: str) -> None:
    found = {
        (place, name)
        for place, tree in modules(app)
        for name in imported(tree)
        if name.startswith(PAGE_MAKERS)
        and not (place in OF_SESSIONS and name == "django.http.HttpRequest")
    }
    assert found == set()


@pytest.mark.parametrize("app", APPS)
def test_no_answer_has_a_field_for_an_address_or_a_sentence(app: str) -> None:
    found = {
        (place, field.target.id)
        for place, tree in modules(app)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if field.target.id in OF_A_PAGE or field.target.id.endswith(("_url", "_href"))
    }
    assert found - IN_THE_FACTS == set()
