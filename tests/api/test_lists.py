"""Lists over REST: versions, what differs between them, qrels in and out, releases."""

import hashlib

import pytest

from judgments.jobs.services import work_jobs
from judgments.models import Judgment, JudgmentList, JudgmentVersion, Release
from judgments.rest import uploads
from tests.api.callers import BOOKS, MAIN, by_token, gzipped, is_problem, post_file, post_json
from tests.builders import commit, make_list

QRELS = "q1 0 d1 3\nq1 0 d2 0\nq2 0 d1 4\n"


@pytest.fixture
def two_versions(world) -> None:
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    grades = {(q1, d1): 3, (q1, d2): 0, (q2, d1): 4}
    commit(judgment_list=world.judgments, grades=grades, by=world.ada, reason="the first")
    changed = {(q1, d1): 1, (q1, d2): None, (q2, d2): 2}
    commit(judgment_list=world.judgments, grades=changed, by=world.ada, reason="the second")


def test_a_list_is_made_on_its_scale(world):
    client = by_token("ada")
    made = post_json(client, f"{BOOKS}lists/", {"slug": "web", "name": "Web", "scale": "-2..4"})
    assert made.status_code == 201
    assert made["Location"] == "/api/v1/collections/books/lists/web"
    assert [grade["code"] for grade in made.json()["scale"]] == [-2, -1, 0, 1, 2, 3, 4]
    assert made.json()["head"] == 0
    assert client.get(made["Location"]).json() == made.json()
    slugs = [row["slug"] for row in client.get(f"{BOOKS}lists/").json()["results"]]
    assert slugs == ["main", "web"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"slug": "main"}, 422, "slug_taken"),
        ({"slug": "x", "scale": "great"}, 422, "scale_refused"),
        ({"slug": "x", "scale": "1"}, 422, "scale_refused"),
        ({"slug": "x", "scale": "-200..200"}, 422, "scale_refused"),
        ({"slug": "x", "scale": ["0", "1"]}, 400, "invalid"),
        ({"slug": "x", "head": 7}, 400, "invalid"),
        ({"slug": "main/", "scale": "0..4"}, 400, "invalid"),
    ],
)
def test_a_list_that_can_not_be_is_refused(world, body, status, code):
    is_problem(post_json(by_token("ada"), f"{BOOKS}lists/", body), status, code)
    assert JudgmentList.objects.filter(collection=world.collection).count() == 1


def test_versions_come_newest_first(world, two_versions):
    rows = by_token("ada").get(f"{MAIN}versions/").json()["results"]
    assert [row["number"] for row in rows] == [2, 1]
    assert {name: rows[0][name] for name in ("added", "changed", "removed")} == {
        "added": 1,
        "changed": 1,
        "removed": 1,
    }
    assert (rows[1]["author"], rows[1]["reason"]) == ("Ada", "the first")


def test_versions_come_in_parts(world, two_versions):
    client = by_token("ada")
    first = client.get(f"{MAIN}versions/?limit=1").json()
    second = client.get(first["next"]).json()
    assert [row["number"] for row in first["results"] + second["results"]] == [2, 1]
    assert second["next"] is None


def test_a_researcher_sees_versions_without_people(world, two_versions):
    for row in by_token("dora").get(f"{MAIN}versions/").json()["results"]:
        assert (row["author"], row["reason"]) == ("", "")


def test_a_version_goes_by_number_by_name_and_as_head(world, two_versions):
    client = by_token("ada")
    assert (
        post_json(client, f"{MAIN}releases/", {"name": "spring", "version": 1}).status_code == 201
    )
    by_number = client.get(f"{MAIN}versions/1").json()
    assert by_number["releases"] == ["spring"]
    assert client.get(f"{MAIN}versions/spring").json() == by_number
    assert client.get(f"{MAIN}versions/head").json()["number"] == 2


