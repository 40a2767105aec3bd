"""The sizes of tables and indexes, on both databases, as a page and as a command."""

import json

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from config.database.queries import list_table_sizes
from judgments.models import Document
from tests.builders import make_user, make_world
from tests.judgments.management.test_commands import run

pytestmark = pytest.mark.django_db


def test_every_table_has_its_size_and_its_indexes() -> None:
    tables = list_table_sizes()
    by_name = {table.name: table for table in tables}
    assert {model._meta.db_table for model in apps.get_models()} <= by_name.keys()
    judgments = by_name["judgments_judgment"]
    named = {"judgment_current_once", "judgment_since", "judgment_until"}
    assert named < judgments.indexes.keys()
    assert all(table.total == table.size + sum(table.indexes.values()) for table in tables)
    totals = [table.total for table in tables]
    assert totals == sorted(totals, reverse=True)


def test_a_table_that_grows_is_larger() -> None:
    def size() -> int:
        return next(one.size for one in list_table_sizes() if one.name == "judgments_document")

    world = make_world()
    before, body = size(), "".join(chr(33 + number % 90) for number in range(1_000))
    # all that the table had on disk may be room that deleted rows left
    for portion in range(2 + before // 300_000):
        Document.objects.bulk_create(
            Document(collection=world.collection, docid=f"long-{portion}-{number}", body=body)
            for number in range(300)
        )
    assert size() - before > 200_000


def test_the_page_and_the_command_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "database_sizes", "--json")
    said = json.loads(out)
    assert status == 0
    tables = said["tables"]
    assert said["total"] == sum(one["size"] + sum(one["indexes"].values()) for one in tables)
    client = Client()
    client.force_login(make_user(username="root", is_superuser=True))
    page = client.get(reverse("database-sizes"))
    assert {one.name for one in page.context["tables"]} == {one["name"] for one in tables}
    assert 'data-table="judgments_judgment"' in page.text
    assert reverse("database-sizes") in client.get(reverse("accounts")).text
    lines = [line.split("\t") for line in run(capsys, "database_sizes")[1].splitlines()]
    assert lines[-1][0] == "total"
    assert int(lines[-1][1]) == sum(int(size) for _, size in lines[:-1])
