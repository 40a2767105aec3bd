"""Every row of the permission table, asked as anyone."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.builders import World, make_user
from tests.permissions.table import Row

TABLE = Path(__file__).resolve().parents[1] / "permissions"
APPS = sorted(path.stem for path in TABLE.glob("*.py") if path.stem != "table")
ROWS: list[Row] = [row for app in APPS for row in import_module(f"tests.permissions.{app}").ROWS]
BACKEND = "django.contrib.auth.backends.ModelBackend"
PEOPLE = {"annotator": "ben", "researcher": "dora", "lead": "ada", "stranger": "eve"}


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


@contextmanager
def undone(world: World) -> Iterator[None]:
    """What happens within leaves nothing behind."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    for row in (world.collection, world.judgments):
        row.refresh_from_db()
