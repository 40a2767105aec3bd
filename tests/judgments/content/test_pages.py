"""The table of queries: its order, by links that work without JavaScript."""

import pytest
from django.test import Client
from django.urls import reverse

from judgments.models import Query
from tests.builders import make_user

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def dora(world) -> Client:
    client = Client()
    client.force_login(make_user(username="dora"), backend=BACKEND)
    return client


def qids_in_order(client: Client, **parameters: str) -> list[str]:
    page = client.get(reverse("queries", args=["books"]), parameters)
    return [query.qid for query in page.context["page"].rows]


def test_queries_are_sorted_by_links_in_the_header(world, dora):
    for qid, text, segment in (("q10", "aardvarks", "tail"), ("a2", "zebras", "head")):
        Query.objects.create(collection=world.collection, qid=qid, text=text, segment=segment)
    assert qids_in_order(dora) == ["q1", "q2", "q3", "q10", "a2"]  # as they were uploaded
    assert qids_in_order(dora, sort="qid") == ["a2", "q1", "q2", "q3", "q10"]  # as people count
    assert qids_in_order(dora, sort="-qid") == ["q10", "q3", "q2", "q1", "a2"]
    assert qids_in_order(dora, sort="text")[0] == "q10"
    assert qids_in_order(dora, sort="-text")[0] == "a2"
    assert qids_in_order(dora, sort="-segment") == ["q2", "q10", "q1", "q3", "a2"]
    assert qids_in_order(dora, sort="weight") == qids_in_order(dora)  # a column no one offers


def test_the_order_of_queries_stays_while_one_searches_and_is_told_to_screen_readers(world, dora):
    url = reverse("queries", args=["books"])
    html = dora.get(url, {"q": "q", "sort": "-qid"}).content.decode()
    assert '<th scope="col" aria-sort="descending"><a href="?q=q&amp;sort=qid">Id' in html
    assert '<a href="?q=q&amp;sort=text">Query' in html
    assert '<input type="hidden" name="sort" value="-qid">' in html
