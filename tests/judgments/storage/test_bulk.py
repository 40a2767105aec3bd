"""Many rows in one statement: the same on both databases."""

import json

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from judgments.models import Document, Judgment, Query
from judgments.storage.bulk import Among, PlaceAmong, analyse, insert_ids, insert_rows
from judgments.versions.services import read_current
from tests.builders import commit, make_world

pytestmark = pytest.mark.django_db
FIELDS = [
    {},
    {"quotes": "\"both\" 'kinds'", "slash": "\\n \\\\", "braces": "{a,b} [1]"},
    {"deep": [{"null": None, "number": 0.1, "sign": "ü € 𝄞"}], "percent": "%s %%"},
]


def test_json_comes_as_it_was_given_and_in_its_place() -> None:
    collection = make_world().collection
    columns = (
        "collection_id",
        "docid",
        "title",
        "body",
        "url",
        "fields",
        "content_hash",
        "is_stub",
    )
    rows = [
        (collection.pk, f"j{place}", "", "", "", json.dumps(fields), "0" * 64, False)
        for place, fields in enumerate(FIELDS)
    ]
    insert_rows(Document, columns, rows)
    found = Document.objects.filter(docid__startswith="j").order_by("docid")
    assert list(found.values_list("docid", "fields")) == [
        (f"j{place}", fields) for place, fields in enumerate(FIELDS)
    ]


def test_ids_that_are_there_are_left_out_and_all_else_is_alike() -> None:
    collection = make_world(documents=1).collection
    odd = ['"', "\\", "é\U0001f600", "'", "%s", "{}", "d1"]
    others = {"collection_id": collection.pk, "title": "", "body": "b", "url": ""}
    others |= {"fields": json.dumps({"a": "%"}), "content_hash": "0" * 64, "is_stub": True}
    insert_ids(Document, "docid", odd, others)
    insert_ids(Document, "docid", odd, others)
    new = Document.objects.filter(is_stub=True).order_by("pk")
    assert sorted(new.values_list("docid", flat=True)) == sorted(odd[:-1])
    assert set(new.values_list("body", flat=True)) == {"b"}
    assert all(one.fields == {"a": "%"} for one in new)


def test_among_finds_and_changes_the_named_however_many_and_no_others() -> None:
    world = make_world(queries=3)
    first, second, third = (query.pk for query in world.queries)
    wanted = [first, third, *range(10**9, 10**9 + 70_000)]
    assert set(Query.objects.filter(Among("pk", wanted)).values_list("pk", flat=True)) == {
        first,
        third,
    }
    assert Query.objects.filter(Among("pk", wanted)).update(description="named") == 2
    assert [query.pk for query in Query.objects.exclude(description="named")] == [second]
    assert not Query.objects.filter(Among("pk", [])).exists()


def test_among_follows_a_column_that_points_elsewhere_and_other_conditions() -> None:
    world = make_world(queries=2, documents=2)
    grades = {(query, document): 1 for query in world.queries for document in world.documents}
    commit(judgment_list=world.judgments, grades=grades)
    (query, _), (document, _) = world.queries, world.documents
    found = Judgment.objects.filter(Among("query", [query.pk]), document=document)
    assert [(row.query_id, row.document_id) for row in found] == [(query.pk, document.pk)]


@pytest.mark.postgres
def test_a_few_judgments_are_looked_up_where_the_database_knows_nothing_of_the_list() -> None:
    world = make_world(queries=40, documents=50)
    grades = {(query, document): 1 for query in world.queries for document in world.documents}
    commit(judgment_list=world.judgments, grades=grades)
    pairs = [(query.pk, world.documents[0].pk) for query in world.queries[:3]]
    with CaptureQueriesContext(connection) as done:
        assert len(read_current(list_id=world.judgments.pk, pairs=pairs)) == 3
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + done[0]["sql"])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "rows=2000" not in plan, plan
    assert "loops=3" in plan, plan


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("tables", [(), (Document, Query)])
def test_postgresql_is_told_how_much_has_come_in_before_it_is_committed(tables) -> None:
    with connection.cursor() as cursor:
        with transaction.atomic():
            make_world(documents=5)
            analyse(*tables)
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'judgments_document'")
            assert cursor.fetchone() == (5,)
        # Else it takes the tables that were empty for empty in all tests that come after this one:
        # ten thousand judgments are then looked up by reading the whole list for each.
        cursor.execute("VACUUM")


def test_rows_are_numbered_as_their_ids_were_given() -> None:
    make_world()
    ids = list(Query.objects.order_by("-pk").values_list("pk", flat=True))
    Query.objects.filter(Among("pk", ids)).update(weight=7 + PlaceAmong("pk", ids))
    weights = [Query.objects.get(pk=pk).weight for pk in ids]
    assert weights == list(range(8, 8 + len(ids)))
