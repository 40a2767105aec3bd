"""Every address × every role, from the table in tests/permissions; none may be missing."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from judgments.models import Membership
from tests.builders import World, make_user, make_world
from tests.permissions.table import ROLES, Row

TABLE = Path(__file__).resolve().parents[1] / "permissions"
APPS = sorted(path.stem for path in TABLE.glob("*.py") if path.stem != "table")
ROWS: list[Row] = [row for app in APPS for row in import_module(f"tests.permissions.{app}").ROWS]
BACKEND = "django.contrib.auth.backends.ModelBackend"
PEOPLE = {"annotator": "ben", "researcher": "dora", "lead": "ada", "stranger": "eve"}


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


@pytest.fixture
def world(settings, tmp_path) -> World:
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    return make_world()


def client_of(world: World, role: str) -> Client:
    client = Client()
    if role == "admin":
        client.force_login(make_user(username="root", is_superuser=True), backend=BACKEND)
    elif role != "anonymous":
        client.force_login(getattr(world, PEOPLE[role]), backend=BACKEND)
    return client


def ask(client: Client, row: Row, arguments: dict[str, Any]) -> Any:
    url = reverse(row.name, kwargs=arguments) + (f"?{row.query}" if row.query else "")
    data = {
        key: SimpleUploadedFile("file", value) if isinstance(value, bytes) else value
        for key, value in row.data.items()
    }
    if row.content_type:
        return getattr(client, row.method)(url, data, content_type=row.content_type)
    return getattr(client, row.method)(url, data)


@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_table_holds(world, row, role):
    response = ask(client_of(world, role), row, row.path(world))
    assert response.status_code == getattr(row, role)


@pytest.mark.django_db
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_does_not_exist_is_not_found_even_for_an_admin(world, row):
    arguments = row.path(world)
    client = client_of(world, "admin")
    for name, value in arguments.items():
        missing = {str: "no-such", int: 999_999, UUID: UUID(int=0)}[type(value)]
        response = ask(client, row, arguments | {name: missing})
        assert response.status_code in (404, 405), name


@pytest.mark.django_db
def test_whoever_left_is_a_stranger(world):
    Membership.objects.filter(user=world.dora).update(ended_at="2026-03-15T00:00:00Z")
    client = client_of(world, "researcher")
    assert client.get(reverse("queries", args=[world.collection.slug])).status_code == 404
