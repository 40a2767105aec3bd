"""The pages of questions and announcements, for annotators and for leads."""

from typing import Any

import pytest
from django.urls import reverse

from annotation.gold.services import mark_gold
from annotation.models import Campaign, Question
from annotation.questions.services import announce, answer, ask
from judgments.models import Role
from judgments.permissions import Access
from tests.annotation.page_reading import HTMX, client_of, links, of, words
from tests.builders import NOW, World, make_world
from tests.builders_annotation import context_of, lease, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=2, documents=5)
    return world, make_campaign(world=world)


@pytest.fixture
def question(campaign: Campaign) -> Question:
    """Ben asks about a pair."""
    seat = lease(campaign=campaign, username="ben")[0]
    context = context_of(campaign, "ben")
    return ask(context=context, assignment=seat.public_id, text="Is <b> enough?", at=NOW)


def own(name: str, campaign: Campaign, *more: object) -> str:
    return reverse(name, args=[campaign.public_id, *more])


def of_question(question: Question, name: str = "campaign-question") -> str:
    return of(name, question.campaign, question_id=question.public_id)


def test_an_annotator_asks_without_javascript_and_finds_the_thread_again(
    campaign: Campaign,
) -> None:
    seat, ben = lease(campaign=campaign, username="ben")[0], client_of("ben")
    page = f"{own('label-ask', campaign)}?assignment={seat.public_id}"
    assert seat.pair.query.text in words(ben.get(page))
    assert ben.post(page, {"text": " "}).status_code == 422
    sent = ben.post(page, {"text": "Is it enough?"}, follow=True)
    thread = own("label-question", campaign, Question.objects.get().public_id)
    assert sent.redirect_chain == [(thread, 302)]
    assert "Is it enough?" in words(sent)
    assert thread in links(ben.get(own("label-questions", campaign)))
    assert own("label-questions", campaign) in links(ben.get(own("label-own-work", campaign)))


def test_the_labelling_page_gets_parts_alone(campaign: Campaign, question: Question) -> None:
    ben = client_of("ben")
    page = f"{own('label-ask', campaign)}?assignment={question.assignment.public_id}"
    for part in (ben.get(page, headers=HTMX), ben.post(page, {"text": "So?"}, headers=HTMX)):
        assert part.status_code == 200
        assert "<html" not in part.content.decode()
        assert 'data-news="0"' in part.content.decode()
        assert "Is &lt;b&gt; enough?" in part.content.decode()
    refused = ben.post(page, {"text": ""}, headers=HTMX)
    assert refused.status_code == 422
    assert "data-news" in refused.content.decode()


def test_an_answer_is_on_home_and_in_the_news_until_it_is_read(
    campaign: Campaign, question: Question, ada: Access
) -> None:
    ben, home = client_of("ben"), reverse("my-campaigns")
    assert "new from the lead" not in words(ben.get(home))
    said: dict[str, Any] = {"access": ada, "campaign": campaign, "question_id": question.public_id}
    answer(**said, text="Yes, it is.", at=NOW)
    announce(access=ada, campaign=campaign, text="Read revision 2.", at=NOW)
    assert own("label-questions", campaign) in links(ben.get(home))
    assert "2 new from the lead" in words(ben.get(home))
    assert "Read revision 2." in words(ben.get(home))
    shown = ben.get(own("label-news", campaign), headers=HTMX)
    assert 'data-news="2"' in shown.content.decode()
    assert "Yes, it is." in words(shown)
    assert "Ada" not in words(shown)
    announced = campaign.announcements.get()
    read = {"question": f"{question.public_id}:2", "announcement": str(announced.pk)}
    left = ben.post(own("label-news", campaign), read, headers=HTMX)
    assert 'data-news="0"' in left.content.decode()
    assert "new from the lead" not in words(ben.get(home))
    assert "Read revision 2." not in words(ben.get(home))
    assert "Read revision 2." in words(ben.get(own("label-questions", campaign)))
    for nonsense in ({"question": "x:y"}, {"announcement": "nope"}, {"question": "1:99999999999"}):
        assert ben.post(own("label-news", campaign), nonsense).status_code == 302


def test_another_annotators_thread_is_not_there(campaign: Campaign, question: Question) -> None:
    cem = client_of("cem")
    thread = own("label-question", campaign, question.public_id)
    ask_page = f"{own('label-ask', campaign)}?assignment={question.assignment.public_id}"
    for page in (thread, ask_page, f"{own('label-ask', campaign)}?assignment=nope"):
        assert cem.get(page).status_code == 404
        assert cem.get(page, headers=HTMX).status_code == 404
        assert cem.post(page, {"text": "Mine"}).status_code == 404
    assert "enough" not in words(cem.get(own("label-questions", campaign)))


