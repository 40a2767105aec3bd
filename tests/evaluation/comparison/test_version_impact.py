"""From "why did this number change?" to the label that did it."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from judgments.models import User
from judgments.versions.services import Change
from tests.builders import NOW, World, commit, make_world
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
VOTES = {"votes": {"0": 2}}


@pytest.fixture
def world() -> World:
    """bm25 shows d1 first; then the grade of d1 falls from 3 to 0, and d3 gets one."""
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d3"]})
    make_run(collection=world.collection, rankings={"q2": ["d3"]}, ranker="tfidf")
    (q1, q2, *_), (d1, d2, d3, *_) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q1, d2): 1, (q2, d3): 2})
    labelled = [Change(q1.pk, d1.pk, 0, VOTES), Change(q1.pk, d3.pk, 2)]
    commit(judgment_list=world.judgments, grades=labelled)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return world


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def moves_of(ranker: str) -> str:
    run = Run.objects.get(ranker__slug=ranker)
    return reverse("run-moves", args=["books", run.public_id])


def test_two_clicks_lead_from_a_number_to_the_pair_whose_label_moved_it(world: World) -> None:
    ada = signed_in(world.ada)
    board = reverse("leaderboard", args=["books", "main"])
    html = ada.get(board, {"measures": "RR@10", "since": "1"}).content.decode()
    (first,) = set(re.findall(r'href="([^"]+/moves[^"]+)"', html))
    why = ada.get(first.replace("&amp;", "&")).content.decode()
    (second,) = re.findall(r'href="([^"]+/pair\?[^"]+)"', why)
    assert second.endswith("/lists/main/pair?query=q1&amp;document=d1")


def test_the_queries_that_moved_come_with_the_grades_and_the_places_behind_them(
    world: World,
) -> None:
    query = {"list": "main", "before": "1", "after": "2", "measure": "RR@10"}
    html = signed_in(world.dora).get(moves_of("bm25"), query).content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "1.0000 at version 1, 0.7500 at version 2" in text
    assert "1.0000 → 0.5000, −0.5000" in text
    ranks = re.findall(r'<td class="num">(?:<span[^>]*>)?([^<]+)', html)
    assert ranks == ["1", "not returned"]
    assert "/pair?" not in html, "labels are for leads"
    nothing = signed_in(world.dora).get(moves_of("tfidf"), query | {"measure": "P@1"})
    assert "No query changed" in nothing.content.decode()


def test_the_page_of_a_version_tells_what_it_did_to_the_runs(world: World) -> None:
    dora = signed_in(world.dora)
    effect = reverse("effect", args=["books", "main", 1, 2])
    page = dora.get(reverse("version", args=["books", "main", 2])).content.decode()
    assert f'hx-get="{effect}"' in page
    assert (
        f'hx-get="{effect}"'
        in dora.get(reverse("diff", args=["books", "main", 1, 2])).content.decode()
    )
    part = dora.get(effect, {"measure": "RR@10"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "1 of 2 runs moved; bm25 is still the best" in " ".join(part.split())
    assert re.findall(r"−0[.]25000|unchanged", part) == ["−0.25000", "unchanged"]
    whole = dora.get(effect, {"measure": "nope"})
    assert (whole.status_code, "Can’t show this" in whole.content.decode()) == (400, True)
