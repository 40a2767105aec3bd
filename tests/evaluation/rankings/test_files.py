"""A run that is had back as a file."""

import io

import pytest
from django.urls import reverse

from evaluation.models import Run
from evaluation.rankings.files import write_run
from evaluation.runs.services import import_run
from tests.builders import NOW, make_access
from tests.evaluation.browsing import signed_in
from tests.evaluation.builders import make_ranker
from touchstone.files.trec import read_run

pytestmark = pytest.mark.django_db

# neither sorted by score nor by query, with a tie, and scores that need every digit
FILE = (
    "q2 Q0 d3 1 0.1 night\n"
    "q1 Q0 d2 7 0.30000000000000004 night\n"
    "q1 Q0 d1 7 2e-300 night\n"
    "q1 Q0 d3 7 -0.0 night\n"
    "q3 Q0 d1 1 5 night\n"
    "q3 Q0 d2 1 5 night\n"
)
AGAIN = (
    "q1 Q0 d2 1 0.30000000000000004 night\n"
    "q1 Q0 d1 3 2e-300 night\n"
    "q1 Q0 d3 2 -0.0 night\n"
    "q2 Q0 d3 1 0.1 night\n"
    "q3 Q0 d1 2 5.0 night\n"
    "q3 Q0 d2 1 5.0 night\n"
)


def imported(world, text: str, name: str = "night") -> tuple[Run, bool]:
    ranker = world.collection.rankers.first() or make_ranker(collection=world.collection)
    done = import_run(
        access=make_access(collection=world.collection, username="dora"),
        ranker=ranker,
        source=io.BytesIO(text.encode()),
        name=name,
        file_name=name,
        at=NOW,
    )
    return done.run, done.created


def test_lines_are_as_they_were_and_ranks_as_values_see_them(world):
    """2e-300 is 0 as float32, in which ranks are counted, and d3 comes before d1 there."""
    run, _ = imported(world, FILE)
    assert b"".join(write_run(run=run)).decode() == AGAIN


@pytest.mark.parametrize("lines", [1, 2, 3, 6])
def test_it_is_the_same_file_in_however_many_portions(world, lines):
    run, _ = imported(world, FILE)
    portions = list(write_run(run=run, lines=lines))
    assert b"".join(portions).decode() == AGAIN


def test_uploaded_again_it_is_the_same_run(world):
    run, _ = imported(world, FILE)
    again, created = imported(world, b"".join(write_run(run=run)).decode(), "again")
    assert (again, created) == (run, False)


@pytest.mark.parametrize(("tag", "written"), [("..", "bm25"), ("t\u200bt", "t\u200bt")])
def test_a_tag_that_no_id_could_be_hinders_nothing(world, tag, written):
    run, _ = imported(world, FILE.replace("night", tag))
    read = read_run(io.BytesIO(b"".join(write_run(run=run))), name="again")
    assert read.tag == written


@pytest.mark.parametrize("name", ["night", "“night” 🌒.run"])
def test_the_page_of_a_run_offers_it(world, name):
    run, _ = imported(world, FILE, name)
    dora = signed_in(world.dora)
    address = reverse("run-file", args=["books", run.public_id])
    assert address in dora.get(reverse("run", args=["books", run.public_id])).content.decode()
    answer = dora.get(address)
    assert answer.getvalue().decode() == AGAIN
    assert answer["Content-Disposition"].startswith("attachment; filename")
