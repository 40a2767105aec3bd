"""Reviewers see a share of each person's labels, and send some back."""

import io
import json
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from django.urls import reverse

from annotation.campaigns.services import CampaignRefused, add_annotators, close_campaign
from annotation.gold.services import mark_gold
from annotation.imports.files import read_given_labels
from annotation.imports.services import import_labels
from annotation.models import Campaign, CampaignAnnotator, Label, Review
from annotation.permissions import get_reviewer_context
from annotation.questions.own_queries import get_news
from annotation.questions.rules import QuestionRefused
from annotation.reviews.drawing import list_drawn
from annotation.reviews.queries import get_review_page, get_reviews_page
from annotation.reviews.services import ReviewRefused, plan_reviews, review_label
from judgments.models import Membership, User
from judgments.permissions import NotFound
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, label, make_campaign
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=3)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def plan(world: World, campaign: Campaign, percent: int = 100, *reviewers: str) -> None:
    access = make_access(collection=world.collection)
    chosen = reviewers or ("dora",)
    plan_reviews(access=access, campaign=campaign, percent=percent, reviewers=chosen, at=NOW)


def say(
    campaign: Campaign, said: Label, verdict: str, reason: str = "", by: str = "dora"
) -> Review:
    context = get_reviewer_context(
        viewer=User.objects.get(username=by), campaign_id=campaign.public_id
    )
    return review_label(context=context, label_id=said.pk, verdict=verdict, reason=reason, at=NOW)


def waiting(campaign: Campaign, by: str = "dora") -> list[str]:
    viewer = User.objects.get(username=by)
    context = get_reviewer_context(viewer=viewer, campaign_id=campaign.public_id)
    page = get_review_page(context)
    assert (page.label is not None) == bool(page.waiting)
    return [str(page.label.id)] * page.waiting if page.label else []


def pair_of(campaign: Campaign, number: int = 0) -> Any:
    return campaign.pairs.select_related("campaign").order_by("pk")[number]


def test_a_label_is_sent_back_with_a_reason_and_its_history_stays(
    world: World, campaign: Campaign
) -> None:
    plan(world, campaign)
    first = label(pair=pair_of(campaign), username="ben", grade=0)
    kept = label(pair=pair_of(campaign, 1), username="ben", grade=3)
    say(campaign, kept, "accepted")
    say(campaign, first, "returned", "Read the second paragraph.")
    (thread,) = get_news(context_of(campaign, "ben")).answers
    assert (thread.label, thread.messages[0].text) == (first.pk, "Read the second paragraph.")
    assert thread.messages[0].is_return
    assert context_of(campaign, "ben").news == 1
    assert waiting(campaign) == []
    again = label(pair=pair_of(campaign), username="ben", grade=2)
    assert again.supersedes == first
    assert waiting(campaign) == [str(again.pk)]
    say(campaign, again, "returned", "And the third.")
    (thread,) = get_news(context_of(campaign, "ben")).answers
    assert [one.text for one in thread.messages] == ["Read the second paragraph.", "And the third."]
    access = make_access(collection=world.collection)
    (row,) = get_reviews_page(access=access, campaign=campaign).people
    assert (row.name, row.drawn, row.waiting, row.accepted, row.returned, row.open) == (
        "Ben", 2, 0, 1, 2, 1,
    )  # fmt: skip


def test_a_share_is_drawn_of_each_person_and_stays_drawn_when_it_rises(world: World) -> None:
    world = make_world(slug="large", queries=10, documents=40)
    campaign = make_campaign(world=world)
    table = "annotator,query_id,doc_id,grade\n" + "".join(
        f"{name},{query.qid},{document.docid},1\n"
        for name in ("ben", "cem")
        for query in world.queries
        for document in world.documents
    )
    scale = Scale.from_json(world.judgments.scale)
    import_labels(
        access=make_access(collection=world.collection),
        judgment_list=world.judgments,
        given=read_given_labels(io.BytesIO(table.encode()), name="two.csv", scale=scale, at=NOW),
        campaign_name=campaign.name,
        names={},
        create=False,
        seed=1,
        at=NOW,
    )
    drawn: dict[int, set[UUID]] = {}
    for percent in (0, 20, 50, 100):
        campaign.review_percent = percent
        drawn[percent] = set(list_drawn(campaign).values_list("pk", flat=True))
        people = Counter(list_drawn(campaign).order_by().values_list("annotator", flat=True))
        for count in people.values():
            assert abs(count - 4 * percent) < 45  # of 400 labels; five standard errors at 20 %
    assert drawn[0] < drawn[20] < drawn[50] < drawn[100]
    assert len(drawn[100]) == 800
    campaign.secret, campaign.review_percent = "another", 50
    assert set(list_drawn(campaign).values_list("pk", flat=True)) != drawn[50]


