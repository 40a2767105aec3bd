"""Guidelines as leads write and read them."""

import pytest
from django.urls import reverse

from annotation.guidelines.services import revise_guideline
from annotation.models import Guideline, GuidelineRevision
from tests.annotation.page_reading import HTMX, client_of, counted, words
from tests.builders import NOW, World, make_access, make_collection, make_list, make_world
from tests.builders_annotation import grades_text, label, make_campaign, make_guideline
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db
TYPED = {
    "name": "Does it answer?",
    "text": "# The task\n\n**Read** it.",
    "definition_0": "Nothing of use.",
    "definition_1": "The same subject.",
    "definition_2": "A part of it.",
    "definition_3": "Nearly it.",
    "definition_4": "This is it.",
    "examples_4": "The manual’s own page.\n\n  A tutorial.  ",
    "counter_examples_4": "A page that links to it.",
}


@pytest.fixture
def world() -> World:
    return make_world()


def at(name: str, **more: object) -> str:
    return reverse(name, kwargs={"slug": "books"} | more)


def test_without_a_list_a_guideline_can_not_be_written_and_the_page_says_what_to_do() -> None:
    make_collection(slug="empty")
    page = client_of("ada").get(reverse("guideline-create", args=["empty"]))
    assert "Create a judgment list first" in words(page)


def test_the_first_page_of_guidelines_invites_to_write_one(world: World) -> None:
    assert "Write a guideline" in words(client_of("ada").get(at("guidelines")))


def test_a_guideline_is_written_with_every_grade_and_found_again(world: World) -> None:
    ada = client_of("ada")
    answer = ada.post(at("guideline-create"), TYPED)
    made = Guideline.objects.get()
    assert answer.headers["Location"] == at("guideline", guideline_id=made.pk)
    best = made.revisions.get().grades[4]
    assert best == {
        "code": 4,
        "name": "Perfect",
        "definition": "This is it.",
        "examples": ["The manual’s own page.", "A tutorial."],
        "counter_examples": ["A page that links to it."],
    }
    shown = ada.get(answer.headers["Location"])
    assert "<h3>The task</h3>" in shown.content.decode()
    assert "<strong>Read</strong>" in shown.content.decode()
    assert "A page that links to it." in words(shown)
    assert "Does it answer?" in words(ada.get(at("guidelines")))


def test_what_was_typed_stays_when_a_definition_is_missing(world: World) -> None:
    page = client_of("ada").post(at("guideline-create"), TYPED | {"definition_2": " "})
    assert page.status_code == 200
    assert not Guideline.objects.exists()
    html = page.content.decode()
    assert "The manual’s own page." in html
    assert "This field is required." in html


def test_a_name_that_is_taken_is_refused_beside_its_field(world: World) -> None:
    make_guideline(world=world, name="Does it answer?")
    page = client_of("ada").post(at("guideline-create"), TYPED)
    assert "already exists" in words(page)
    assert 'aria-invalid="true"' in page.content.decode()


def test_a_guideline_is_for_the_grades_of_the_chosen_list(world: World) -> None:
    make_list(collection=world.collection, slug="signed", scale=Scale.parse("-1..1"))
    ada = client_of("ada")
    page = ada.get(at("guideline-create") + "?list=signed")
    assert 'name="definition_-1"' in page.content.decode()
    typed = {"name": "Signed", **{f"definition_{code}": str(code) for code in (-1, 0, 1)}}
    ada.post(at("guideline-create") + "?list=signed", typed)
    assert [grade["code"] for grade in GuidelineRevision.objects.get().grades] == [-1, 0, 1]
    assert ada.get(at("guideline-create") + "?list=none").status_code == 404


def test_a_revision_follows_and_the_old_one_stays_readable(world: World) -> None:
    guideline = make_guideline(world=world)
    ada = client_of("ada")
    editor = at("guideline-revise", guideline_id=guideline.pk)
    assert "What 3 means." in ada.get(editor).content.decode()
    answer = ada.post(editor, TYPED | {"base": 1})
    assert guideline.revisions.count() == 2
    assert "Revision 2, current" in words(ada.get(answer.headers["Location"]))
    old = ada.get(at("guideline-revision", guideline_id=guideline.pk, number=1))
    assert "What 3 means." in words(old)
    assert "This is an old revision" in words(old)