def test_qrels_are_the_bytes_that_a_release_has_the_digest_of(world, two_versions):
    client = by_token("dora")
    made = post_json(by_token("ada"), f"{MAIN}releases/", {"name": "spring", "version": 1})
    response = client.get(f"{MAIN}versions/spring/qrels")
    assert response.content == QRELS.encode()
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Version"] == "1"
    assert hashlib.sha256(response.content).hexdigest() == made.json()["sha256"]
    assert client.get(f"{MAIN}versions/head/qrels").content == b"q1 0 d1 1\nq2 0 d1 4\nq2 0 d2 2\n"
    assert client.get(f"{MAIN}versions/0/qrels").content == b""


def test_what_differs_between_two_versions_is_listed_by_pair(world, two_versions):
    body = by_token("dora").get(f"{MAIN}versions/1..2").json()
    assert {name: body[name] for name in ("before", "after", "added", "changed", "removed")} == {
        "before": 1,
        "after": 2,
        "added": 1,
        "changed": 1,
        "removed": 1,
    }
    assert body["results"] == [
        {"query_id": "q1", "doc_id": "d1", "before": 3, "after": 1},
        {"query_id": "q1", "doc_id": "d2", "before": 0, "after": None},
        {"query_id": "q2", "doc_id": "d2", "before": None, "after": 2},
    ]
    assert body["next"] is None


def test_differences_go_back_too_and_begin_with_nothing(world, two_versions):
    client = by_token("dora")
    back = client.get(f"{MAIN}versions/head..1").json()
    assert (back["before"], back["after"], back["added"]) == (2, 1, 1)
    assert client.get(f"{MAIN}versions/0..2").json()["added"] == 3
    assert client.get(f"{MAIN}versions/2..2").json()["results"] == []


def test_differences_come_in_parts(world, two_versions):
    client = by_token("dora")
    first = client.get(f"{MAIN}versions/1..2?limit=2").json()
    second = client.get(first["next"]).json()
    assert [row["doc_id"] for row in first["results"] + second["results"]] == ["d1", "d2", "d2"]
    assert (first["added"], second["added"], second["next"]) == (1, 1, None)
    assert client.get(f"{MAIN}versions/1..2?after=9999").json()["results"] == []


def test_applying_a_difference_gives_the_other_version(world, two_versions):
    client = by_token("dora")

    def grades(name: str) -> dict[tuple[str, str], int]:
        lines = client.get(f"{MAIN}versions/{name}/qrels").content.decode().splitlines()
        return {(q, d): int(grade) for q, _, d, grade in map(str.split, lines)}

    applied = grades("1")
    for row in client.get(f"{MAIN}versions/1..2").json()["results"]:
        pair = (row["query_id"], row["doc_id"])
        assert applied.pop(pair, None) == row["before"]
        if row["after"] is not None:
            applied[pair] = row["after"]
    assert applied == grades("2")


@pytest.mark.parametrize("pack", [str.encode, gzipped])
def test_imported_qrels_make_the_next_version(world, pack):
    client = by_token("ada")
    response = post_file(client, f"{MAIN}qrels?reason=from%20TREC", pack(QRELS))
    assert response.status_code == 201
    assert response.json() == {
        "version": 1,
        "pairs": 3,
        "added": 3,
        "changed": 0,
        "new_queries": 0,
        "new_documents": 0,
        "format": "trec",
        "read_as": "TREC qrels (its first line has four fields, the last a whole number)",
    }
    version = JudgmentVersion.objects.get()
    assert (version.author, version.source, version.reason) == (world.ada, "import", "from TREC")
    assert client.get(f"{MAIN}versions/1/qrels").content == QRELS.encode()
    again = post_file(client, f"{MAIN}qrels", QRELS)
    assert (again.status_code, again.json()["version"]) == (200, None)


def test_unknown_ids_in_qrels_are_refused_unless_asked_for(world):
    client = by_token("ada")
    refused = is_problem(post_file(client, f"{MAIN}qrels", "q1 0 new 1\n"), 422, "file_refused")
    assert refused["problems"][0]["rule"] == "unknown-document"
    assert refused["problems"][0]["line"] == 1
    made = post_file(client, f"{MAIN}qrels?create=true", "q1 0 new 1\n")
    assert made.json()["new_documents"] == 1


