"""Collections, and what is loaded into them."""

import io

import nh3
import pytest

from judgments.collections.content_hash import content_hash
from judgments.collections.queries import (
    find_documents,
    list_document_ids,
    list_query_ids,
    map_documents,
    map_queries,
)
from judgments.collections.services import (
    CollectionRefused,
    Loaded,
    create_collection,
    ensure_documents,
    ensure_queries,
    load_documents,
    load_queries,
)
from judgments.models import AuditEntry, Collection, Document, Membership, Query
from tests.builders import NOW, make_collection, make_user
from touchstone.files.collections import DocumentRecord, read_documents, read_queries
from touchstone.files.errors import FileRefused
from touchstone.files.id_columns import IdColumn

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    return make_collection(cast=False)


def queries(collection, text):
    records = read_queries(io.BytesIO(text.encode()), name="queries")
    return load_queries(collection=collection, records=records, by=None, at=NOW)


def documents(collection, text):
    records = read_documents(io.BytesIO(text.encode()), name="documents")
    return load_documents(collection=collection, records=records, by=None, at=NOW)


def test_whoever_creates_a_collection_leads_it():
    ada = make_user(username="ada")
    made = create_collection(by=ada, at=NOW, slug="films", name="", description=" seen ")
    assert (made.name, made.description) == ("films", "seen")
    assert Membership.objects.get(collection=made).role == "lead"
    assert AuditEntry.objects.get().action == "collection.created"


@pytest.mark.parametrize("slug", ["", "Films", "a b", "-a", "a-", "a" * 65, "ä", "books"])
def test_a_slug_that_is_taken_or_malformed_is_refused(collection, slug):
    with pytest.raises(CollectionRefused):
        create_collection(by=None, at=NOW, slug=slug, name="x")
    assert Collection.objects.count() == 1


def test_queries_are_added_updated_and_left_alone(collection):
    assert queries(collection, "a\tone\nb\ttwo\n") == Loaded(added=2)
    assert queries(collection, "a\tone\nb\tTWO\nc\tthree\n") == Loaded(1, 1, 1)
    assert dict(Query.objects.values_list("qid", "text")) == {"a": "one", "b": "TWO", "c": "three"}


def test_the_same_file_again_changes_nothing(collection):
    text = '{"id": "d", "title": "T", "text": "B", "url": "u", "price": 3, "tags": ["x"]}\n'
    documents(collection, text)
    before = Document.objects.values().get()
    assert documents(collection, text) == Loaded(unchanged=1)
    assert Document.objects.values().get() == before
    assert before["fields"] == {"price": 3, "tags": ["x"]}
    assert before["content_hash"] == content_hash("T", "B", before["fields"], "u")


def test_stubs_are_filled_and_keep_their_pk(collection):
    (stub,) = ensure_documents(collection=collection, docids=IdColumn.of(["d"])).tolist()
    asked = ensure_queries(collection=collection, qids=["q"])["q"]
    assert documents(collection, '{"id": "d", "text": ""}\n') == Loaded(changed=1)
    assert queries(collection, "q\twhat\n") == Loaded(changed=1)
    assert Document.objects.values_list("pk", "is_stub").get() == (stub, False)
    assert Query.objects.values_list("pk", "is_stub", "text").get() == (asked, False, "what")


def test_stubs_leave_alone_what_is_known(collection):
    queries(collection, "q\twhat\n")
    made = ensure_queries(collection=collection, qids=["q", "r", "r"])
    assert made == map_queries(collection=collection)
    assert Query.objects.get(qid="q").text == "what"
    assert ensure_queries(collection=collection, qids=[]) == {}


def test_a_broken_line_leaves_nothing_of_the_file(collection):
    lines = "".join(f"q{n}\ttext\n" for n in range(5000))
    with pytest.raises(FileRefused):
        queries(collection, lines + "broken\n")
    assert not Query.objects.exists()
    assert not AuditEntry.objects.filter(action="queries.loaded").exists()


def test_ids_are_of_one_collection(collection):
    other = make_collection(slug="films", cast=False)
    wanted = IdColumn.of(["e", "d"])
    assert find_documents(collection=collection, docids=wanted).tolist() == [0, 0]
    mine = ensure_documents(collection=collection, docids=wanted).tolist()
    (theirs,) = ensure_documents(collection=other, docids=IdColumn.of(["d"])).tolist()
    assert theirs not in mine
    assert find_documents(collection=other, docids=wanted).tolist() == [0, theirs]
    assert map_documents(collection=other) == {"d": theirs}
    assert map_documents(collection=collection, docids=["e", "none"]) == {"e": mine[0]}
    ids = [*mine, theirs]
    assert list_document_ids(collection=other, pks=ids) == {theirs: "d"}
    assert list_query_ids(collection=other, pks=ids) == {}


@pytest.mark.parametrize("odd", ["ü", "a'b", 'a"b', "a,b", "x{a}", "a\\b", "NULL", "日本", "𝄞"])
def test_odd_ids_come_back_as_they_were(collection, odd):
    (made,) = ensure_documents(collection=collection, docids=IdColumn.of([odd])).tolist()
    assert map_documents(collection=collection, docids=[odd]) == {odd: made}
    assert documents(collection, f"{odd}\ttext\n") == Loaded(changed=1)
    assert Document.objects.get().docid == odd


def test_a_documents_html_is_cleaned_when_it_is_stored_and_again_only_when_it_differs(
    collection, monkeypatch
):
    def load(html: str) -> Loaded:
        record = DocumentRecord(doc_id="d1", fields={"html": html}, line=1)
        return load_documents(collection=collection, records=[record], by=None, at=NOW)

    load("<p onclick=x>one")
    one = Document.objects.get()
    assert one.clean_html == "<p>one</p>"
    assert one.content_hash == content_hash("", "", {"html": "<p onclick=x>one"})
    with monkeypatch.context() as patched:
        patched.delattr(nh3, "clean")  # what is unchanged is not cleaned again
        assert load("<p onclick=x>one").unchanged == 1
    load("<p onclick=x>two")
    assert Document.objects.get().clean_html == "<p>two</p>"
