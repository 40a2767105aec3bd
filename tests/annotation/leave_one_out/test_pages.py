"""A comparison without the labels of each annotator, with numbers worked out by hand.

P(rel=3)@1 is 1 where a run's first document has the best of the grades given here. One run shows
d1 first everywhere, the other d2.
"""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.leave_one_out import queries as without
from annotation.leave_one_out.queries import Without, WithoutEach, get_without_each
from annotation.models import Campaign, QualityReport
from evaluation.runs.selection import RunsFilters
from judgments.models import SetLook
from tests.annotation.page_reading import client_of, words
from tests.api.callers import MAIN, by_token
from tests.builders import NOW, World, commit, make_access, make_member, make_set, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(days=1)
MEASURE = "P(rel=3)@1"
PEOPLE = ("ben", "cem", "fay")
# The median of each is 3; what stays of (3, 0) or (0, 3) alone comes to 2.
DISPUTED = {("q1", "d1"): (3, 3, 0), ("q2", "d1"): (3, 0, 3), ("q3", "d2"): (0, 3, 3)}
AGREED = {("q1", "d2"): (0, 0, 0), ("q2", "d2"): (0, 0, 0), ("q3", "d1"): (0, 0, 0)}


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """Bm25 is right about q1 and q2, lsa about q3; nothing is judged yet."""
    world = make_world()
    make_member(collection=world.collection, username="fay", role="annotator")
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings=dict.fromkeys(qids, ("d1", "d2")))
    make_run(collection=world.collection, rankings=dict.fromkeys(qids, ("d2", "d1")), ranker="lsa")
    return world


@pytest.fixture
def world(built: World) -> World:
    cache.clear()
    return deepcopy(built)


def labelled(
    world: World,
    given: Mapping[tuple[str, str], Sequence[int]],
    people: Sequence[str] = PEOPLE,
    at: datetime = NOW,
    **design: object,
) -> Campaign:
    """A campaign in which these people gave these grades, each as many as there are people."""
    queries = {query.qid: query for query in world.queries}
    documents = {document.docid: document for document in world.documents}
    pairs = [(queries[qid], documents[docid]) for qid, docid in given]
    design = {"overlap": len(people), "rule": "median"} | design
    campaign = make_campaign(world=world, pairs=pairs, people=people, **design)
    for pair in campaign.pairs.select_related("campaign", "query", "document"):
        grades = given[pair.query.qid, pair.document.docid]
        for username, grade in zip(people, grades, strict=True):
            label(pair=pair, username=username, grade=grade)
    consolidate(list_id=campaign.list_id, at=at)
    return campaign


def get(world: World, username: str = "ada", **filters: Any) -> WithoutEach:
    access = make_access(collection=world.collection, username=username)
    asked = RunsFilters(**({"measure": MEASURE, **filters}))
    return get_without_each(access=access, slug="main", filters=asked)


def rows_of(page: WithoutEach) -> dict[str, Without]:
    return {row.annotator: row for row in page.annotators}


def values_of(row: Without) -> list[float | None]:
    return [one.mean for one in row.runs]


def open_page(username: str, query: str = "", *, as_part: bool = False):
    client = client_of(username)
    headers = {"HX-Request": "true"} if as_part else {}
    address = reverse("compare-without", args=["books", "main"])
    return client.get(f"{address}?measure={MEASURE}{query}", headers=headers)


def test_each_annotators_labels_are_taken_out_and_the_rest_is_concluded_again(world):
    labelled(world, DISPUTED | AGREED)
    page = get(world)
    assert [one.mean for one in page.runs] == pytest.approx([2 / 3, 1 / 3])
    assert page.judgments == 6
    rows = rows_of(page)
    assert {name: (row.judgments, row.changed, row.lost) for name, row in rows.items()} == {
        "Ben": (6, 2, 0),
        "Cem": (6, 2, 0),
        "Fay": (6, 2, 0),
    }
    # without Ben q1 and q2 come to 2, q3 stays; without Cem q1 and q3; without Fay q2 and q3
    assert values_of(rows["Ben"]) == pytest.approx([0, 1 / 3])
    assert values_of(rows["Cem"]) == pytest.approx([1 / 3, 0])
    assert values_of(rows["Fay"]) == pytest.approx([1 / 3, 0])
    assert [rows[name].tau for name in ("Ben", "Cem", "Fay")] == [-1, 1, 1]
    moved = [(one.label, one.place, one.place_before) for one in rows["Ben"].moved]
    assert moved == [("lsa / one", 1, 2), ("bm25 / one", 2, 1)]
    assert page.turned == ("Ben",)
    text = words(open_page("ada"))
    assert "The order changes without Ben ; it stays the same without any one of the others" in text
    assert "lsa / one rises to 1, bm25 / one falls to 2" in text