def test_saving_without_a_change_makes_no_revision(world: World) -> None:
    guideline = make_guideline(world=world)
    typed = {"base": 1, "text": "Read the query, then the document."}
    for grade in grades_text(judgment_list=world.judgments):
        typed |= {
            f"definition_{grade['code']}": grade["definition"],
            f"examples_{grade['code']}": grade["examples"][0],
        }
    editor = at("guideline-revise", guideline_id=guideline.pk)
    page = client_of("ada").post(editor, typed, follow=True)
    assert "No changes" in words(page)
    assert guideline.revisions.count() == 1


def test_a_revision_saved_meanwhile_is_not_passed_over(world: World) -> None:
    guideline = make_guideline(world=world)
    revise_guideline(
        access=make_access(collection=world.collection),
        at=NOW,
        guideline=guideline,
        judgment_list=world.judgments,
        text="Somebody else’s.",
        grades=grades_text(judgment_list=world.judgments),
    )
    ada = client_of("ada")
    editor = at("guideline-revise", guideline_id=guideline.pk)
    page = ada.post(editor, TYPED | {"base": 1})
    assert "Revision 2 was saved while you were writing" in words(page)
    assert "This is it." in page.content.decode()
    assert 'name="base" value="2"' in page.content.decode()
    ada.post(editor, TYPED | {"base": 2})
    assert guideline.revisions.count() == 3


def test_the_preview_shows_markdown_and_runs_nothing(world: World) -> None:
    typed = "## A\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![i](http://a/b.png) *b*"
    page = client_of("ada").post(at("guideline-preview"), {"text": typed}, headers=HTMX)
    html = page.content.decode()
    assert "<h4>A</h4>" in html
    assert "<em>b</em>" in html
    assert "<script" not in html
    assert "<a " not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_the_preview_works_without_a_script(world: World) -> None:
    page = client_of("ada").post(at("guideline-create"), TYPED | {"preview": "1"})
    assert "<h3>The task</h3>" in page.content.decode()
    assert not Guideline.objects.exists()


def test_a_text_that_is_too_long_is_refused_in_words(world: World) -> None:
    page = client_of("ada").post(at("guideline-preview"), {"text": "a" * 100_001})
    assert "at most 100000 characters" in words(page)


def test_names_and_texts_are_shown_as_they_are_never_as_markup(world: World) -> None:
    name = "“Quotes” & <b>tags</b> שלום 🎯"
    ada = client_of("ada")
    answer = ada.post(at("guideline-create"), TYPED | {"name": name, "definition_0": "<i>no</i>"})
    for page in (ada.get(answer.headers["Location"]), ada.get(at("guidelines"))):
        assert "“Quotes” &amp; &lt;b&gt;tags&lt;/b&gt; שלום 🎯" in page.content.decode()
    assert "&lt;i&gt;no&lt;/i&gt;" in ada.get(answer.headers["Location"]).content.decode()


def test_labels_are_counted_under_the_revision_that_was_shown(world: World) -> None:
    campaign = make_campaign(world=world)
    for pair in campaign.pairs.select_related("campaign")[:2]:
        label(pair=pair, username="ben", grade=1)
    url = at("guideline", guideline_id=campaign.guideline_id)
    with counted() as few:
        page = client_of("ada").get(url)
    assert [row.labels for row in page.context["page"].revisions] == [2]
    assert "First" in words(page)
    for number in range(12):
        revise_guideline(
            access=make_access(collection=world.collection),
            at=NOW,
            guideline=campaign.guideline,
            judgment_list=world.judgments,
            text=f"Text {number}",
            grades=grades_text(judgment_list=world.judgments),
        )
    with counted() as many:
        client_of("ada").get(url)
    assert len(many) == len(few)
