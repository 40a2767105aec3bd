"""`reconcile` does what is due; `verify` says whether what is stored is right."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.models import Evaluation, Ranking
from judgments.audit.seals import seal_entries
from judgments.models import AuditEntry, SideText
from tests.builders import NOW, World, commit, make_list, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 2})
    return world


def test_reconcile_says_what_it_did_and_the_second_time_that_nothing_was_due(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reconcile")
    assert capsys.readouterr().out == (
        "books/main: 1 runs evaluated at version 1, 1 of them from scratch\n"
    )
    call_command("reconcile")
    assert capsys.readouterr().out == "nothing was due\n"


def test_reconcile_of_one_list_leaves_the_others_alone(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_list(collection=world.collection, slug="strict")
    commit(judgment_list=other, grades={(world.queries[0], world.documents[0]): 1})
    call_command("reconcile", "books/strict", "--json")
    done = json.loads(capsys.readouterr().out)["done"]
    assert done == ["books/strict: 1 runs evaluated at version 1, 1 of them from scratch"]
    assert Evaluation.objects.get().version.list == other


def test_reconcile_names_a_run_that_cannot_be_evaluated_and_ends(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(collection=world.collection, rankings={"q2": ["d1"]}, ranker="broken")
    commit(judgment_list=world.judgments, grades={(world.queries[2], world.documents[0]): 2})
    Ranking.objects.create(
        run=run, query=world.queries[2], documents=b"\1\0\0\0", scores=b"", order=b"\7\0"
    )
    call_command("reconcile")
    said = capsys.readouterr().out
    assert "broken/one can't be evaluated: ValueError: an order names" in said
    assert "1 runs evaluated" in said


def test_verify_is_content_with_what_reconcile_did(
    world: World, capsys: pytest.CaptureFixture[str], settings, tmp_path: Path
) -> None:
    settings.HOME, settings.NEWEST_SEAL = tmp_path, str(tmp_path / "newest.json")
    call_command("reconcile")
    seal_entries(after=0, at=NOW)
    capsys.readouterr()
    call_command("verify", "--all")
    texts, entries = SideText.objects.count(), AuditEntry.objects.count()
    said = (
        "1 evaluations, 0 steps, 0 tool values, 0 samples and 0 evaluations by them, "
        "0 corrected evaluations, 0 releases, 1 runs, "
        f"{texts} texts and {entries} sealed audit entries checked, 0 problems\n"
    )
    assert capsys.readouterr() == (said, "")


def test_verify_ends_with_1_where_a_bit_differs(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reconcile")
    right = Evaluation.objects.get()
    right.delete()
    Evaluation.objects.create(
        run=right.run,
        version=right.version,
        measure_set=right.measure_set,
        sums=b"\1" + bytes(right.sums)[1:-1] + b"\1",
        computed_at=right.computed_at,
    )
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command("verify", "books/main", "--json")
    assert ended.value.code == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert "square_low" in problem


def test_verify_names_a_text_that_was_changed_and_misses_none_that_was_erased(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reconcile")
    erased, changed = SideText.objects.order_by("pk")[:2]
    erased.delete()
    capsys.readouterr()
    call_command("verify", "--json")
    assert json.loads(capsys.readouterr().out)["problems"] == []
    SideText.objects.filter(pk=changed.pk).update(text="never written")
    with pytest.raises(SystemExit) as ended:
        call_command("verify", "--json")
    assert ended.value.code == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem == f"side text {changed.pk[:12]}: it is not what was written"


def test_a_list_that_is_not_there_is_bad_input(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("verify", "reconcile"):
        with pytest.raises(SystemExit) as ended:
            call_command(command, "books/none")
        assert ended.value.code == 2
        assert "Unknown list books/none." in capsys.readouterr().err
