"""While an import is written in parts every address reads the same as before, and none commits."""

import ast
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from annotation.adjudication.pairs import get_pair_page
from annotation.changed_documents.queries import (
    changed_judgments,
    count_changed,
    get_changed_page,
)
from annotation.consolidation.services import approve, consolidate
from annotation.dashboards.approvals import count_waiting
from annotation.gold.adding import _list_grades
from annotation.gold.services import mark_gold
from annotation.machine_judges.sources import _list_gold
from annotation.models import Campaign
from evaluation.samples.drawn import last_touched
from judgments.collections.query_metadata_services import _ever_judged
from judgments.collections.services import load_documents
from judgments.content.queries import get_document_page
from judgments.models import Judgment, JudgmentList
from judgments.samples.origins import get_origins
from tests.architecture.asking import ROWS, ask, client_of, undone
from tests.builders import NOW, World, commit, make_access, make_list
from tests.builders_annotation import label, make_campaign
from tests.judgments.samples.builders import make_sample
from tests.permissions.table import ROLES, Row
from touchstone.files.collections import DocumentRecord
from touchstone.measures.traits import Traits

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

ROOT = Path(__file__).resolve().parents[2]
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


BOUNDS = (
    "at_head",
    "up_to_head",
    "since__lte",
    "since__in",
    "since__gt",
    "version.number",
    "none()",
)
UNBOUNDED = {
    "_given_back": "under the list's lock, which no one has meanwhile",
    "_set_aside": "under the list's lock",
    "changed_judgments": "filters by at_head below",
    "taken_out": "those that ended in versions that are made",
    "last_touched": "filters by version below",
}


def queries_of(path: Path) -> Iterator[str]:
    """The statements of a module that query judgments, but for the functions above."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef) and function.name not in UNBOUNDED:
            for statement in ast.walk(function):
                if isinstance(statement, ast.Assign | ast.Return | ast.Expr):
                    yield ast.unparse(statement)


def test_every_query_of_judgments_says_up_to_which_version() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {source}"
        for app in ("annotation", "config", "evaluation", "judgments")
        for path in sorted((ROOT / app).rglob("*.py"))
        if "Judgment.objects" in path.read_text() and "migrations" not in path.parts
        for source in queries_of(path)
        if "Judgment.objects" in source and not any(one in source for one in BOUNDS)
    ]
    assert wrong == []


def test_what_few_pages_show_is_read_up_to_the_head_too(world: World) -> None:
    """With labels on changed documents, gold, a sample, and grades that wait for approval."""
    ada, list_id = make_access(collection=world.collection), world.judgments.pk
    commit(
        judgment_list=world.judgments, grades={(q, world.documents[1]): 2 for q in world.queries}
    )
    other = make_list(collection=world.collection, slug="other")
    commit(judgment_list=other, grades={(world.queries[0], world.documents[0]): 1})
    plan = make_sample(world=world)
    campaign = make_campaign(world=world, overlap=1, commit=Campaign.Commit.APPROVAL)
    pairs = campaign.pairs.select_related("campaign__list", "list").order_by("pk")
    for pair in pairs[:4]:
        label(pair=pair, username="ben", grade=2)
    consolidate(list_id=list_id, at=NOW)
    approve(access=ada, campaign=campaign, at=NOW)
    label(pair=pairs[4], username="ben", grade=1)
    consolidate(list_id=list_id, at=NOW + timedelta(hours=1))
    mark_gold(access=ada, pair=pairs[5], low=2, high=2, reason="", at=NOW)
    record = DocumentRecord(
        doc_id=world.documents[0].docid, title="", text="Another.", url="", fields={}, line=1
    )
    load_documents(collection=world.collection, records=[record], by=None, at=NOW)

    def read() -> dict[str, Any]:
        cache.clear()
        own = JudgmentList.objects.get(pk=list_id)
        document = get_document_page(
            access=ada, docid=world.documents[0].docid, list_slug="main", version="", page=""
        )
        return {
            "changed": (count_changed(own), changed_judgments(own).count()),
            "changed rows": list(get_changed_page(access=ada, slug="main", page="").rows),
            "origins": get_origins(judgment_list=own),
            "waiting": count_waiting(campaign),
            "gold": (_list_gold(list_id), _list_grades(own)),
            "touched": last_touched(plan),
            "holdings": [
                get_pair_page(access=ada, pair_id=pk).judgments
                for pk in campaign.pairs.values_list("pk", flat=True)
            ],
            "others": document.others,
        }

    before = read()
    assert before["changed"][0]
    assert before["waiting"]
    assert before["gold"][0]
    assert before["others"]
    written = write_half()
    assert read() == before
    # a query that only the unfinished import has judged makes no version of its list
    assert not _ever_judged(other, {world.queries[1].pk: Traits("tail", 1.0)})
    assert _ever_judged(other, {world.queries[0].pk: Traits("tail", 1.0)})
    assert beyond_head() == written
