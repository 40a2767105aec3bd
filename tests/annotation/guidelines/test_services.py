"""Guidelines say what every grade means, in revisions that stay what they were."""

from typing import Any

import pytest

from annotation.guidelines.rules import GuidelineRefused, checked_grades, empty_grades
from annotation.guidelines.services import create_guideline, revise_guideline
from annotation.models import GuidelineRevision
from judgments.models import AuditEntry, Collection
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_list, make_world
from tests.builders_annotation import grades_text, make_draft, make_guideline
from touchstone.scales import Scale

SCALE = Scale.default()


def texts(**change: Any) -> list[dict[str, Any]]:
    grades: list[dict[str, Any]] = [
        {"code": code, "definition": f"means {code}"} for code in SCALE.codes
    ]
    grades[2] |= change
    return grades


def test_grades_are_stored_worst_first_under_the_names_of_the_scale() -> None:
    checked = checked_grades(texts(examples=[" a ", ""], name="mine")[::-1], SCALE)
    assert [grade["code"] for grade in checked] == [0, 1, 2, 3, 4]
    assert checked[2] == {
        "code": 2,
        "name": "Partly relevant",
        "definition": "means 2",
        "examples": ["a"],
        "counter_examples": [],
    }


@pytest.mark.parametrize(
    "grades",
    [
        None,
        "0..4",
        [1, 2],
        texts()[:4],
        [*texts(), texts()[0]],
        texts(code=7),
        texts(code="2"),
        texts(code=True),
        texts(definition="  "),
        texts(definition=3),
        texts(definition="x" * 4_001),
        texts(definition="a\0b"),
        texts(definition="\ud800"),
        texts(examples="one"),
        texts(examples=[1]),
        texts(examples=["x"] * 21),
        texts(rank=1),
    ],
)
def test_grades_that_do_not_fit_the_scale_are_refused(grades: object) -> None:
    with pytest.raises(GuidelineRefused):
        checked_grades(grades, SCALE)


def test_an_empty_form_has_every_grade_and_is_not_enough() -> None:
    with pytest.raises(GuidelineRefused, match=r"Grade 0 \(Irrelevant\) needs a definition"):
        checked_grades(empty_grades(SCALE), SCALE)


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def revise(world: World, text: str, username: str = "ada") -> GuidelineRevision:
    guideline = world.collection.guidelines.get()
    return revise_guideline(
        access=make_access(collection=world.collection, username=username),
        at=NOW,
        guideline=guideline,
        judgment_list=world.judgments,
        text=text,
        grades=grades_text(judgment_list=world.judgments),
    )


def test_a_guideline_begins_with_its_first_revision(world: World) -> None:
    guideline = make_guideline(world=world)
    revision = guideline.revisions.get()
    assert (revision.number, revision.created_by) == (1, world.ada)
    assert revision.text == "Read the query, then the document."
    assert AuditEntry.objects.get(action="guideline.created").subject == "How to grade"


def test_a_revision_is_added_and_the_old_one_stays(world: World) -> None:
    guideline = make_guideline(world=world)
    assert revise(world, "Read twice.").number == 2
    assert revise(world, " Read twice. ").number == 2
    assert list(guideline.revisions.values_list("number", "text")) == [
        (1, "Read the query, then the document."),
        (2, "Read twice."),
    ]


def test_a_guideline_in_use_can_not_move_to_another_scale(world: World) -> None:
    make_draft(world=world)
    binary = make_list(collection=world.collection, slug="binary", scale=Scale.parse("0..1"))
    with pytest.raises(GuidelineRefused, match="Main uses this guideline with a different scale"):
        revise_guideline(
            access=make_access(collection=world.collection),
            at=NOW,
            guideline=world.collection.guidelines.get(),
            judgment_list=binary,
            text="",
            grades=grades_text(judgment_list=binary),
        )


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb"])
def test_a_guideline_needs_a_name(world: World, name: str) -> None:
    with pytest.raises(GuidelineRefused, match="Enter a name"):
        make_guideline(world=world, name=name)


def test_a_name_is_taken_once(world: World) -> None:
    make_guideline(world=world)
    with pytest.raises(GuidelineRefused) as refused:
        make_guideline(world=world)
    assert refused.value.code == "name_taken"


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_write_guidelines(world: World, username: str) -> None:
    make_guideline(world=world)
    with pytest.raises(NotFound):
        revise(world, "Mine.", username)
    with pytest.raises(NotFound):
        create_guideline(
            access=make_access(collection=world.collection, username=username),
            at=NOW,
            judgment_list=world.judgments,
            name="Mine",
            text="",
            grades=grades_text(judgment_list=world.judgments),
        )


def test_nobody_writes_guidelines_of_others(world: World) -> None:
    guideline = make_guideline(world=world)
    own = Collection.objects.get(slug="books-of-eve")
    with pytest.raises(NotFound):
        revise_guideline(
            access=make_access(collection=own, username="eve"),
            at=NOW,
            guideline=guideline,
            judgment_list=world.judgments,
            text="Mine.",
            grades=grades_text(judgment_list=world.judgments),
        )
