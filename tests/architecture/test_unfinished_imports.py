"""While an import is written in parts every address reads the same as before, and none commits."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from judgments.models import Judgment, JudgmentList
from tests.architecture.asking import ROWS, ask, client_of, undone
from tests.builders import World
from tests.permissions.table import ROLES, Row

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

# different at every answer
CHANCE = re.compile(
    rb'csrf(?:middleware)?[^>]*value="[^"]*"|nonce="[^"]*"|X-CSRFToken[^}]*|content="[A-Za-z0-9]{64}"'
    rb"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d\d:\d\d:\d\d(?:\.\d+)?"
)


def write_half() -> dict[int, set[tuple[Any, ...]]]:
    """Rows of every list's next version, as an import leaves them before it makes the version.

    Each judgment ends and begins again with another grade, and each other pair gets one.
    """
    for own in JudgmentList.objects.all():
        codes = [grade["code"] for grade in own.scale]
        held = Judgment.objects.filter(list=own, until=None)
        grades = {(q, d): g for q, d, g in held.values_list("query", "document", "grade")}
        held.update(until=own.head + 1)
        Judgment.objects.bulk_create(
            Judgment(
                list=own,
                query_id=query,
                document_id=document,
                grade=codes[
                    (codes.index(grades.get((query, document), codes[0])) + 1) % len(codes)
                ],
                since=own.head + 1,
            )
            for query in own.collection.queries.values_list("pk", flat=True)
            for document in own.collection.documents.values_list("pk", flat=True)
        )
    JudgmentList.objects.update(unfinished=uuid4(), unfinished_at=timezone.now())
    return beyond_head()


def beyond_head() -> dict[int, set[tuple[Any, ...]]]:
    """By list, its head and all rows."""
    columns = ("query", "document", "grade", "since", "until")
    return {
        own.pk: {(own.head,), *Judgment.objects.filter(list=own).values_list(*columns)}
        for own in JudgmentList.objects.all()
    }


def role_for(row: Row) -> str:
    """The first that is not refused; a lead, if one is as good."""
    return min(ROLES, key=lambda role: (getattr(row, role), role != "lead"))


def answer(world: World, row: Row, arguments: dict[str, Any]) -> Any:
    cache.clear()
    client = client_of(world, role_for(row))
    with transaction.atomic():
        response = ask(client, row, arguments)
        body = b"".join(response) if response.streaming else response.content
        transaction.set_rollback(True)
    return response.status_code, CHANCE.sub(b"", body)


def test_every_page_and_address_reads_the_same(world: World) -> None:
    wrong = []
    for row in ROWS:
        if row.method != "get":
            continue
        with undone(world):
            arguments = row.path(world)
            before, again = answer(world, row, arguments), answer(world, row, arguments)
            if before != again:
                continue  # it is another at each look
            write_half()
            if answer(world, row, arguments) != before:
                wrong.append(str(row))
    assert wrong == []


def test_nothing_that_is_sent_commits_or_fails(world: World) -> None:
    wrong = []
    for row in ROWS:
        if row.method == "get":
            continue
        with undone(world):
            arguments = row.path(world)
            written = write_half()
            cache.clear()
            with transaction.atomic():
                status = ask(client_of(world, role_for(row)), row, arguments).status_code
                changed = {
                    pk for pk, own in beyond_head().items() if pk in written and own != written[pk]
                }
                transaction.set_rollback(True)
            # 200: a form that says why it can't be done now
            if changed or status not in (getattr(row, role_for(row)), 200, 409):
                wrong.append(f"{row}: {status} {changed}")
    assert wrong == []
