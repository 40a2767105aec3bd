"""The audit log: a sentence for each entry, filters, and the file."""

import ast
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse

from judgments.audit.services import record_by
from judgments.audit.words import SENTENCES
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, make_access, make_world

ROOT = Path(__file__).parents[3]
NOUNS = "|".join(sorted({action.split(".")[0] for action in SENTENCES}))
RECORDING = re.compile(r"_?(record(_by|_person)?|audit|open|archive|load|load_records)$")


def recorded() -> Iterator[str]:
    """The actions that the product's code gives to what records them."""
    for app in ("annotation", "config", "evaluation", "judgments"):
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    given = [*node.args, *(word.value for word in node.keywords)]
                    if RECORDING.match(name):
                        yield from _texts(given)


def _texts(given: list[ast.expr]) -> Iterator[str]:
    for one in (inner for outer in given for inner in ast.walk(outer)):
        text = one.value if isinstance(one, ast.Constant) else ""
        if isinstance(text, str) and re.fullmatch(rf"({NOUNS})\.[a-z_]+", text):
            yield text


def test_every_action_that_is_recorded_has_a_sentence() -> None:
    by_state = {"training.failed", "training.passed"}  # from an attempt's state
    no_longer = {"judge.graded", "judge.grades_removed"}  # the log has them from older versions
    assert set(recorded()) | by_state | no_longer == set(SENTENCES)
    assert all(words.count("{}") == 1 for words in SENTENCES.values())


@pytest.fixture
def world(db: None) -> World:
    world = make_world()
    ada = make_access(collection=world.collection)
    before, after = {"labels_per_pair": 2, "depth": 10}, {"labels_per_pair": 3, "depth": 10}
    record_by(ada, NOW, "campaign.changed", "Spring “👗”", before=before, after=after)
    later, why = NOW + timedelta(days=2), {"grade": 0, "reason": "why"}
    decided = {"grade": 2, "state": "complete"}
    record_by(ada, later, "pair.adjudicated", "q1 d<1>", before=decided, after=why)
    return world


def rows(page: str) -> list[tuple[str, str, str]]:
    """Action, sentence and details of each row of the page."""
    found = re.findall(
        r'<tr data-action="(.*?)">.*?<td>(.*?)</td>\s*<td .*?>(.*?)</td>', page, re.DOTALL
    )
    return [
        (name, *(re.sub("<.*?>", "", cell).strip() for cell in cells)) for name, *cells in found
    ]


def test_an_entry_is_a_sentence_with_what_changed_and_nothing_else(world: World) -> None:
    page = client_of("ada").get(reverse("audit", args=["books"])).content.decode()
    assert rows(page)[:2] == [
        (
            "pair.adjudicated",
            "Ada adjudicated the pair q1 d&lt;1&gt;",
            "grade 2 → 0 · reason why · state was complete",
        ),
        ("campaign.changed", "Ada changed the plan of Spring “👗”", "labels per pair 2 → 3"),
    ]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"action": "campaign.changed"}, 1),
        ({"person": "ada", "since": f"{NOW:%Y-%m-%d}"}, 4),
        ({"person": "ben"}, 0),
        ({"since": f"{NOW + timedelta(days=1):%Y-%m-%d}"}, 1),
        ({"since": f"{NOW:%Y-%m-%d}", "until": f"{NOW + timedelta(days=1):%Y-%m-%d}"}, 3),
        ({"since": "not a day", "action": "pair.adjudicated"}, 1),
    ],
)
def test_the_page_and_its_file_hold_what_the_filters_choose(
    world: World, query: dict[str, str], count: int
) -> None:
    ada = client_of("ada")
    assert len(rows(ada.get(reverse("audit", args=["books"]), query).content.decode())) == count
    file = ada.get(reverse("audit-file", args=["books"]), query)
    assert file["Content-Disposition"] == 'attachment; filename="books-audit.jsonl"'
    lines = [json.loads(line) for line in file.getvalue().decode().splitlines()]
    assert len(lines) == count
    assert all(line["actor"] == "ada" and line["at"] for line in lines)


def test_the_file_holds_both_values_oldest_first(world: World) -> None:
    file = client_of("ada").get(reverse("audit-file", args=["books"]), {"person": "ada"})
    last, newest = map(json.loads, file.getvalue().decode().splitlines()[-2:])
    assert (last["action"], last["before"]["labels_per_pair"]) == ("campaign.changed", 2)
    assert (newest["subject"], newest["after"]) == ("q1 d<1>", {"grade": 0, "reason": "why"})
