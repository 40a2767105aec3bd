"""The hub's commands, as scripts use them."""

import gzip
import hashlib
import io
import json

import pytest
from django.core.management import call_command

from judgments.models import (
    AuditEntry,
    Collection,
    Document,
    JudgmentList,
    JudgmentVersion,
    Membership,
    Query,
)
from tests.builders import make_user, make_world

pytestmark = pytest.mark.django_db


def write(path, text):
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def run(capsys, *words):
    """The exit status, stdout and stderr of a command."""
    try:
        call_command(*words)
        status: str | int | None = 0
    except SystemExit as end:
        status = end.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_collection_is_made_from_files(capsys, tmp_path):
    make_user(username="ada")
    queries = write(tmp_path / "queries.tsv", "q1\tone\nq2\ttwo\n")
    documents = write(tmp_path / "docs.jsonl.gz", '{"doc_id": "d", "title": "T", "text": "B"}\n')
    words = ["--queries", queries, "--documents", documents, "--name", "Books", "--by", "ada"]
    status, out, err = run(capsys, "create_collection", "books", *words)
    assert (status, out, err) == (0, "", "")
    assert Collection.objects.get().name == "Books"
    assert Membership.objects.get().role == "lead"
    assert (Query.objects.count(), Document.objects.get().title) == (2, "T")


def test_a_broken_file_leaves_no_collection_and_names_the_line(capsys, tmp_path):
    queries = write(tmp_path / "queries.tsv", "q1\tone\nq1\ttwo\n")
    status, out, err = run(capsys, "create_collection", "books", "--queries", queries)
    assert (status, out) == (2, "")
    assert err.startswith(f"{queries}:2")
    assert "duplicate" in err
    assert not Collection.objects.exists()


def test_a_missing_file_an_unknown_author_and_a_taken_slug_are_refused(capsys, tmp_path):
    queries = write(tmp_path / "queries.tsv", "q1\tone\n")
    missing = str(tmp_path / "none.tsv")
    assert run(capsys, "create_collection", "books", "--queries", missing)[0] == 2
    assert run(capsys, "create_collection", "books", "--queries", queries, "--by", "zoe")[0] == 2
    assert run(capsys, "create_collection", "books", "--queries", queries)[0] == 0
    status, _, err = run(capsys, "create_collection", "books", "--queries", queries)
    assert (status, "already exists" in err) == (2, True)


def test_qrels_make_the_list_and_its_first_version(capsys, tmp_path):
    make_world()
    qrels = write(tmp_path / "new.qrels", "q1 0 d1 3\nq2 0 d2 -2\n")
    words = ["--scale", "-2..4", "--reason", "TREC's", "--json"]
    status, out, _ = run(capsys, "import_qrels", "books/web", qrels, *words)
    assert status == 0
    assert json.loads(out) == {
        "collection": "books",
        "list": "web",
        "version": 1,
        "pairs": 2,
        "added": 2,
        "changed": 0,
        "new_queries": 0,
        "new_documents": 0,
        "format": "trec",
        "read_as": "TREC qrels (its first line has four fields, the last a whole number)",
    }
    version = JudgmentVersion.objects.get()
    assert (version.author, version.reason, version.source) == (None, "TREC's", "import")


def test_the_same_qrels_again_change_nothing(capsys, tmp_path):
    make_world()
    qrels = write(tmp_path / "new.qrels.gz", "q1 0 d1 3\n")
    assert run(capsys, "import_qrels", "books/main", qrels)[0] == 0
    status, out, _ = run(capsys, "import_qrels", "books/main", qrels, "--json")
    assert (status, json.loads(out)["version"]) == (0, None)