def test_what_nobody_else_labelled_becomes_unjudged_and_its_query_leaves_the_mean(world):
    labelled(world, {("q1", "d1"): (3,), ("q2", "d1"): (3,)}, people=("ben",))
    labelled(world, {("q3", "d2"): (3,)}, people=("cem",), name="Second", at=LATER)
    page = get(world)
    assert [one.mean for one in page.runs] == pytest.approx([2 / 3, 1 / 3])
    rows = rows_of(page)
    assert (rows["Ben"].judgments, rows["Ben"].changed, rows["Ben"].lost) == (2, 0, 2)
    assert values_of(rows["Ben"]) == [0, 1]
    assert (rows["Cem"].judgments, rows["Cem"].changed, rows["Cem"].lost) == (1, 0, 1)
    assert values_of(rows["Cem"]) == [1, 0]


def test_without_the_only_annotator_no_value_is_left(world):
    labelled(world, {("q1", "d1"): (3,)}, people=("ben",))
    (row,) = get(world).annotators
    assert values_of(row) == [None, None]
    assert row.tau is None
    assert "bm25 / one has no value" in words(open_page("ada"))


def test_a_tie_of_the_labels_that_stay_has_no_winner_by_majority(world):
    labelled(world, DISPUTED | AGREED, rule="majority")
    row = rows_of(get(world))["Ben"]
    assert (row.changed, row.lost) == (0, 2)
    assert values_of(row) == pytest.approx([0, 1 / 3])


def test_what_a_person_decided_stands(world):
    campaign = labelled(world, DISPUTED | AGREED)
    ada = make_access(collection=world.collection)
    pair = campaign.pairs.select_related("campaign").get(query__qid="q1", document__docid="d1")
    adjudicate(access=ada, pair=pair, grade=3, reason="So.", at=NOW)
    consolidate(list_id=campaign.list_id, at=LATER)
    row = rows_of(get(world))["Ben"]
    assert (row.judgments, row.decided, row.changed) == (6, 1, 1)
    assert values_of(row) == pytest.approx([1 / 3, 1 / 3])


def test_an_older_version_is_about_the_labels_behind_it(world):
    labelled(world, DISPUTED | AGREED)
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 4})
    assert rows_of(get(world))["Ben"].judgments == 5
    assert rows_of(get(world, version="1"))["Ben"].judgments == 6


def test_weighed_labels_are_weighed_again_without_the_one_who_goes(world):
    labelled(world, DISPUTED | AGREED, rule="reliability")
    page = get(world)
    assert page.is_weighed
    # of two that no one knows yet, neither weighs more
    assert (rows_of(page)["Ben"].changed, rows_of(page)["Ben"].lost) == (0, 2)
    assert "weights of the campaign’s newest quality report" in words(open_page("ada"))


def test_what_newer_weights_alone_would_change_is_nobodys_labels_doing(world):
    campaign = labelled(world, {("q1", "d1"): (3, 3, 0)}, rule="reliability")
    ids = [getattr(world, name).pk for name in ("ben", "cem")]
    fay = campaign.annotators.get(user__username="fay").user_id
    model = {"prevalence": [0.2] * 5, "matrices": [[]] * 3, "weights": [1, 1, 5]}
    figures = {"labels": 3, "people": [*ids, fay], "model": model}
    QualityReport.objects.update_or_create(
        campaign=campaign, defaults={"figures": figures, "computed_at": NOW}
    )
    # Fay's 0 would win today, with Ben or without: the 3 that stands is not Ben's doing
    assert [(row.changed, row.lost) for row in get(world).annotators] == [(0, 0)] * 3


