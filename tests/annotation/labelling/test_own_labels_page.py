"""The table of an annotator's own labels: what is in it, in which order, and what it leads to."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.urls import reverse

from annotation.labelling.services import submit_label
from annotation.models import Campaign, Label
from judgments.models import Document
from tests.annotation.page_reading import client_of, links, words
from tests.builders import NOW, make_world
from tests.builders_annotation import context_of, label, make_campaign, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(world=make_world(queries=2, documents=10), overlap=2)


@pytest.fixture
def labels(campaign: Campaign) -> list[Label]:
    """Ben's: grades 2, 4 and can't tell, a minute apart, the last with a note; Cem's one is his."""
    pairs = list(campaign.pairs.select_related("campaign").order_by("query", "document")[:3])
    pairs[2].document.title = ""
    pairs[2].document.body = "“Nameless” & <b>bold</b> text"
    Document.objects.bulk_update([pairs[2].document], ["title", "body"])
    label(pair=pairs[0], username="cem", grade=1)
    contents: list[dict[str, Any]] = [{"grade": 2}, {"grade": 4}, {"note": "Which Ümlaut 🙂?"}]
    return [
        label(pair=pair, username="ben", at=NOW + timedelta(minutes=minute), **content)
        for minute, (pair, content) in enumerate(zip(pairs, contents, strict=True))
    ]


def table(campaign: Campaign, query: str = "", username: str = "ben") -> list[UUID]:
    """The ids of the rows, in order, by the links that open them again."""
    page = reverse("label-own-labels", args=[campaign.public_id])
    opened = reverse("label", args=[campaign.public_id]) + "#label="
    found = links(client_of(username).get(page + query))
    return [UUID(one.removeprefix(opened)) for one in found if one.startswith(opened)]


def test_the_newest_label_is_first_and_each_column_sorts_both_ways(campaign, labels) -> None:
    first, second, third = (one.pk for one in labels)
    assert table(campaign) == [third, second, first]
    assert table(campaign, "?sort=made") == [first, second, third]
    assert table(campaign, "?sort=grade") == [first, second, third]
    assert table(campaign, "?sort=-grade") == [second, first, third]
    assert table(campaign, "?sort=nonsense") == [third, second, first]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("?show=4", [1]),
        ("?show=0", []),
        ("?show=cannot_tell", [2]),
        ("?show=noted", [2]),
        ("?q=Ümlaut", [2]),
        ("?q=TITLE", [1, 0]),
        ("?q=query+number", [2, 1, 0]),
        ("?q=title&show=2", [0]),
        ("?show=many&q=" + "x" * 300, [2, 1, 0]),
    ],
)
def test_a_search_and_a_filter_leave_the_labels_that_meet_both(
    campaign, labels, query, rows
) -> None:
    assert table(campaign, query) == [labels[row].pk for row in rows]


def test_a_row_says_what_was_labelled_and_how(campaign, labels) -> None:
    page = client_of("ben").get(reverse("label-own-labels", args=[campaign.public_id]))
    assert "“Nameless” &amp; &lt;b&gt;bold&lt;/b&gt; text" in page.content.decode()
    _, newest = words(page).split("Labelled (UTC) ")
    assert re.search(
        r"bold.* Can’t tell query number 1 Which Ümlaut 🙂\? 14 Mar 2026, 09:28", newest
    )


def test_a_corrected_label_is_there_once_and_one_taken_back_is_not(campaign, labels) -> None:
    corrected, taken_back, _ = labels
    context = context_of(campaign, "ben")
    at = NOW + timedelta(minutes=9)
    for before, content in ((corrected, {"grade": 0}), (taken_back, {"outcome": "retracted"})):
        seat = before.assignment
        submit_label(context=context, submission=said(seat=seat, at=at, **content), at=at)
    (newest, other) = table(campaign)
    assert Label.objects.get(pk=newest).grade == 0
    assert other == labels[2].pk


def test_nobody_sees_the_labels_of_others(campaign, labels) -> None:
    (own,) = table(campaign, username="cem")
    assert Label.objects.get(pk=own).annotator.username == "cem"
    page = reverse("label-own-labels", args=[campaign.public_id])
    assert client_of("dora").get(page).status_code == 404


def test_an_annotator_who_has_labelled_nothing_is_led_to_the_first_pair(campaign) -> None:
    page = reverse("label-own-labels", args=[campaign.public_id])
    answer = client_of("ben").get(page)
    assert "Nothing labelled yet" in words(answer)
    assert reverse("label", args=[campaign.public_id]) in links(answer)