def test_options_may_be_fields_of_the_form(world):
    from django.core.files.uploadedfile import SimpleUploadedFile

    form = {"file": SimpleUploadedFile("a.qrels", b"q1 0 new 1\n"), "create": "true"}
    assert by_token("ada").post(f"{MAIN}qrels", form).status_code == 201
    form["file"] = SimpleUploadedFile("a.qrels", b"q1 0 newer 1\n")
    problem = is_problem(by_token("ada").post(f"{MAIN}qrels?create=1", form), 400, "invalid")
    assert set(problem["errors"]) == {"create"}


def test_a_grade_outside_the_scale_is_refused_with_its_line(world):
    problem = is_problem(
        post_file(by_token("ada"), f"{MAIN}qrels", "q1 0 d1 4\nq1 0 d2 7\n"), 422, "file_refused"
    )
    assert (problem["problems"][0]["line"], problem["problems"][0]["rule"]) == (2, "scale")
    assert not Judgment.objects.exists()


def test_large_qrels_are_left_to_a_worker(world, monkeypatch):
    monkeypatch.setattr(uploads, "LARGE", 10)
    client = by_token("ada")
    response = post_file(client, f"{MAIN}qrels?reason=why", QRELS)
    assert response.status_code == 202
    work_jobs()
    assert client.get(response["Location"]).json()["result"]["version"] == 1
    assert JudgmentVersion.objects.get().reason == "why"


def test_a_release_is_of_the_newest_version_unless_it_names_one(world, two_versions):
    client = by_token("ada")
    made = post_json(client, f"{MAIN}releases/", {"name": "spring", "notes": "as cited"})
    assert (made.status_code, made.json()["version"]) == (201, 2)
    rows = client.get(f"{MAIN}releases/").json()["results"]
    assert rows == [made.json()]
    assert rows[0]["notes"] == "as cited"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "spring"}, 422, "name_taken"),
        ({"name": "7"}, 422, "name_invalid"),
        ({"name": "head"}, 422, "name_invalid"),
        ({"name": "A B"}, 422, "name_invalid"),
        ({"name": "x", "version": 3}, 404, "not_found"),
        ({"name": "x", "version": 0}, 400, "invalid"),
        ({"name": "x", "version": "head"}, 400, "invalid"),
        ({"name": "x", "sha256": "0" * 64}, 400, "invalid"),
        ({}, 400, "invalid"),
    ],
)
def test_a_release_that_can_not_be_is_refused(world, two_versions, body, status, code):
    client = by_token("ada")
    post_json(client, f"{MAIN}releases/", {"name": "spring", "version": 1})
    is_problem(post_json(client, f"{MAIN}releases/", body), status, code)
    assert Release.objects.count() == 1


def test_an_empty_list_has_nothing_to_release(world):
    is_problem(post_json(by_token("ada"), f"{MAIN}releases/", {"name": "a"}), 404, "not_found")


def test_a_researcher_reads_and_writes_nothing(world, two_versions):
    client = by_token("dora")
    assert client.get(MAIN).status_code == 200
    is_problem(post_json(client, f"{BOOKS}lists/", {"slug": "x"}), 404, "not_found")
    is_problem(post_json(client, f"{MAIN}releases/", {"name": "x"}), 404, "not_found")
    is_problem(post_file(client, f"{MAIN}qrels", QRELS), 404, "not_found")
    assert JudgmentVersion.objects.count() == 2


def test_a_researcher_who_annotates_sees_no_grades_meanwhile(world, two_versions):
    world.dora.memberships.update(is_annotating=True)
    client = by_token("dora")
    for path in ("", "versions/", "versions/1", "versions/1/qrels", "versions/1..2", "releases/"):
        is_problem(client.get(MAIN + path), 404, "not_found")
    is_problem(client.get(f"{BOOKS}lists/"), 404, "not_found")
    assert client.get(f"{BOOKS}queries/").status_code == 200


def test_a_list_of_another_collection_is_not_reached_through_ones_own(world, two_versions):
    is_problem(by_token("eve").get(MAIN.replace("books", "books-of-eve")), 404, "not_found")
    make_list(collection=world.collection, slug="other")
    assert by_token("ada").get(MAIN.replace("main", "other")).status_code == 200
