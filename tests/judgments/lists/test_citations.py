"""How a release is cited."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from judgments.lists.citations import Cited
from judgments.lists.services import release_version
from tests.builders import NOW, commit, make_access, make_world

CITED = Cited(
    collection="R&D {50%}",
    collection_slug="books",
    list_name="Main_list",
    list_slug="main",
    release="spring",
    version=3,
    sha256="ab" * 32,
    released_at=datetime(2026, 3, 14, tzinfo=UTC),
    url="https://touchstone.example/c/books/lists/main/versions/spring",
)


def test_a_citation_names_the_release_its_address_and_its_digest() -> None:
    assert CITED.plain == (
        "R&D {50%}: Main_list, release spring (version 3, 2026-03-14). Relevance judgments. "
        f"https://touchstone.example/c/books/lists/main/versions/spring. SHA-256 {'ab' * 32}."
    )


def test_bibtex_escapes_what_latex_would_take_for_its_own() -> None:
    lines = CITED.bibtex.splitlines()
    assert lines[0] == "@misc{books-main-spring,"
    assert lines[1] == r"  title = {{R\&D \{50\%\}: Main\_list, release spring}},"
    assert r"\url{https://touchstone.example/c/books/lists/main/versions/spring}" in lines[3]
    assert CITED.bibtex.count("{") == CITED.bibtex.count("}")


@pytest.mark.django_db
def test_the_page_of_a_release_says_how_to_cite_it(client) -> None:
    world = make_world()
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    release_version(
        access=make_access(collection=world.collection),
        at=NOW,
        judgment_list=world.judgments,
        number=1,
        name="spring",
    )
    client.force_login(world.dora)
    page = client.get(reverse("version", args=["books", "main", "spring"])).content.decode()
    assert "@misc{books-main-spring," in page
    assert "http://testserver/c/books/lists/main/versions/spring" in page