def test_unknown_ids_are_refused_and_leave_no_list(capsys, tmp_path):
    make_world()
    qrels = write(tmp_path / "new.qrels", "q1 0 d1 3\nq9 0 d1 3\nq1 0 d9 0\n")
    status, _, err = run(capsys, "import_qrels", "books/web", qrels)
    assert status == 2
    assert [line.split(": ")[:2] for line in err.splitlines()] == [
        [f"{qrels}:2", "unknown-query"],
        [f"{qrels}:3", "unknown-document"],
    ]
    assert not JudgmentList.objects.filter(slug="web").exists()


def test_with_create_a_collection_comes_from_qrels_alone(capsys, tmp_path):
    qrels = write(tmp_path / "new.qrels", "q1 0 d1 3\nq1 0 d2 0\n")
    assert run(capsys, "import_qrels", "covid/round-1", qrels)[0] == 2
    assert not Collection.objects.exists()
    assert run(capsys, "import_qrels", "covid/round-1", qrels, "--create")[0] == 0
    assert Query.objects.get().is_stub
    assert set(Document.objects.values_list("docid", flat=True)) == {"d1", "d2"}


def test_a_grade_outside_the_scale_is_refused_with_its_line(capsys, tmp_path):
    make_world()
    qrels = write(tmp_path / "new.qrels", "q1 0 d1 3\nq1 0 d2 9\n")
    status, _, err = run(capsys, "import_qrels", "books/main", qrels)
    assert (status, err.startswith(f"{qrels}:2")) == (2, True)
    assert run(capsys, "import_qrels", "books/main", qrels, "--scale", "0..9")[0] == 2


def test_a_version_is_exported_in_canonical_order(capsys, tmp_path):
    make_world()
    qrels = write(tmp_path / "new.qrels", "q2 0 d1 3\nq1 Q0 d2 1\nq1\t0  d1 0\n")
    run(capsys, "import_qrels", "books/main", qrels)
    more = write(tmp_path / "more.qrels", "q1 0 d1 4\n")
    run(capsys, "import_qrels", "books/main", more)
    status, out, _ = run(capsys, "export_qrels", "books/main", "--version", "1")
    assert (status, out) == (0, "q1 0 d1 0\nq1 0 d2 1\nq2 0 d1 3\n")
    status, newest, _ = run(capsys, "export_qrels", "books/main")
    assert newest == "q1 0 d1 4\nq1 0 d2 1\nq2 0 d1 3\n"
    said = json.loads(run(capsys, "export_qrels", "books/main", "--version", "1", "--json")[1])
    assert (said["version"], said["sha256"]) == (1, hashlib.sha256(out.encode()).hexdigest())


@pytest.mark.parametrize("name", ["9", "spring"])
def test_a_version_that_does_not_exist_cannot_be_exported(capsys, name):
    make_world()
    assert run(capsys, "export_qrels", "books/main", "--version", name)[0] == 2
    assert run(capsys, "export_qrels", "books/none")[0] == 2
    assert run(capsys, "export_qrels", "none/main")[0] == 2


@pytest.mark.parametrize("by", ["", "root"])
def test_somebody_gets_another_password_and_the_log_says_from_whom(capsys, monkeypatch, by):
    ada = make_user(username="ada")
    make_user(username="root", is_superuser=True)
    monkeypatch.setattr("sys.stdin", io.StringIO("a long enough password\n"))
    words = ("--by", by) if by else ()
    assert run(capsys, "changepassword", "ada", *words) == (0, "", "")
    ada.refresh_from_db()
    assert ada.check_password("a long enough password")
    (entry,) = AuditEntry.objects.all()
    actor = entry.actor.username if entry.actor else ""
    assert (entry.action, entry.subject, actor) == ("password.reset", "ada", by)


@pytest.mark.parametrize(("username", "said"), [("ada", "too short"), ("zoe", "user zoe")])
def test_a_password_that_is_no_good_or_nobody_s_changes_nothing(
    capsys, monkeypatch, username, said
):
    make_user(username="ada")
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    status, _, err = run(capsys, "changepassword", username)
    assert (status, said in err) == (2, True)
    assert not AuditEntry.objects.exists()
