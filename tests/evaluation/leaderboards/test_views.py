"""The leaderboard as a browser sees it: whole, as a part, and as nothing while nothing changes."""

import re
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards import views
from evaluation.models import Leaderboard
from judgments.models import AuditEntry, Membership, User
from tests.builders import NOW, World, commit, make_list, make_world
from tests.evaluation.builders import make_run
from touchstone.measures.definition import CHOICES, FAMILIES

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    world = make_world()
    make_run(collection=world.collection, rankings={"q1": ["d2", "d1"]}, ranker="bm25")
    make_run(collection=world.collection, rankings={"q1": ["d1"], "q2": ["d3"]}, ranker="tfidf")
    q1, q2 = world.queries[:2]
    d1, _, d3, *_ = world.documents
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q2, d3): 1})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


@pytest.fixture
def dora(world: World) -> Client:
    return signed_in(world.dora)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def board_url(slug: str = "main") -> str:
    return reverse("leaderboard", args=["books", slug])


def poll(client: Client, state: str, query: str = "") -> Any:
    return client.get(board_url() + query, headers={"HX-Request": "true", "X-Board-State": state})


def state_of(html: str) -> str:
    found = re.search(r'"X-Board-State": "([^"]*)"', html)
    assert found
    return found[1]


def test_the_page_has_every_run_its_values_their_error_and_their_version(dora: Client) -> None:
    html = dora.get(board_url(), {"measures": "RR@10"}).content.decode()
    assert "version 1" in html
    assert re.findall(r'class="value">([0-9.]+)', html) == ["1.0000", "0.2500"]
    assert "± 3.1766" in html  # 0.25 × t(1), 97.5 %
    assert re.findall("no spread(?=<)", html) == ["no spread"]  # 1 on both queries
    assert "± 0.0000" not in html
    assert re.findall(r"([0-9]+)\s% judged", html) == ["100", "50"]
    assert "means over 2 judged queries" in " ".join(html.split())


def test_a_run_is_found_by_a_part_of_its_name_and_the_baseline_stays(dora: Client) -> None:
    found = dora.get(board_url(), {"find": "TFI"}).context["page"].runs
    assert [row.ranker for row in found] == ["tfidf"]
    beside = dora.get(board_url(), {"find": "tfi", "baseline": "bm25/one"}).context["page"]
    assert {row.ranker for row in beside.runs} == {"bm25", "tfidf"}
    assert "No matching runs" in dora.get(board_url(), {"find": "colbert"}).text


def test_a_long_leaderboard_comes_in_pages_and_as_a_whole_file(
    dora: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Pages" not in dora.get(board_url()).text
    monkeypatch.setattr(views, "ROWS", 1)
    first, second = dora.get(board_url()), dora.get(board_url(), {"page": "2"})
    names = [[row.ranker for row in page.context["rows"]] for page in (first, second)]
    assert names == [["tfidf"], ["bm25"]]
    assert "1–1 of 2" in first.text
    assert "?page=2" in first.text
    file = reverse("leaderboard-file", args=["books", "main"])
    assert dora.get(file, {"format": "csv", "page": "2"}).text.count("\n") == 3


def test_every_way_to_look_at_runs_leads_to_the_others_at_the_same_version(
    world: World, dora: Client
) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 2})
    names = ["leaderboard", "compare", "stability", "list-rosetta", "leaderboard-segments"]
    addresses = [f"{reverse(name, args=['books', 'main'])}?version=1" for name in names]
    newest = reverse("judge-next", args=["books", "main"])
    for address in addresses:
        html = dora.get(address).text
        assert [one for one in (*addresses, newest) if f'href="{one}"' not in html] == []


def test_a_pinned_baseline_stays_on_the_way_to_the_comparison_and_back(dora: Client) -> None:
    for name, baseline in (("leaderboard", "bm25/one"), ("compare", "bm25")):
        html = dora.get(reverse(name, args=["books", "main"]), {"baseline": baseline}).text
        for other in ("leaderboard", "compare"):
            assert f'href="{reverse(other, args=["books", "main"])}?baseline=bm25%2Fone"' in html


