"""Collections over REST: making one, loading it, reading it back part by part."""

import json
from urllib.parse import urlencode

import pytest

from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Collection, Document, Job, Membership, Query
from judgments.rest import uploads
from tests.api.callers import (
    BOOKS,
    ROOT,
    by_session,
    by_token,
    gzipped,
    is_problem,
    post_file,
    post_json,
)
from tests.builders import make_collection, make_queries, make_user

DOCUMENTS = (
    '{"doc_id": "n/1", "title": "One", "text": "The text.", "url": "https://a.example/", "n": 1}\n'
    '{"_id": "ü 2", "text": "zwei"}\n'
).replace("ü 2", "ü2")


def test_one_sees_the_collections_one_is_in_and_ones_role(world):
    def seen(username: str) -> list[tuple[str, str]]:
        rows = by_token(username).get(f"{ROOT}collections/").json()["results"]
        return [(row["slug"], row["role"]) for row in rows]

    make_user(username="root", is_superuser=True)
    assert seen("ada") == [("books", "lead")]
    assert seen("ben") == [("books", "annotator")]
    assert seen("eve") == [("books-of-eve", "lead")]
    assert seen("root") == [("books", "admin"), ("books-of-eve", "admin")]
    make_user(username="new")
    assert seen("new") == []


def test_the_root_says_where_to_go_on(world):
    client = by_token("ben")
    body = client.get(ROOT).json()
    assert body["collections"] == "http://testserver/api/v1/collections/"
    assert client.get(body["collections"]).status_code == 200
    assert client.get(body["schema"]).status_code == 200


def test_whoever_makes_a_collection_leads_it(world):
    client = by_token("dora")
    made = post_json(client, f"{ROOT}collections/", {"slug": "shop", "name": "The shop"})
    assert made.status_code == 201
    assert made["Location"] == "/api/v1/collections/shop"
    assert client.get(made["Location"]).json() == made.json()
    assert made.json()["role"] == "lead"
    assert Membership.objects.get(collection__slug="shop").user == world.dora
    entry = AuditEntry.objects.filter(action="collection.created").latest("pk")
    assert (entry.subject, entry.actor) == ("shop", world.dora)


def test_a_collection_that_is_there_is_not_made_again(world):
    response = post_json(by_token("eve"), f"{ROOT}collections/", {"slug": "books"})
    is_problem(response, 422, "slug_taken")
    assert Collection.objects.get(slug="books").created_by == world.ada


def test_a_new_collection_has_no_other_fields(world):
    body = {"slug": "shop", "created_by": "dora", "id": 7}
    problem = is_problem(post_json(by_token("eve"), f"{ROOT}collections/", body), 400, "invalid")
    assert set(problem["errors"]) == {"created_by", "id"}


@pytest.mark.parametrize("kind", [*uploads.MEDIA_TYPES, "TEXT/Plain; charset=utf-8", ""])
@pytest.mark.parametrize("pack", [str.encode, gzipped])
def test_queries_are_loaded_from_a_body_whatever_it_is_called(world, kind, pack):
    response = post_file(by_token("ada"), f"{BOOKS}queries/", pack("a\tone\nb\ttwo\n"), kind)
    assert (response.status_code, response.json()) == (
        201,
        {"added": 2, "changed": 0, "unchanged": 0},
    )
    assert Query.objects.get(qid="b").text == "two"


def test_documents_are_loaded_from_jsonl_and_read_back(world):
    client = by_token("ada")
    assert post_file(client, f"{BOOKS}documents/", DOCUMENTS).json()["added"] == 2
    one = client.get(f"{BOOKS}documents/n/1").json()
    assert (one["doc_id"], one["title"], one["text"]) == ("n/1", "One", "The text.")
    assert (one["url"], one["fields"]) == ("https://a.example/", {"n": 1})
    assert one["content_hash"] == Document.objects.get(docid="n/1").content_hash
    assert client.get(f"{BOOKS}documents/ü2").json()["text"] == "zwei"


