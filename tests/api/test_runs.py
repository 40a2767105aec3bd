"""Rankers and runs over REST: what a notebook or a CI job does."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.models import Ranker, Ranking, Run
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Document, Job
from tests.api.callers import (
    BOOKS,
    by_session,
    by_token,
    gzipped,
    is_problem,
    post_file,
    post_json,
)
from tests.evaluation.builders import make_ranker, run_text
from touchstone.measures.packing import unpack_scores

RUNS = f"{BOOKS}rankers/bm25/runs/"
TEXT = run_text({"q1": ["d1", "d2", "d3"], "q2": ["d2"]})
OTHER = run_text({"q1": ["d3", "d2"], "q3": ["d2"]})


@pytest.fixture(autouse=True)
def bm25(world) -> Ranker:
    return make_ranker(collection=world.collection)


def form(content: str | bytes = TEXT, name: str = "night.run", **fields: str) -> dict[str, object]:
    data = content.encode() if isinstance(content, str) else content
    return {"file": SimpleUploadedFile(name, data), **fields}


def test_a_researcher_registers_a_ranker(world):
    client = by_token("dora")
    made = post_json(client, f"{BOOKS}rankers/", {"slug": "dense", "name": "Dense"})
    assert made.status_code == 201
    assert client.get(made["Location"]).json() == made.json()
    rows = client.get(f"{BOOKS}rankers/").json()["results"]
    assert [row["slug"] for row in rows] == ["bm25", "dense"]
    assert Ranker.objects.get(slug="dense").created_by == world.dora


def test_a_slug_is_made_from_a_name(world):
    made = post_json(by_token("dora"), f"{BOOKS}rankers/", {"name": "BM25_tuned (k1 = 0.9)"})
    assert (made.status_code, made.json()["slug"]) == (201, "bm25-tuned-k1-0-9")
    assert made["Location"].endswith("/rankers/bm25-tuned-k1-0-9")
    made = is_problem(
        post_json(by_token("dora"), f"{BOOKS}rankers/", {"name": "检索"}), 400, "invalid"
    )
    assert "slug" in str(made)


@pytest.mark.parametrize("tags", ["BM25.v1, Dense_x", ["BM25.v1", "Dense_x"], "BM25.v1 Dense_x"])
def test_tags_are_taken_as_a_text_or_as_the_list_that_answers_have(world, tags):
    made = post_json(by_token("dora"), f"{BOOKS}rankers/", {"slug": "dense", "tags": tags})
    assert (made.status_code, made.json()["tags"]) == (201, ["BM25.v1", "Dense_x"])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"slug": "bm25"}, 422, "slug_taken"),
        ({"slug": "x", "tags": 7}, 400, "invalid"),
        ({"slug": "x", "tags": [7]}, 400, "invalid"),
        ({"slug": "x", "tags": ["<b>"]}, 422, "tag_invalid"),
        ({"slug": "B M"}, 400, "invalid"),
        ({}, 400, "invalid"),
        ({"slug": "x", "collection": "books-of-eve"}, 400, "invalid"),
    ],
)
def test_a_ranker_that_can_not_be_is_refused(world, body, status, code):
    is_problem(post_json(by_token("dora"), f"{BOOKS}rankers/", body), status, code)
    assert Ranker.objects.count() == 1


def test_a_file_without_scores_is_taken_by_its_ranks_and_that_is_said(world):
    Document.objects.filter(docid="d3").update(is_stub=True)
    body = post_file(by_token("dora"), RUNS, b"q1\td3\t0\nq1\td1\t1\n", "text/plain").json()
    assert (body["ordered_by"], body["without_text"], body["tied_rows"]) == ("rank", 1, 0)
    assert "three columns" in body["remarks"][0]
    assert body["remarks"][1] == "1 document has no text in this collection."
    ranking = Ranking.objects.get()
    assert unpack_scores(bytes(ranking.scores)).tolist() == [0, -1]


def test_the_rank_column_can_be_trusted_where_scores_tie(world):
    tied = "q1 Q0 d1 1 7 t\nq1 Q0 d2 2 7 t\nq1 Q0 d3 3 7 t\n"
    client = by_token("dora")
    body = client.post(f"{RUNS}?name=by-score", form(tied)).json()
    assert (body["tied_rows"], body["ordered_by"]) == (3, "score")
    assert "3 lines in 1 query have the same score" in body["remarks"][0]
    assert "“Trust the rank column” (order=rank)" in body["remarks"][0]
    body = client.post(RUNS, form(tied, name="by-rank", order="rank")).json()
    assert (body["tied_rows"], body["ordered_by"], body["name"]) == (0, "rank", "by-rank")
    assert not any("Trust" in remark for remark in body["remarks"])
    scores = [unpack_scores(bytes(own.scores)).tolist() for own in Ranking.objects.order_by("pk")]
    assert scores == [[7, 7, 7], [-1, -2, -3]]
    is_problem(client.post(RUNS, form(tied, order="docid")), 400, "invalid")


@pytest.mark.parametrize("pack", [str.encode, gzipped])
@pytest.mark.parametrize("kind", ["text/plain", "application/gzip", "application/octet-stream"])
def test_a_run_is_uploaded_as_a_body(world, pack, kind):
    client = by_token("dora")
    response = post_file(client, f"{RUNS}?name=night", pack(TEXT), kind)
    assert response.status_code == 201
    body = response.json()
    assert (body["ranker"], body["name"], body["tag"]) == ("bm25", "night", "test")
    assert (body["queries"], body["rows"], body["withdrawn_at"]) == (2, 4, None)
    assert body.pop("note") == ""
    found = ("read_as", "ordered_by", "tied_rows", "without_text", "remarks")
    told = {name: body.pop(name) for name in found}
    assert told.pop("read_as").startswith("a TREC run (six columns")
    assert told == {"ordered_by": "score", "tied_rows": 0, "without_text": 0, "remarks": []}
    own = client.get(response["Location"]).json()
    assert (own.pop("state"), own.pop("lists")) == ("evaluated", [])
    assert own | {"collection_queries": 3} == body
    run = Run.objects.get()
    assert (str(run.public_id), run.sha256, run.created_by) == (
        body["id"],
        body["sha256"],
        world.dora,
    )
    assert Ranking.objects.filter(run=run).count() == 2


def test_a_run_says_how_it_was_made(world):
    client = by_token("dora")
    said = {
        "parameters": '{"k1": 0.9, "model": "bm25"}',
        "commit": "3f2a9c1",
        "tags": "v2.1 RM3_on",
    }
    kept = {"parameters": {"k1": 0.9, "model": "bm25"}, "commit": "3f2a9c1"}
    kept |= {"tags": ["v2.1", "RM3_on"]}
    response = client.post(RUNS, form(name="night.run", **said))
    assert response.status_code == 201
    assert response.json().items() >= kept.items()
    assert client.get(response["Location"]).json().items() >= kept.items()
    page = by_session("dora").get(reverse("run", args=["books", response.json()["id"]]))
    for shown in ("Tags: v2.1, RM3_on", "3f2a9c1", ">k1</dt>"):
        assert shown in page.content.decode()
    again = client.post(RUNS, form(name="night.run", commit="other"))
    assert (again.status_code, again.json()["commit"]) == (200, "3f2a9c1")
    left = client.post(RUNS, form(OTHER, **said), headers={"Prefer": "respond-async"})
    assert left.status_code == 202
    work_jobs()
    assert Run.objects.get(name="night (2)").parameters == {"k1": 0.9, "model": "bm25"}


@pytest.mark.parametrize(
    ("query", "code"),
    [("parameters=k1", "parameters_invalid"), ("tags=<b>", "tag_invalid")],
)
def test_what_can_not_be_kept_of_a_run_is_refused(world, query, code):
    is_problem(post_file(by_token("dora"), f"{RUNS}?{query}", TEXT), 422, code)
    assert not Run.objects.exists()


def test_a_run_is_uploaded_as_a_form(world):
    for client, data in (
        (by_token("dora"), form(name="night.run.gz", content=gzipped(TEXT))),
        (by_session("dora"), form(OTHER, name="day.txt")),
    ):
        assert client.post(RUNS, data).status_code == 201
    assert sorted(Run.objects.values_list("name", flat=True)) == ["day", "night"]


def test_the_same_content_again_is_the_same_run(world):
    client = by_token("dora")
    first = post_file(client, f"{RUNS}?name=night", TEXT)
    again = post_file(client, f"{RUNS}?name=other", gzipped(TEXT))
    assert (first.status_code, again.status_code) == (201, 200)
    note = "This content is already stored as bm25/night; “other” is an alias of it."
    assert again.json() == first.json() | {"aliases": ["other"], "note": note}
    unnamed = post_file(client, RUNS, TEXT)
    assert unnamed.json()["note"] == "This content is already stored as bm25/night."
    assert again["Location"] == first["Location"]
    assert Run.objects.count() == 1


def test_a_name_that_another_run_has_is_refused(world):
    client = by_token("dora")
    post_file(client, f"{RUNS}?name=night", TEXT)
    is_problem(post_file(client, f"{RUNS}?name=night", OTHER), 422, "name_taken")


def test_a_run_that_nobody_named_never_takes_the_name_of_another(world):
    client = by_token("dora")
    named = [post_file(client, RUNS, text).json()["name"] for text in (TEXT, OTHER)]
    assert named == ["test", "test (2)"]
    third = run_text({"q3": ["d1"]})
    fourth = run_text({"q3": ["d2"]})
    named = [client.post(RUNS, form(text)).json()["name"] for text in (third, fourth)]
    assert named == ["night", "night (2)"]


def test_a_tag_that_nobody_could_read_names_no_run(world):
    text = TEXT.replace(" test\n", " t\u200bt\n")
    assert post_file(by_token("dora"), RUNS, text).json()["name"] == "upload"


@pytest.mark.parametrize("name", ["%20", "%0A", "a%0Ab", "%E2%80%8B", "n" * 201])
def test_a_name_that_nobody_could_read_is_refused(world, name):
    response = post_file(by_token("dora"), f"{RUNS}?name={name}", TEXT)
    assert response.status_code in (400, 422)
    assert response["Content-Type"] == "application/problem+json"
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        (TEXT + "q1 Q0 d1 9 0.1 test\n", "duplicate", 5),
        (TEXT.replace("0.5", "nan"), "not-finite", 2),
        (TEXT + "q1 Q0 d4\n", "columns", 5),
        (TEXT + "q9 Q0 d1 1 1.0 test\n", "unknown-query", 5),
        (TEXT + "q3 Q0 d9 1 1.0 test\n", "unknown-document", 5),
        ("", "", 0),
        ("\n", "empty", 1),
    ],
)
def test_a_run_that_breaks_a_rule_is_refused_with_its_lines(world, text, rule, line):
    response = post_file(by_token("dora"), RUNS, text)
    if not text:
        is_problem(response, 400, "invalid")
    else:
        problem = is_problem(response, 422, "file_refused")
        assert (problem["problems"][0]["rule"], problem["problems"][0]["line"]) == (rule, line)
    assert not Run.objects.exists()
    assert not Ranking.objects.exists()


def test_unknown_ids_become_stubs_where_that_is_asked_for(world):
    text = TEXT + "q9 Q0 d9 1 1.0 test\n"
    response = post_file(by_token("dora"), f"{RUNS}?create=true", text)
    assert (response.status_code, response.json()["queries"]) == (201, 3)


def test_a_run_may_be_left_to_a_worker(world):
    client = by_token("dora")
    response = post_file(client, f"{RUNS}?name=night", TEXT, Prefer="respond-async")
    assert response.status_code == 202
    work_jobs()
    job = client.get(response["Location"]).json()
    assert (job["state"], job["result"]["rows"]) == ("done", 4)
    assert client.get(f"{RUNS}{job['result']['run']}").json()["name"] == "night"


def test_a_run_with_a_bad_name_makes_no_job(world):
    response = post_file(by_token("dora"), f"{RUNS}?name=a%0Ab", TEXT, Prefer="respond-async")
    is_problem(response, 422, "name_invalid")
    assert not Job.objects.exists()


def test_runs_are_listed_in_the_order_they_came(world):
    client = by_token("dora")
    for name, text in (("a", TEXT), ("b", OTHER)):
        post_file(client, f"{RUNS}?name={name}", text)
    first = client.get(f"{RUNS}?limit=1").json()
    second = client.get(first["next"]).json()
    assert [row["name"] for row in first["results"] + second["results"]] == ["a", "b"]


def test_whoever_uploaded_a_run_withdraws_it_once(world):
    client = by_token("dora")
    path = post_file(client, RUNS, TEXT)["Location"]
    withdrawn = client.post(f"{path}/withdraw")
    assert withdrawn.status_code == 200
    assert withdrawn.json()["withdrawn_at"]
    is_problem(client.post(f"{path}/withdraw"), 422, "already_withdrawn")
    assert AuditEntry.objects.filter(action="run.withdrawn").count() == 1


def test_a_run_of_somebody_else_is_withdrawn_by_leads_alone(world):
    path = post_file(by_token("ada"), RUNS, TEXT)["Location"]
    is_problem(by_token("dora").post(f"{path}/withdraw"), 422, "not_yours")
    is_problem(by_token("ben").post(f"{path}/withdraw"), 404, "not_found")
    assert by_token("ada").post(f"{path}/withdraw").status_code == 200


def test_a_run_is_found_at_its_own_ranker_alone(world):
    make_ranker(collection=world.collection, slug="dense")
    path = post_file(by_token("dora"), RUNS, TEXT)["Location"]
    is_problem(by_token("dora").get(path.replace("bm25", "dense")), 404, "not_found")
    is_problem(by_token("eve").get(path.replace("books", "books-of-eve")), 404, "not_found")


def test_annotators_and_strangers_learn_nothing_of_rankers(world):
    path = post_file(by_token("dora"), RUNS, TEXT)["Location"]
    for username in ("ben", "eve"):
        client = by_token(username)
        for address in (f"{BOOKS}rankers/", f"{BOOKS}rankers/bm25", RUNS, path):
            is_problem(client.get(address), 404, "not_found")
        is_problem(post_file(client, RUNS, OTHER), 404, "not_found")
        is_problem(post_json(client, f"{BOOKS}rankers/", {"slug": "x"}), 404, "not_found")
    assert Run.objects.count() == 1


def test_a_researcher_who_annotates_neither_sees_nor_uploads_meanwhile(world):
    world.dora.memberships.update(is_annotating=True)
    client = by_token("dora")
    is_problem(client.get(RUNS), 404, "not_found")
    is_problem(post_file(client, RUNS, TEXT), 404, "not_found")
    assert not Run.objects.exists()


def test_a_ranker_that_is_not_there_takes_no_run(world):
    response = post_file(by_token("dora"), f"{BOOKS}rankers/nowhere/runs/", TEXT)
    is_problem(response, 404, "not_found")