def test_a_lead_is_told_answers_and_closes(campaign: Campaign, question: Question) -> None:
    ada = client_of("ada")
    overview = words(ada.get(of("campaign", campaign)))
    assert "1 question to answer" in overview
    assert of("campaign-questions", campaign) in links(ada.get(of("campaign", campaign)))
    steps = words(ada.get(reverse("collection", args=[campaign.list.collection.slug])))
    assert "Answer questions in First" in steps
    listed = ada.get(of("campaign-questions", campaign))
    assert of_question(question) in links(listed)
    assert "person 2" in words(listed)
    assert "Ben" not in words(listed)
    assert "Ben" in words(ada.get(of("campaign-questions", campaign) + "?names=on"))
    page = ada.get(of_question(question))
    assert "Is &lt;b&gt; enough?" in page.content.decode()
    assert question.pair.document.title in words(page)
    assert "data-gold" not in page.content.decode()
    assert "Ben" not in words(page)
    assert "Ben" in words(ada.get(of_question(question) + "?names"))
    assert ada.post(of_question(question), {"text": ""}).status_code == 200
    sent = ada.post(of_question(question), {"text": "Yes.", "then": "close"}, follow=True)
    assert "Yes." in words(sent)
    pair = reverse("pair", args=[campaign.list.collection.slug, question.pair_id])
    assert of_question(question) in links(ada.get(pair))
    assert Question.objects.get().state == "closed"
    assert "question to answer" not in words(ada.get(of("campaign", campaign)))
    ada.post(of_question(question, "campaign-question-reopen"))
    assert Question.objects.get().state == "answered"


def test_a_search_without_a_hit_says_so(campaign: Campaign, question: Question) -> None:
    ada = client_of("ada")
    for asked, is_there in (("enough", True), ("zebra", False)):
        found = ada.get(of("campaign-questions", campaign), {"q": asked})
        assert (of_question(question) in links(found)) is is_there
    assert "No matching questions" in words(found)
    assert "No matching questions" in words(
        ada.get(of("campaign-questions", campaign), {"show": "closed"})
    )


def test_a_lead_is_warned_at_gold_and_its_asker_sees_no_difference(
    campaign: Campaign, question: Question, ada: Access
) -> None:
    ben = client_of("ben")
    thread = own("label-question", campaign, question.public_id)
    before = words(ben.get(thread))
    pair = campaign.pairs.select_related("campaign__list").get(pk=question.pair_id)
    mark_gold(access=ada, pair=pair, low=3, high=4, reason="It is.", at=NOW)
    page = client_of("ada").get(of_question(question))
    assert "data-gold" in page.content.decode()
    assert "3 to 4" in words(page)
    assert "example-grade" not in page.content.decode()
    assert words(ben.get(thread)) == before


def test_an_answer_becomes_an_example_in_the_editor_of_the_guideline(
    campaign: Campaign, question: Question, ada: Access
) -> None:
    said: dict[str, Any] = {"access": ada, "campaign": campaign, "question_id": question.public_id}
    answer(**said, text="A title\nis enough.", at=NOW)
    lead = client_of("ada")
    page = lead.get(of_question(question))
    slug = campaign.list.collection.slug
    editor = reverse("guideline-revise", args=[slug, campaign.guideline_id])
    assert editor in links(page)
    line = f"“{question.pair.query.text}”, {question.pair.document.title}: A title is enough."
    assert line in page.content.decode()

    def filled(**asked: Any) -> dict[str, Any]:
        form = lead.get(editor, asked).context["form"]
        return {name: field.initial for name, field in form.fields.items()}

    untouched = filled()
    shown = filled(grade=3, example=line, kind="examples")
    assert shown["examples_3"] == f"Like 3.\n{line}"
    assert {**shown, "examples_3": untouched["examples_3"]} == untouched
    assert filled(grade=2, example="No.", kind="counter_examples")["counter_examples_2"] == "No."
    for wrong in ({"grade": 99, "example": "x"}, {"grade": "x", "example": "x"}, {"grade": 3}):
        assert filled(**wrong) == untouched


def test_a_lead_announces_and_sees_who_read_it(campaign: Campaign, ada: Access) -> None:
    lead, page = client_of("ada"), of("campaign-announcements", campaign)
    assert page in links(lead.get(of("campaign", campaign)))
    assert lead.post(page, {"text": ""}).status_code == 200
    sent = lead.post(page, {"text": "Read revision 2."}, follow=True)
    assert "Read by 0 of 2" in words(sent)
    announced = campaign.announcements.get()
    client_of("ben").post(own("label-news", campaign), {"announcement": str(announced.pk)})
    assert "Read by 1 of 2" in words(lead.get(page))
    withdraw = f"{page}/{announced.pk}/withdraw"
    assert "Withdrawn." in words(lead.post(withdraw, follow=True))
    assert "already withdrawn" in words(lead.post(withdraw, follow=True))
    assert "Read revision 2." in words(lead.get(page))
    assert "Read revision 2." not in words(client_of("ben").get(own("label-questions", campaign)))


def test_the_pages_of_leads_are_none_for_annotators(
    campaign: Campaign, question: Question, world: World
) -> None:
    ben = client_of("ben")
    assert world.collection.memberships.get(user=world.ben).role == Role.ANNOTATOR
    for name in ("campaign-questions", "campaign-announcements"):
        assert ben.get(of(name, campaign)).status_code == 404
    assert ben.get(of_question(question)).status_code == 404
