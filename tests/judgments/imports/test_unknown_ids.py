"""Which queries and documents an import of judgments does not know, by line."""

import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judgments.imports.services import import_qrels
from judgments.models import Document, Judgment
from tests.builders import NOW, make_world
from touchstone.files.errors import FileRefused
from touchstone.files.trec import read_qrels

pytestmark = pytest.mark.django_db


def test_unknown_ids_are_named_once_each_with_the_line_where_they_come_first() -> None:
    world = make_world(queries=2, documents=1)
    (one, two), (known,) = world.queries, world.documents
    lines = [
        f"{one.qid} 0 z-new 1",
        f"{two.qid} 0 {known.docid} 1",
        "q-new 0 a-new 1",
        f"{one.qid} 0 a-new 1",
        f"{two.qid} 0 z-new 0",
        "q-new 0 日本 2",
    ]
    qrels = read_qrels(io.BytesIO("\n".join(lines).encode()), name="some.qrels")
    with pytest.raises(FileRefused) as refused:
        import_qrels(
            judgment_list=world.judgments, qrels=qrels, create=False, by=None, at=NOW, reason=""
        )
    assert refused.value.total == 4
    assert [(one.line, one.rule, one.message.split()[-1]) for one in refused.value.problems] == [
        (1, "unknown-document", "z-new."),
        (3, "unknown-query", "q-new."),
        (3, "unknown-document", "a-new."),
        (6, "unknown-document", "日本."),
    ]


def test_stubs_of_a_file_get_its_grades() -> None:
    world = make_world(queries=1, documents=2)
    documents = [world.documents[1].docid, "z-new", "a-new", "x" * 199]
    text = "".join(f"{query} 0 {one} 2\n" for query in ("q-new", "q1") for one in documents)
    qrels = read_qrels(io.BytesIO(text.encode()), name="some.qrels")
    with CaptureQueriesContext(connection) as asked:
        done = import_qrels(
            judgment_list=world.judgments, qrels=qrels, create=True, by=None, at=NOW, reason=""
        )
    # after one, SQLite keeps every page that changes in memory
    assert not [one["sql"] for one in asked if one["sql"].startswith("SAVEPOINT")]
    assert (done.pairs, done.new_documents) == (8, 3)
    stored = Judgment.objects.values_list("query__qid", "document__docid", "grade")
    assert sorted(stored) == sorted((q, d, 2) for q in ("q-new", "q1") for d in documents)
    assert Document.objects.filter(is_stub=True).count() == 3
