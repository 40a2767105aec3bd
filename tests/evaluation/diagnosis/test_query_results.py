"""What every ranker shows for a query, side by side, and a document's judgments in every list."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import World, commit, make_list, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2", "d3"]})
    make_run(collection=world.collection, rankings={"q1": ["d2", "d1", "d4"]}, ranker="tfidf")
    q, (d1, _, _, d4, *_) = world.queries[0], world.documents
    commit(judgment_list=world.judgments, grades={(q, d1): 3, (q, d4): 0})
    return world


@pytest.fixture
def dora(world: World) -> Client:
    client = Client()
    client.force_login(world.dora, backend="django.contrib.auth.backends.ModelBackend")
    return client


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_rankings_stand_side_by_side_and_say_where_they_differ(dora: Client) -> None:
    page = reverse("query-results", args=["books", "q1"])
    query = dora.get(reverse("query", args=["books", "q1"])).content.decode()
    assert f'href="{page}?list=main"' in query
    html = dora.get(page).content.decode()
    text = text_of(html)
    assert html.count("↑ 1") == html.count("↓ 1") == 1
    assert html.count('class="other"') == 1
    assert "not in the first ranker’s 10" in text
    assert "1 of 3 2 of 3; 1 of the first ranker’s missing" in text
    turned = dora.get(page, {"runs": ["tfidf", "bm25"], "depth": "5"}).content.decode()
    assert turned.index(">tfidf</a>") < turned.index(">bm25</a>")


def test_what_can_not_be_shown_is_said(dora: Client) -> None:
    page = reverse("query-results", args=["books", "q1"])
    for parameters in ({"depth": "7"}, {"depth": "9" * 50}, {"runs": "nobody"}):
        answer = dora.get(page, parameters)
        assert (answer.status_code, "Can’t show this" in answer.content.decode()) == (400, True)
    assert dora.get(reverse("query-results", args=["books", "none"])).status_code == 404


def test_a_document_says_in_which_other_lists_it_is_judged(world: World, dora: Client) -> None:
    strict = make_list(collection=world.collection, slug="strict")
    q1, q2 = world.queries[:2]
    d1 = world.documents[0]
    commit(judgment_list=strict, grades={(q1, d1): 3, (q2, d1): 0})
    commit(judgment_list=strict, grades={(q1, d1): 2})
    html = dora.get(reverse("document", args=["books", "d1"])).content.decode()
    assert "Also judged in Strict for 2 queries." in text_of(html)
    assert 'href="?list=strict"' in html
