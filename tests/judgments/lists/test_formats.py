"""Other tools' files into a list and out of it: by page, command and REST."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from judgments.jobs.services import work_jobs
from judgments.models import Query
from tests.api.callers import MAIN, by_token, is_problem, post_file
from tests.builders import commit, make_world

pytestmark = pytest.mark.django_db
LETTERS = "E=3, S=2, C=1, I=0"


@pytest.fixture
def asked():
    """A world whose queries each have a text of their own."""
    world = make_world()
    for query, text in zip(world.queries, ["red shoes", "rain  coat", "umbrella"], strict=True):
        Query.objects.filter(pk=query.pk).update(text=text)
    return world


def test_the_command_imports_signals_and_exports_every_format(asked, tmp_path, capsys):
    file = tmp_path / "esci.csv"
    file.write_text("query,product,docid,rating\nrain coat,x,d1,E\nq3,y,d2,I\n")
    words = ["--format", "quepid", "--signals", LETTERS]
    call_command("import_qrels", "books/main", str(file), *words)
    asked.judgments.refresh_from_db()
    assert asked.judgments.head == 1
    version = asked.judgments.versions.get()
    assert version.signals == [["E", 3], ["S", 2], ["C", 1], ["I", 0]]
    call_command("export_qrels", "books/main", "--format", "opensearch")
    ratings = json.loads(capsys.readouterr().out)["judgmentRatings"]
    assert ratings[0] == {"query": "rain coat", "ratings": [{"docId": "d1", "rating": "3.000"}]}
    with pytest.raises(SystemExit):
        call_command("export_qrels", "books/main", "--format", "xlsx")
    assert "Choose one of: trec, csv" in capsys.readouterr().err


def test_over_rest_a_version_goes_out_and_comes_in_again_in_every_format(asked):
    q, (d1, d2, *_) = asked.queries[0], asked.documents
    commit(judgment_list=asked.judgments, grades={(q, d1): 3, (q, d2): 0}, by=asked.ada)
    client = by_token("ada")
    for name in ("csv", "jsonl", "beir", "quepid", "rre", "opensearch"):
        content = client.get(f"{MAIN}versions/1/qrels?format={name}").content
        again = post_file(client, f"{MAIN}qrels?format={name}", content)
        assert (again.status_code, again.json()["pairs"]) == (200, 2), name
    assert client.get(f"{MAIN}versions/1/qrels?format=csv")["Content-Type"].startswith("text/csv")
    is_problem(client.get(f"{MAIN}versions/1/qrels?format=xlsx"), 400, "invalid")
    refused = post_file(client, f"{MAIN}qrels?format=csv&signals=E", b"q1,d1,E\n")
    is_problem(refused, 422, "signals_refused")
    Query.objects.filter(qid="q2").update(text="red shoes")
    commit(judgment_list=asked.judgments, grades={(asked.queries[1], d1): 1}, by=asked.ada)
    is_problem(client.get(f"{MAIN}versions/2/qrels?format=rre"), 422, "text_twice")


def test_the_page_imports_letters_and_says_what_they_meant(asked, client):
    client.force_login(asked.ada)
    page = "/c/books/lists/main/import"
    file = SimpleUploadedFile("esci.csv", b"q1,d1,E\nq1,d2,C\n")
    wrong = client.post(page, {"file": file, "format": "csv", "signals": "E=9"})
    assert "has no grade 9" in wrong.content.decode()
    file.seek(0)
    answer = client.post(page, {"file": file, "format": "csv", "signals": LETTERS})
    assert answer.status_code == 302
    work_jobs()
    shown = client.get("/c/books/lists/main/versions/1").content.decode()
    assert "<code>E</code> → 3" in shown
    formats = client.get("/c/books/lists/main/versions/1/export").content.decode()
    assert "/c/books/lists/main/versions/1/qrels?format=beir" in formats
    got = client.get("/c/books/lists/main/versions/1/qrels?format=beir")
    assert got.content == b"query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t1\n"
    assert got["Content-Disposition"] == 'attachment; filename="books-main-1.tsv"'
    back = client.get("/c/books/lists/main/versions/1/qrels?format=xlsx", follow=True)
    assert "Unknown format" in back.content.decode()


def test_grades_go_out_with_features_by_command_and_page(asked, client, tmp_path, capsys):
    (q1, q2, _), (d1, *_) = asked.queries, asked.documents
    commit(judgment_list=asked.judgments, grades={(q1, d1): 3, (q2, d1): 0}, by=asked.ada)
    features = tmp_path / "features.csv"
    features.write_text("query_id,doc_id,bm25\nq1,d1,1.5\nq2,d1,0.5\n")
    target = tmp_path / "out.zip"
    call_command("export_learning", "books/main", str(features), str(target))
    assert target.read_bytes().startswith(b"PK")
    client.force_login(asked.dora)
    page = "/c/books/lists/main/versions/1/export"
    body = {"features": SimpleUploadedFile("f.csv", features.read_bytes()), "format": "ranklib"}
    answer = client.post(page, body)
    assert answer.content == target.read_bytes()
    assert "books-main-1-ranklib.zip" in answer["Content-Disposition"]
    body["features"] = SimpleUploadedFile("f.csv", b"query_id,doc_id,bm25\nq1,d1,much\n")
    refused = client.post(page, body).content.decode()
    assert "f.csv:2" in refused
    assert "not a finite number" in refused


@pytest.mark.parametrize("tool", ["ranklib", "lightgbm", "xgboost", "tfranking"])
def test_grades_go_out_with_features_over_rest(asked, tool, tmp_path):
    (q1, q2, _), (d1, *_) = asked.queries, asked.documents
    commit(judgment_list=asked.judgments, grades={(q1, d1): 3, (q2, d1): 0}, by=asked.ada)
    content = b"query_id,doc_id,bm25\nq1,d1,1.5\nq2,d1,0.5\n"
    features, target = tmp_path / "features.csv", tmp_path / "out.zip"
    features.write_bytes(content)
    call_command("export_learning", "books/main", str(features), str(target), "--format", tool)
    answer = post_file(by_token("dora"), f"{MAIN}versions/head/training?format={tool}", content)
    assert (answer.status_code, answer["X-Version"]) == (200, "1")
    assert answer["Content-Type"] == "application/zip"
    assert answer.content == target.read_bytes()


def test_over_rest_features_are_refused_with_their_lines(asked):
    commit(
        judgment_list=asked.judgments,
        grades={(asked.queries[0], asked.documents[0]): 3},
        by=asked.ada,
    )
    client, address = by_token("dora"), f"{MAIN}versions/1/training"
    wrong = post_file(client, address, b"query_id,doc_id,bm25\nq1,d1,much\n")
    is_problem(wrong, 422, "file_refused")
    assert [(one["line"], one["rule"]) for one in wrong.json()["problems"]] == [(2, "not-finite")]
    others = b"query_id,doc_id,bm25\nq9,d9,1\n"
    is_problem(post_file(client, address, others), 422, "nothing_to_learn")
    reserved = b"query_id,doc_id,relevance\nq1,d1,1\n"
    is_problem(post_file(client, f"{address}?format=tfranking", reserved), 422, "feature_refused")
    is_problem(post_file(client, f"{address}?format=weka", others), 400, "invalid")
    is_problem(post_file(client, f"{MAIN}versions/7/training", others), 404, "not_found")
