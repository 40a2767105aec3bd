"""`export_run` from the command line."""

import json

import pytest
from django.core.management import call_command

from evaluation.models import Run
from tests.builders import NOW, World
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(world: World) -> list[Run]:
    """Two runs of a ranker, the older first."""
    rankings = [{"q1": ["d2", "d1"]}, {"q2": ["d3"]}]
    return [
        make_run(collection=world.collection, rankings=one, name=name)
        for one, name in zip(rankings, ("old", "new"), strict=True)
    ]


def test_the_newest_run_is_printed(runs, capsys):
    call_command("export_run", "books/bm25")
    assert capsys.readouterr() == ("q2 Q0 d3 1 1.0 test\n", "")


def test_a_run_can_be_named_also_one_that_is_withdrawn(runs, capsys):
    Run.objects.filter(name="old").update(withdrawn_at=NOW)
    call_command("export_run", "books/bm25", "--name", "old")
    assert capsys.readouterr().out == "q1 Q0 d2 1 1.0 test\nq1 Q0 d1 2 0.5 test\n"


def test_what_is_withdrawn_is_not_the_newest(runs, capsys):
    Run.objects.filter(name="new").update(withdrawn_at=NOW)
    call_command("export_run", "books/bm25", "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["name"], printed["rows"]) == ("old", 2)
    assert printed["sha256"] == runs[0].sha256


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["books/nope"], "books/nope has no run."),
        (["books/bm25", "--name", "nope"], "books/bm25 has no run nope."),
        (["nope/bm25"], "Unknown collection nope."),
    ],
)
def test_what_is_not_there_is_refused(runs, arguments, message, capsys):
    with pytest.raises(SystemExit):
        call_command("export_run", *arguments)
    assert message in capsys.readouterr().err
