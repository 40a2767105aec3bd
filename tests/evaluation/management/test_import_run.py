"""`import_run` from the command line."""

import gzip
import json
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.models import Ranker, Run
from judgments.models import AuditEntry, Collection
from tests.builders import World

pytestmark = pytest.mark.django_db

RUN = "q1 Q0 d2 1 3.5 tag\nq2 Q0 d3 1 1 tag\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bm25-tuned.run.gz"
    path.write_bytes(gzip.compress(RUN.encode()))
    return path


def test_a_run_is_imported_and_its_ranker_registered(
    world: World, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_run", "books/bm25", str(file))
    assert capsys.readouterr() == ("bm25/bm25-tuned answers 2 of 3 queries\n", "")
    run = Run.objects.get()
    assert (run.ranker.slug, run.name, run.row_count) == ("bm25", "bm25-tuned", 2)
    assert run.created_by is None


def test_a_name_and_a_person_can_be_given(world: World, file: Path) -> None:
    call_command("import_run", "books/bm25", str(file), "--name", "tuned", "--by", "dora")
    run = Run.objects.get()
    assert (run.name, run.created_by) == ("tuned", world.dora)
    assert AuditEntry.objects.get(action="run.imported").actor == world.dora


def test_json_says_what_was_done_and_the_second_time_that_nothing_was(
    world: World, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_run", "books/bm25", str(file), "--json")
    first = json.loads(capsys.readouterr().out)
    call_command("import_run", "books/bm25", str(file), "--json")
    second = json.loads(capsys.readouterr().out)
    assert first["created"]
    assert first["rows"] == 2
    assert (first["queries"], first["collection_queries"]) == (2, 3)
    note = "This content is already stored as bm25/bm25-tuned."
    assert second == first | {"created": False, "note": note}
    call_command("import_run", "books/bm25", str(file), "--name", "other", "--json")
    third = json.loads(capsys.readouterr().out)
    assert third["name"] == first["name"]
    assert "bm25/bm25-tuned" in third["note"]
    assert "other" in third["note"]
    call_command("import_run", "books/bm25", str(file), "--name", "other")
    assert third["note"] in capsys.readouterr().out.splitlines()


def test_a_rankers_short_name_is_made_from_its_name(world: World, file: Path) -> None:
    call_command("import_run", "books/BM25_tuned", str(file))
    call_command("import_run", "books/bm25-tuned", str(file), "--name", "other")
    ranker = Ranker.objects.get()
    assert (ranker.slug, ranker.name) == ("bm25-tuned", "BM25_tuned")


def test_the_rank_column_can_be_trusted(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tied = tmp_path / "tied.run"
    tied.write_text("q1 Q0 d1 1 7 t\nq1 Q0 d2 2 7 t\n")
    call_command("import_run", "books/bm25", str(tied))
    assert "2 lines in 1 query have the same score" in capsys.readouterr().out
    call_command("import_run", "books/bm25", str(tied), "--order", "rank", "--name", "b", "--json")
    assert "ordered by rank" in json.loads(capsys.readouterr().out)["remarks"][0]
    assert Run.objects.count() == 2


def test_how_the_run_was_made_is_kept(world: World, file: Path) -> None:
    words = ("--param", "k1=0.9", "--param", 'lucene="9.10"', "--param", "model=bm25=x")
    call_command("import_run", "books/bm25", str(file), *words, "--commit", "3f2a", "--tag", "v2")
    run = Run.objects.get()
    assert run.parameters == {"k1": 0.9, "lucene": "9.10", "model": "bm25=x"}
    assert (run.commit, run.tags) == ("3f2a", ["v2"])


@pytest.mark.parametrize("words", [("--tag", "<b>"), ("--param", "k=1", "--param", "k=2")])
def test_what_can_not_be_kept_is_refused(world: World, file: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("import_run", "books/bm25", str(file), *words)
    assert ended.value.code == 2
    assert not Run.objects.exists()


def test_with_create_even_the_collection_is_made(
    db: None, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_run", "fresh/bm25", str(file), "--create")
    assert Run.objects.get().ranker.collection.slug == "fresh"


def test_bad_input_is_named_by_file_and_line_with_exit_status_2(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.run"
    file.write_text("q1 Q0 d1 1 1 t\nq1 Q0 d1 2 0.5 t\n")
    with pytest.raises(SystemExit) as ended:
        call_command("import_run", "books/fresh", str(file), "--create")
    assert ended.value.code == 2
    assert f"{file}:2: duplicate:" in capsys.readouterr().err
    assert not Ranker.objects.exists()


def test_what_is_unknown_leaves_neither_ranker_nor_run(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "unknown.run"
    file.write_text("q1 Q0 nope 1 1 t\n")
    with pytest.raises(SystemExit):
        call_command("import_run", "books/fresh", str(file))
    assert "unknown.run:1: unknown-document:" in capsys.readouterr().err
    assert not Ranker.objects.exists()


def test_an_unknown_collection_is_named(
    db: None, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("import_run", "nowhere/bm25", str(file))
    assert ended.value.code == 2
    assert "Unknown collection nowhere." in capsys.readouterr().err
    assert not Collection.objects.exists()