def test_an_open_page_gets_nothing_while_nothing_has_changed(dora: Client) -> None:
    page = dora.get(board_url())
    assert page["Cache-Control"].startswith("max-age=0")
    answer = poll(dora, state_of(page.content.decode()))
    assert (answer.status_code, answer.content) == (204, b"")


def test_an_open_page_gets_the_table_alone_as_soon_as_a_label_has_moved_it(
    world: World, dora: Client
) -> None:
    state = state_of(dora.get(board_url()).content.decode())
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 4})
    waiting = poll(dora, state)
    html = waiting.content.decode()
    assert waiting.status_code == 200
    assert "<html" not in html
    assert html.count("stale (version 1)") == 2
    assert "computing 2 runs" in html
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    done = poll(dora, state_of(html)).content.decode()
    assert 'data-version="2"' in done
    assert "computing" not in done
    assert poll(dora, state_of(done)).status_code == 204


def test_a_poll_keeps_the_filters_of_the_address_and_puts_nothing_into_its_links(
    dora: Client,
) -> None:
    html = poll(dora, "old", "?measures=RR%4010&sort=RR%4010").content.decode()
    assert re.findall(r'class="value">([0-9.]+)', html) == ["0.2500", "1.0000"]
    assert 'hx-get="/c/books/lists/main/leaderboard?measures=RR%4010&amp;sort=RR%4010"' in html
    assert "sort=-RR%4010" in html


def test_an_old_version_does_not_ask_again(world: World, dora: Client) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 4})
    html = dora.get(board_url(), {"version": "1"}).content.decode()
    assert "not the newest" in html
    assert "hx-get" not in html


def test_what_makes_no_sense_is_said_and_the_usual_table_shown(dora: Client) -> None:
    answer = dora.get(board_url(), {"measures": "nope@3"})
    html = answer.content.decode()
    assert answer.status_code == 400
    assert "Can’t show this" in html
    assert "nope" in html
    assert html.count('class="value"') == 12


def test_an_unknown_version_is_not_found(dora: Client) -> None:
    assert dora.get(board_url(), {"version": "99"}).status_code == 404


def test_a_lead_chooses_what_is_kept_current_and_it_is_evaluated_anew(world: World) -> None:
    ada = signed_in(world.ada)
    url = reverse("leaderboard-measures", args=["books", "main"])
    answer = ada.post(url, {"measures": ["nDCG@3", "P(rel=2)@1 RR"]}, follow=True)
    assert "Measures saved for this list" in answer.content.decode()
    kept = [name for name, _ in Leaderboard.objects.get().measure_set.measures]
    assert kept == ["nDCG@3", "P(rel=2)@1", "RR"]
    assert AuditEntry.objects.filter(action="leaderboard.measures_chosen").count() == 1
    done = refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert (done.evaluated, done.from_scratch) == (2, 2)


def test_measures_that_cannot_be_kept_are_refused_and_stay_in_the_form(world: World) -> None:
    ada = signed_in(world.ada)
    url = reverse("leaderboard-measures", args=["books", "main"])
    before = Leaderboard.objects.get().measure_set
    answer = ada.post(url, {"measures": "nDCG@3 nope"}, follow=True)
    assert answer.redirect_chain == [
        ("/c/books/lists/main/leaderboard?measures=nDCG%403+nope", 302)
    ]
    assert Leaderboard.objects.get().measure_set == before


def test_the_tab_leads_to_the_only_list_and_else_to_all_of_them(world: World, dora: Client) -> None:
    tab = reverse("leaderboards", args=["books"])
    assert dora.get(tab)["Location"] == board_url()
    make_list(collection=world.collection, slug="strict")
    html = dora.get(tab).content.decode()
    assert board_url("strict") in html