def test_the_same_file_again_changes_nothing_and_says_so(world):
    client = by_token("ada")
    post_file(client, f"{BOOKS}documents/", DOCUMENTS)
    again = post_file(client, f"{BOOKS}documents/", DOCUMENTS)
    assert (again.status_code, again.json()) == (200, {"added": 0, "changed": 0, "unchanged": 2})
    changed = post_file(client, f"{BOOKS}documents/", DOCUMENTS.replace("zwei", "two"))
    assert (changed.status_code, changed.json()["changed"]) == (201, 1)


def test_a_form_loads_a_file_just_as_a_body_does(world):
    for client in (by_token("ada"), by_session("ada")):
        upload = {"file": open_file("q.tsv", f"{id(client)}\tone\n")}
        assert client.post(f"{BOOKS}queries/", upload).status_code == 201


def open_file(name: str, text: str):
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(name, text.encode())


def test_a_broken_file_is_refused_with_its_lines_and_leaves_nothing(world):
    upload = {"file": open_file("mine.tsv", "a\tone\na\ttwo\nb\n")}
    response = by_token("ada").post(f"{BOOKS}queries/", upload)
    problem = is_problem(response, 422, "file_refused")
    assert [(one["file"], one["line"], one["rule"]) for one in problem["problems"]] == [
        ("mine.tsv", 2, "duplicate"),
        ("mine.tsv", 3, "columns"),
    ]
    assert problem["total"] == 2
    assert not Query.objects.filter(qid="a").exists()


def test_a_damaged_gzip_is_refused(world):
    response = post_file(by_token("ada"), f"{BOOKS}queries/", gzipped("a\tone\n")[:-4])
    problem = is_problem(response, 422, "file_refused")
    assert problem["problems"][0]["rule"] == "gzip"


def test_a_large_file_is_left_to_a_worker(world, monkeypatch):
    monkeypatch.setattr(uploads, "LARGE", 10)
    client = by_token("ada")
    response = post_file(client, f"{BOOKS}queries/", "a\tmore than ten bytes\n")
    assert response.status_code == 202
    job = client.get(response["Location"]).json()
    assert (job["state"], job["total"], job["result"]) == ("queued", 22, {})
    work_jobs()
    job = client.get(response["Location"]).json()
    assert (job["state"], job["done"]) == ("done", 22)
    assert job["result"] == {"added": 1, "changed": 0, "unchanged": 0}
    assert job["finished_at"]


@pytest.mark.parametrize("prefer", ["respond-async", "wait=10, Respond-Async"])
@pytest.mark.parametrize("what", ["queries", "documents"])
def test_whoever_would_rather_not_wait_gets_a_job(world, prefer, what):
    response = post_file(by_token("ada"), f"{BOOKS}{what}/", "a\tone\n", Prefer=prefer)
    assert response.status_code == 202
    assert response.json()["kind"] == f"import_{what}"
    work_jobs()
    assert Job.objects.get().state == Job.State.DONE


def test_a_job_that_failed_names_the_lines(world):
    client = by_token("ada")
    path = post_file(client, f"{BOOKS}queries/", "a\tone\nb\n", Prefer="respond-async")["Location"]
    work_jobs()
    job = client.get(path).json()
    assert job["state"] == "failed"
    assert job["problems"][0]["line"] == 2
    assert job["problems"][0]["rule"] == "columns"
    assert "columns" in job["result"]["message"]


def test_a_job_is_for_those_who_lead_and_in_its_own_collection(world):
    path = post_file(by_token("ada"), f"{BOOKS}queries/", "a\tone\n", Prefer="respond-async")[
        "Location"
    ]
    assert by_token("ada").get(path).status_code == 200
    for username in ("ben", "dora", "eve"):
        is_problem(by_token(username).get(path), 404, "not_found")
    elsewhere = path.replace("books", "books-of-eve")
    is_problem(by_token("eve").get(elsewhere), 404, "not_found")


