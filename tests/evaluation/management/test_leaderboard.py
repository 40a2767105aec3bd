"""`leaderboard` from the command line."""

import json
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Evaluation
from judgments.lists.services import release_version
from tests.builders import NOW, World, commit, make_access, make_set, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d2", "d1"]}, ranker="bm25")
    make_run(collection=world.collection, rankings={"q1": ["d1"], "q2": ["d3"]}, ranker="tfidf")
    q1, q2 = world.queries[:2]
    d1, _, d3, *_ = world.documents
    for grades in ({(q1, d1): 3}, {(q2, d3): 1}):
        commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return world


def board(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    call_command("leaderboard", "books/main", *arguments, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_runs_are_printed_best_first_with_four_decimals(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("leaderboard", "books/main", "--measures", "RR@10 P@1")
    assert capsys.readouterr().out == (
        "books/main, version 2\n"
        "run         RR@10     P@1  queries\n"
        "tfidf/one  1.0000  1.0000        2\n"
        "bm25/one   0.2500  0.0000        2  answers 1 of 2 queries\n"
    )


def test_json_has_every_digit_the_standard_error_and_the_number_of_queries(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    found = board(capsys, "--measures", "RR@10")
    assert (found["version"], found["measures"]) == (2, ["RR@10"])
    assert [run["ranker"] for run in found["runs"]] == ["tfidf", "bm25"]
    assert [(run["answered"], run["queries"]) for run in found["runs"]] == [(2, 2), (1, 2)]
    assert found["runs"][1]["values"] == {"RR@10": {"mean": 0.25, "standard_error": 0.25, "n": 2}}


def test_a_version_that_was_never_stored_is_computed(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not Evaluation.objects.filter(version__number=1).exists()
    found = board(capsys, "--version", "1", "--measures", "RR@10")
    assert [run["values"]["RR@10"]["mean"] for run in found["runs"]] == [1.0, 0.5]
    assert {run["version"] for run in found["runs"]} == {1}


def test_a_release_is_a_version_by_name(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    release_version(
        access=make_access(collection=world.collection),
        at=NOW,
        judgment_list=world.judgments,
        number=1,
        name="paper",
    )
    assert board(capsys, "--version", "paper")["version"] == 1


def test_a_segment_is_computed_over_its_queries_alone(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    found = board(capsys, "--segment", "head", "--measures", "RR@10")
    assert {run["values"]["RR@10"]["n"] for run in found["runs"]} == {1}


def test_a_saved_set_is_computed_over_its_queries_alone(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    make_set(world=world, slug="canaries", qids=["q1", "q3"])
    found = board(capsys, "--set", "canaries", "--measures", "RR@10")
    assert found["set"] == "canaries"
    assert {run["values"]["RR@10"]["n"] for run in found["runs"]} == {1}  # q3 is not judged
    call_command("leaderboard", "books/main", "--set", "canaries", "--format", "markdown")
    assert "books/main, version 2, set canaries" in capsys.readouterr().out


def test_a_run_that_is_not_at_the_version_yet_says_of_which_one_it_is(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[2], world.documents[0]): 2})
    make_run(collection=world.collection, rankings={"q3": ["d1"]}, ranker="late")
    call_command("leaderboard", "books/main")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "books/main, version 3"
    assert printed[2].endswith("  of version 2")
    assert printed[4].split()[:2] == ["late/one", "–"]
    assert printed[4].endswith("due")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["books/none"], "Unknown list books/none."),
        (["books/main", "--version", "9"], "No such version"),
        (["books/main", "--measures", "Foo@1"], "Foo"),
        (["books/main", "--measures", "nDCG(empty='error')@1"], "leaderboard"),
        (["books/main", "--set", "nowhere"], "Unknown saved set nowhere."),
        (["books/main", "--segment", "nowhere"], "No judged query is in the segment nowhere."),
    ],
)
def test_what_cannot_be_asked_for_is_said_with_exit_status_2(
    world: World, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("leaderboard", *arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
