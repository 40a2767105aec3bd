"""Every address × every role, from the table in tests/permissions; none may be missing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from judgments.models import Membership
from tests.architecture.asking import ROWS, ask, client_of, undone
from tests.builders import make_collection
from tests.permissions.table import ROLES, Row

pytestmark = pytest.mark.first_pass  # who may do what does not depend on the database
METHODS = ("get", "post", "put", "patch", "delete")
REFUSED = (400, 404, 405, 415)
ASKED_ANYHOW = {"login": "signed-in users are redirected home, by any method"}


def names_of(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    """The name of every address below the patterns; its route where it has no name."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from names_of(pattern.url_patterns, route)
        else:
            yield pattern.name or route


def test_every_address_has_a_row():
    assert set(names_of(get_resolver().url_patterns)) - {row.name for row in ROWS} == set()


def test_no_row_is_of_an_address_that_is_gone():
    assert {row.name for row in ROWS} - set(names_of(get_resolver().url_patterns)) == set()


@pytest.mark.django_db
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_table_holds(world, row):
    path = row.path(world)
    found = {}
    for role in ROLES:
        with transaction.atomic():  # what one did is undone before the next one asks
            found[role] = ask(client_of(world, role), row, path).status_code
            transaction.set_rollback(True)
    assert found == {role: getattr(row, role) for role in ROLES}


@pytest.mark.django_db
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_does_not_exist_is_not_found_even_for_an_admin(world, row):
    arguments = row.path(world)
    client = client_of(world, "admin")
    for name, value in arguments.items():
        missing = {str: "no-such", int: 999_999, UUID: UUID(int=0)}[type(value)]
        response = ask(client, row, arguments | {name: missing})
        assert response.status_code in (404, 405), name


def one_row_each() -> list[Row]:
    """A row of each address."""
    return sorted({row.name: row for row in reversed(ROWS)}.values(), key=lambda row: row.name)


def is_refused(answer: Any, role: str) -> bool:
    """Whether nothing was done; no one in particular may also be sent to sign in."""
    if role == "anonymous" and answer.status_code == 302:
        return str(answer["Location"]).startswith(reverse("login"))
    refused = (*REFUSED, 401) if role == "anonymous" else REFUSED
    return answer.status_code in refused


@pytest.mark.django_db
def test_a_method_without_a_row_is_refused(world):
    told = {(row.name, row.method) for row in ROWS}
    clients = {role: client_of(world, role) for role in ROLES}
    taken = []
    for row in one_row_each():
        if row.name in ASKED_ANYHOW:
            continue
        others = [replace(row, method=m, data={}) for m in METHODS if (row.name, m) not in told]
        with undone(world):
            path = row.path(world)
            taken += [
                f"{role}: {other} {answer.status_code}"
                for other in others
                for role, client in clients.items()
                if not is_refused(answer := ask(client, other, path), role)
            ]
    assert "\n".join(taken) == ""


@pytest.mark.django_db
def test_what_is_in_one_collection_is_not_found_in_another(world):
    films = make_collection(slug="films", lead="eve", cast=False)
    client = client_of(world, "stranger")
    assert client.get(reverse("collection", args=[films.slug])).status_code == 200
    found = []
    for row in ROWS:
        with undone(world):
            path = row.path(world)
            if "slug" not in path or len(path) < 2:
                continue
            if ask(client, row, path | {"slug": films.slug}).status_code not in (404, 405):
                found.append(str(row))
    assert "\n".join(found) == ""


@pytest.mark.django_db
def test_whoever_left_is_a_stranger(world):
    Membership.objects.filter(user=world.dora).update(ended_at="2026-03-15T00:00:00Z")
    client = client_of(world, "researcher")
    assert client.get(reverse("queries", args=[world.collection.slug])).status_code == 404