def test_empty_pages_say_what_to_do_next(world: World) -> None:
    films = make_world(slug="films")
    client = signed_in(films.dora)
    board = reverse("leaderboard", args=["films", "main"])
    assert "No judgments yet" in client.get(board).content.decode()
    commit(judgment_list=films.judgments, grades={(films.queries[0], films.documents[0]): 1})
    assert "No runs yet" in client.get(board).content.decode()


def test_whoever_annotates_in_an_open_campaign_is_blind_to_the_leaderboard(
    world: World, dora: Client
) -> None:
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    assert dora.get(board_url()).status_code == 404
    assert poll(dora, "").status_code == 404


def test_the_measures_page_explains_every_family_and_every_word_of_every_parameter(
    dora: Client,
) -> None:
    html = dora.get(reverse("measures")).content.decode()
    words = set(re.findall(r"[\w/-]+", html))
    assert set(FAMILIES) <= words
    assert {word for choices in CHOICES.values() for word in choices} <= words


def test_a_baseline_is_pinned_and_the_others_say_how_far_they_are_from_it(dora: Client) -> None:
    html = dora.get(board_url(), {"measures": "RR@10", "baseline": "tfidf/one"}).content.decode()
    assert html.index(">tfidf</a>") < html.index(">bm25</a>")
    assert re.findall(r'class="(?:good|bad)">([^<]+)</span> vs baseline', html) == ["−0.7500"]
    html = dora.get(board_url(), {"measures": "RR@10", "baseline": "bm25/one"}).content.decode()
    assert "+0.7500</span> vs baseline" in html
    refused = dora.get(board_url(), {"baseline": "nobody"})
    assert (refused.status_code, "No run named nobody" in refused.content.decode()) == (400, True)


def test_what_changed_since_a_version_stands_beside_each_value(world: World, dora: Client) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[1]): 4})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    html = dora.get(board_url(), {"measures": "RR@10", "since": "1"}).content.decode()
    assert re.findall(r">([^<>]+)</a> since 1", html) == ["+0.2500"]
    assert "unchanged since 1" in html
    assert "/c/books/lists/main/versions/1..2" in html
    assert dora.get(board_url(), {"since": "99"}).status_code == 404


def test_rankers_are_found_and_grouped_by_their_tags(world: World, dora: Client) -> None:
    url = reverse("ranker-tags", args=["books", "bm25"])
    assert "at most 40" in dora.post(url, {"tags": "Ünfug"}, follow=True).content.decode()
    dora.post(url, {"tags": "sparse_V1.2, sparse_V1.2 baseline"})
    page = dora.get(reverse("ranker", args=["books", "bm25"])).content.decode()
    assert 'value="sparse_V1.2, baseline"' in page
    assert AuditEntry.objects.get(action="ranker.tagged").after == {
        "tags": ["sparse_V1.2", "baseline"]
    }
    narrowed = dora.get(board_url(), {"tag": "baseline"}).content.decode()
    assert (">bm25</a>" in narrowed, ">tfidf</a>" in narrowed) == (True, False)
    grouped = dora.get(board_url(), {"group": "tag"}).content.decode()
    assert (
        grouped.index(">sparse_V1.2</th>")
        < grouped.index(">bm25</a>")
        < grouped.index("no tag</th>")
    )


def test_a_file_has_what_the_address_asks_for(dora: Client) -> None:
    url = reverse("leaderboard-file", args=["books", "main"])
    answer = dora.get(url, {"format": "csv", "measures": "RR@10", "sort": "RR@10"})
    assert answer["Content-Disposition"] == 'attachment; filename="books-main-1.csv"'
    lines = answer.content.decode().splitlines()
    assert lines[0] == "ranker,run,RR@10,RR@10 low,RR@10 high,RR@10 n"
    assert [line.split(",")[2] for line in lines[1:]] == ["0.25", "1.0"]
    page = dora.get(board_url(), {"measures": "RR@10"}).content.decode()
    assert "/leaderboard/file?format=svg&amp;measures=RR%4010" in page