def test_planted_pairs_are_reviewed_as_all_others_and_nothing_tells_them(
    world: World, campaign: Campaign
) -> None:
    plan(world, campaign)
    pair = pair_of(campaign)
    mark_gold(
        access=make_access(collection=world.collection),
        pair=pair, low=4, high=4, reason="Gold reason.", at=NOW,
    )  # fmt: skip
    pair.assignments.filter(seat=1).update(purpose="gold", seat=0)
    seat = pair.assignments.get(seat=0)
    type(seat).objects.filter(pk=seat.pk).update(
        state="leased", annotator=User.objects.get(username="ben"), leased_until=NOW
    )
    said = label(pair=pair, username="ben", grade=1)
    assert waiting(campaign) == [str(said.pk)]
    page = client_of("dora").get(reverse("review", args=[campaign.public_id])).text
    rest = client_of("dora").get(reverse("api-campaign-review", args=[campaign.public_id])).text
    for text in (page, rest):
        for told in ("Gold reason", "gold", "purpose", "bm25", "Ben", "person 2", "rank"):
            assert told not in text.replace("ranking", "")


def test_who_may_review(world: World, campaign: Campaign) -> None:
    access = make_access(collection=world.collection)
    said = label(pair=pair_of(campaign), username="ben", grade=0)
    with pytest.raises(NotFound):
        say(campaign, said, "accepted")
    with pytest.raises(ReviewRefused, match="annotates"):
        plan(world, campaign, 100, "ben")
    plan(world, campaign)
    assert Membership.objects.get(user__username="dora").is_annotating  # sees no rankings now
    dora = User.objects.get(username="dora")
    with pytest.raises(CampaignRefused):
        add_annotators(access=access, campaign=campaign, people=[dora], at=NOW)
    with pytest.raises(QuestionRefused):
        say(campaign, said, "returned", "  ")
    say(campaign, said, "accepted")
    with pytest.raises(ReviewRefused, match="reviewed or changed"):
        say(campaign, said, "returned", "No.")
    other = label(pair=pair_of(campaign, 1), username="cem", grade=0)
    close_campaign(access=access, campaign=campaign, at=NOW)
    campaign.refresh_from_db()
    with pytest.raises(ReviewRefused, match="closed"):
        say(campaign, other, "returned", "No.")
    plan(world, campaign, 0, "ada")
    assert not Membership.objects.get(user__username="dora").is_annotating
    assert waiting(campaign, by="ada") == []
    assert CampaignAnnotator.objects.filter(campaign=campaign).count() == 2


def test_pages_and_rest_for_lead_reviewer_and_annotator(world: World, campaign: Campaign) -> None:
    ada, dora, ben = client_of("ada"), client_of("dora"), client_of("ben")
    url = reverse("campaign-reviews", args=["books", campaign.public_id])
    said = label(pair=pair_of(campaign), username="ben", grade=0, note="Off topic.")
    assert "Saved." in ada.post(url, {"percent": 100, "reviewers": ["dora"]}, follow=True).text
    assert "1 label to review" in dora.get(reverse("my-campaigns")).text
    review = reverse("review", args=[campaign.public_id])
    assert "Off topic." in dora.get(review).text
    sent = {"label": said.pk, "verdict": "returned"}
    assert "Write a message first." in dora.post(review, sent).text
    assert "Nothing to review" in dora.post(review, sent | {"reason": "Why?"}, follow=True).text
    news = ben.get(reverse("label-questions", args=[campaign.public_id])).text
    assert "Sent back" in news
    assert f"#label={said.pk}" in news
    again = label(pair=pair_of(campaign), username="ben", grade=2)
    rest = reverse("api-campaign-review", args=[campaign.public_id])
    shown = dora.get(rest).json()
    assert shown["label"]["id"] == str(again.pk)
    assert [one["text"] for one in shown["label"]["messages"]] == ["Why?"]
    body = json.dumps({"label": str(again.pk), "verdict": "accepted"})
    answer = dora.post(rest, body, content_type="application/json")
    assert (answer.status_code, answer.json()) == (201, {"label": None, "waiting": 0})
    (row,) = ada.get(reverse("api-campaign-reviews", args=[campaign.public_id])).json()["people"]
    assert (row["accepted"], row["returned"], row["open"]) == (1, 1, 0)