def test_imported_grades_are_nobodys(world):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    assert get(world).annotators == ()
    assert "there are no labels to leave out" in words(open_page("ada"))


def test_one_run_and_a_list_without_grades_have_no_order(world):
    assert get(world).runs == ()
    labelled(world, DISPUTED)
    assert get(world, runs=("bm25",)).runs == ()
    assert "fewer than two runs" in words(open_page("ada", "&runs=bm25"))


@pytest.mark.parametrize("bound", ["MOST_LABELS", "MOST_RANKS"])
def test_too_much_is_said_and_not_begun(world, monkeypatch, bound):
    labelled(world, DISPUTED | AGREED)
    monkeypatch.setattr(without, bound, 17)
    page = get(world)
    assert (page.is_too_much, page.annotators) == (True, ())
    assert "Too many labels or too long runs" in words(open_page("ada"))
    monkeypatch.setattr(without, bound, 36)
    assert len(get(world).annotators) == 3


def test_researchers_see_pseudonyms_and_only_once_every_campaign_is_closed(world):
    campaign = labelled(world, DISPUTED | AGREED)
    text = words(open_page("dora"))
    assert "still open" in text
    assert "person 2" not in text
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    text = words(open_page("dora"))
    assert "without person 2" in text
    for name in ("Ben", "Cem", "Fay"):
        assert name not in text
    assert "Ben" in words(open_page("ada"))


def test_annotators_and_strangers_see_nothing(world):
    labelled(world, DISPUTED)
    for username in ("ben", "eve"):
        assert open_page(username).status_code == 404


def test_the_comparison_asks_for_it_with_all_that_its_own_address_says(world):
    labelled(world, DISPUTED | AGREED)
    make_set(world=world, qids=["q1", "q3"])
    query = f"?measure={MEASURE}&set=canaries&version=1&baseline=lsa/one"
    page = client_of("ada").get(reverse("compare", args=["books", "main"]) + query)
    (address,) = re.findall(r'hx-get="([^"]*/without[^"]*)"', page.content.decode())
    part = client_of("ada").get(unescape(address), headers={"HX-Request": "true"})
    shown = part.context["page"]
    assert "<html" not in part.content.decode()
    assert [one.label for one in shown.runs] == ["lsa / one", "bm25 / one"]
    # of q1 and q3 alone: without Ben q1 is lost to bm25
    assert values_of(rows_of(shown)["Ben"]) == pytest.approx([1 / 2, 0])


def test_a_held_out_set_is_looked_at_and_says_so(world):
    labelled(world, DISPUTED | AGREED)
    make_set(world=world, qids=["q1", "q2"], is_held_out=True)
    for as_part in (False, True):  # within five minutes: one look
        text = words(open_page("ada", "&set=canaries", as_part=as_part))
        # the part stands on a page that has said it
        assert text.count("held out, looked at once") == (0 if as_part else 1)
    assert SetLook.objects.get().page == SetLook.Page.COMPARISON


def test_over_rest_the_answer_is_the_pages(world):
    labelled(world, DISPUTED | AGREED)
    page = get(world)
    answer = by_token("ada").get(f"{MAIN}compare/without?measure={MEASURE}")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["judgments"], found["is_open"], found["is_too_much"]) == (6, False, False)
    assert [row["run"] for row in found["runs"]] == ["bm25/one", "lsa/one"]
    for row, own in zip(found["annotators"], page.annotators, strict=True):
        assert (row["annotator"], row["changed"], row["lost"]) == (
            own.annotator,
            own.changed,
            own.lost,
        )
        assert [one["mean"] for one in row["runs"]] == values_of(own)
        assert row["tau"] == own.tau


def test_over_rest_a_researcher_is_told_nobody_while_a_campaign_is_open(world):
    labelled(world, DISPUTED | AGREED)
    found = by_token("dora").get(f"{MAIN}compare/without?measure={MEASURE}").json()
    assert (found["is_open"], found["annotators"]) == (True, [])