def test_only_leads_load_and_nobody_else_writes_a_row(world):
    for username in ("ben", "dora", "eve"):
        for what in ("queries", "documents"):
            response = post_file(by_token(username), f"{BOOKS}{what}/", "new\tone\n")
            is_problem(response, 404, "not_found")
    assert not Query.objects.filter(qid="new").exists()
    assert not Document.objects.filter(docid="new").exists()


def test_a_long_list_comes_in_parts_that_make_up_the_whole(world):
    make_queries(collection=world.collection, count=21, prefix="more")
    client = by_token("dora")
    address, parts = f"{BOOKS}queries/?limit=5", []
    while address:
        page = client.get(address).json()
        parts.append([row["query_id"] for row in page["results"]])
        address = page["next"]
        assert len(parts) < 10
    assert [len(part) for part in parts] == [5, 5, 5, 5, 4]
    assert [qid for part in parts for qid in part] == [
        query.qid for query in Query.objects.order_by("id")
    ]


def test_the_last_part_is_last_even_if_it_is_full(world):
    assert by_token("dora").get(f"{BOOKS}queries/?limit=3").json()["next"] is None


def test_the_address_of_the_next_part_keeps_the_filter(world):
    page = by_token("dora").get(f"{BOOKS}queries/?limit=1&segment=head").json()
    assert [row["segment"] for row in page["results"]] == ["head"]
    assert "segment=head" in page["next"]
    assert "limit=1" in page["next"]


def test_the_segment_without_a_name_is_one_too(world):
    Query.objects.filter(qid="q2").update(segment="")
    page = by_token("dora").get(f"{BOOKS}queries/?segment=").json()
    assert [row["query_id"] for row in page["results"]] == ["q2"]


def test_queries_say_all_that_is_known_of_them(world):
    row = by_token("dora").get(f"{BOOKS}queries/?limit=1").json()["results"][0]
    assert row == {
        "query_id": "q1",
        "text": "query number 1",
        "description": "What query 1 is after.",
        "segment": "head",
        "weight": 1.0,
        "is_stub": False,
    }


def test_nothing_of_another_collection_is_listed(world):
    other = make_collection(slug="other", cast=False)
    make_queries(collection=other, count=2, prefix="other")
    for what in ("queries", "documents"):
        text = by_token("dora").get(f"{BOOKS}{what}/").content.decode()
        assert "other" not in text
        json.loads(text)


CSV = b"SKU;Name;Text;Remark\n7;Shoe;A red shoe;old\n"


def test_documents_come_as_csv_with_the_columns_that_one_says(world):
    client = by_token("ada")
    named = json.dumps({"SKU": "doc_id", "Remark": ""})
    asked = f"{BOOKS}documents/?{urlencode({'columns': named})}"
    seen = post_file(client, f"{asked}&preview=true", CSV)
    assert (seen.status_code, seen.json()["separator"]) == (200, "semicolons")
    assert {one["name"]: one["part"] for one in seen.json()["columns"]} == {
        "SKU": "doc_id", "Name": "title", "Text": "text", "Remark": "",
    }  # fmt: skip
    assert not Document.objects.filter(docid="7").exists()
    assert post_file(client, asked, CSV).status_code == 201
    document = Document.objects.get(docid="7")
    assert (document.title, document.body, document.fields) == ("Shoe", "A red shoe", {})
    for wrong in ("[]", "{", '{"SKU": 1}'):
        address = f"{BOOKS}documents/?{urlencode({'columns': wrong})}"
        assert post_file(client, address, CSV).status_code == 400


def test_a_worker_reads_the_columns_that_one_says(world):
    named = urlencode({"columns": json.dumps({"key": "query_id", "words": "text"})})
    sent = by_token("ada").post(
        f"{BOOKS}queries/?{named}", b"key,words\nnew,red shoes\n", content_type="text/csv",
        headers={"Prefer": "respond-async"},
    )  # fmt: skip
    assert sent.status_code == 202
    work_jobs()
    assert Query.objects.get(qid="new").text == "red shoes"
