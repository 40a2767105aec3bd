"""What to judge next: the pairs that the page names, and the campaign that one button makes."""

from copy import deepcopy

import pytest
from django.urls import reverse

from annotation.models import Campaign, Pair, Pool
from evaluation.evaluations.queries import FilterRefused
from evaluation.judge_next.queries import JudgeNext, NextAsked, get_judge_next
from judgments.models import QueryOrigin, SetLook
from judgments.versions.services import Change
from tests.api.callers import MAIN, by_token
from tests.builders import World, commit, make_access, make_set, make_world
from tests.builders_annotation import make_campaign, make_guideline
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import make_run
from touchstone.measures.wording import describe

pytestmark = pytest.mark.django_db

PAGE = reverse("judge-next", args=["books", "main"])
START = reverse("next-campaign", args=["books", "main"])


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """Six queries; d1 is judged good everywhere; two runs that differ in d2 to d5."""
    world = make_world(queries=6)
    commit(
        judgment_list=world.judgments, grades={(q, world.documents[0]): 3 for q in world.queries}
    )
    world.judgments.refresh_from_db()
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings={key: ["d1", "d2", "d3"] for key in qids})
    other = {key: ["d1", "d4", "d5"] for key in qids}
    make_run(collection=world.collection, rankings=other, ranker="lsa")
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def ask(world: World, **asked) -> JudgeNext:
    access = make_access(collection=world.collection, username="dora")
    return get_judge_next(access=access, judgment_list=world.judgments, asked=NextAsked(**asked))


def test_only_pairs_that_tell_the_runs_apart_are_to_be_judged(world):
    found = ask(world)
    named = {pair.key for pair in found.pairs}
    expected = {(q.pk, d.pk) for q in world.queries for d in world.documents[1:]}
    assert named == expected
    assert (found.shown, found.unjudged, found.candidates) == (30, 24, 24)
    changes = [pair.change for pair in found.pairs]
    assert changes == sorted(changes, reverse=True)
    assert changes[0] == 1
    first = found.pairs[0]
    assert first.document.pk in {world.documents[1].pk, world.documents[3].pk}
    assert [source.rank for source in first.sources] == [2]
    assert found.doubt == pytest.approx(0.5)


def test_where_all_runs_are_too_many_the_best_are_asked_about(world, monkeypatch):
    best = ask(world)
    worse = {query.qid: ["d4", "d3", "d2"] for query in world.queries}
    make_run(collection=world.collection, rankings=worse, ranker="worst")
    every = ask(world).names
    monkeypatch.setattr("evaluation.judge_next.candidates.MOST_CELLS", best.shown * 8)
    found = ask(world)
    assert (found.names, found.pairs, found.left_out) == (best.names, best.pairs, 1)
    page = signed_in(world.dora).get(PAGE)
    assert "limited to the best 2 of 3" in text_of(page)
    with pytest.raises(FilterRefused, match="Too many pairs"):
        ask(world, runs=every)


def test_a_judged_pair_comes_back_when_its_labels_disagree(world):
    query, document = world.queries[0], world.documents[1]
    split = {"votes": {"0": 1, "3": 1}}
    commit(judgment_list=world.judgments, grades=[Change(query.pk, document.pk, 3, split)])
    world.judgments.refresh_from_db()
    doubted = [pair for pair in ask(world).pairs if pair.is_doubted]
    assert [pair.key for pair in doubted] == [(query.pk, document.pk)]


@pytest.mark.parametrize(
    "measure", ["P(rel=2)@5", "RBP(p=0.8)", "AP", "nDCG(gain='exp2')@3", "ERR@5"]
)
def test_every_family_of_measures_has_an_order(world, measure):
    found = ask(world, measure=measure)
    assert found.candidates == 24
    assert all(one.value >= 0 for one in found.expected)


@pytest.mark.parametrize(
    "asked",
    [
        {"n": 0},
        {"n": 100_000},
        {"measure": "nDCG@5 RR"},
        {"runs": ("bm25",)},
        {"runs": ("nope", "lsa")},
        {"segment": "nope"},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(world, asked):
    with pytest.raises(FilterRefused):
        ask(world, **asked)


def test_the_page_lists_the_pairs_and_has_the_button_for_leads_alone(world):
    address = f"{PAGE}?n=5&runs=bm25&runs=lsa"
    page = signed_in(world.dora).get(address)
    text = text_of(page)
    assert "5 pairs to judge" in text
    assert "Make a campaign" not in text
    assert "Create a campaign" in text_of(signed_in(world.ada).get(address))
    refused = signed_in(world.dora).get(f"{PAGE}?n=ten")
    assert refused.status_code == 400
    assert "must be a number" in text_of(refused)


def test_the_button_makes_a_draft_of_just_these_pairs(world):
    make_guideline(world=world)
    shown = ask(world, n=5, runs=("bm25", "lsa"))
    response = signed_in(world.ada).post(START, {"n": "5", "runs": ["bm25", "lsa"]})
    campaign = Campaign.objects.get()
    assert response["Location"] == reverse("campaign", args=["books", campaign.public_id])
    assert campaign.state == Campaign.State.DRAFT
    pairs = set(campaign.pairs.values_list("query", "document"))
    assert pairs == {pair.key for pair in shown.pairs}
    pool = Pool.objects.get()
    assert pool.strategy == Pool.Strategy.NEXT
    assert pool.entries.first().sources[0][2] in (2, 3)
    # the product knows how their queries were chosen
    origins = QueryOrigin.objects.values_list("query", "origin")
    assert set(origins) == {(query, "judge_next") for query, _ in pairs}
    # the campaign's own page can be looked at, and has nothing to top up
    page = signed_in(world.ada).get(response["Location"])
    assert page.status_code == 200
    again = signed_in(world.ada).post(START, {"n": "5", "runs": ["bm25", "lsa"]})
    assert again.status_code == 302
    assert Campaign.objects.filter(name__endswith="(2)").count() == 1


def test_pairs_that_are_being_judged_are_left_out_and_the_design_is_taken_over(world):
    taken = [(query, world.documents[1]) for query in world.queries]
    make_campaign(world=world, pairs=taken, overlap=2, rule="median")
    signed_in(world.ada).post(START, {"n": "100"})
    made = Campaign.objects.get(state=Campaign.State.DRAFT)
    assert (made.overlap, made.rule) == (2, "median")
    documents = set(made.pairs.values_list("document", flat=True))
    assert documents == {document.pk for document in world.documents[2:]}


def test_without_a_guideline_nothing_is_made_and_the_page_says_so(world):
    response = signed_in(world.ada).post(START, {"n": "5"}, follow=True)
    assert "Write a guideline for this list’s grades" in text_of(response)
    assert not Pair.objects.exists()


def test_over_rest_the_pairs_have_their_own_ids(world):
    body = by_token("dora").get(f"{MAIN}judge-next?n=3&runs=bm25,lsa").json()
    assert (body["unjudged"], body["candidates"], len(body["pairs"])) == (24, 24, 3)
    assert body["pairs"][0]["doc_id"] in {"d2", "d3", "d4", "d5"}
    assert {one["name"] for one in body["expected"]} == {"bm25/one", "lsa/one"}


def test_of_a_set_or_a_segment_only_its_queries_have_pairs(world):
    make_set(world=world, qids=["q1", "q2", "q4"])
    inside = {query.pk for query in world.queries if query.qid in ("q1", "q2", "q4")}
    found = ask(world, set="canaries")
    assert {pair.query.pk for pair in found.pairs} == inside
    assert (found.queries, found.candidates) == (3, 12)
    assert ask(world, set="canaries", segment="tail").queries == 2
    assert {pair.query.pk for pair in ask(world, segment="tail").pairs} == {
        query.pk for query in world.queries if query.qid in ("q2", "q4", "q6")
    }
    with pytest.raises(FilterRefused, match="No saved set named nope"):
        ask(world, set="nope")


def test_of_a_set_that_nobody_has_judged_all_that_runs_show_can_be_judged(world):
    query = world.queries[5]
    commit(judgment_list=world.judgments, grades={(query, world.documents[0]): None})
    world.judgments.refresh_from_db()
    make_set(world=world, qids=[query.qid])
    assert {pair.query.pk for pair in ask(world, set="canaries").pairs} == {query.pk}


def test_the_button_makes_a_campaign_of_the_sets_pairs_alone(world):
    make_guideline(world=world)
    make_set(world=world, qids=["q1", "q2"])
    page = signed_in(world.ada).get(f"{PAGE}?set=canaries&n=6")
    form = {"runs": [], "measure": "", "segment": "", "set": "canaries", "n": "6"}
    for name, value in form.items():
        if name in ("set", "n"):
            assert f'name="{name}" value="{value}"' in page.content.decode()
    signed_in(world.ada).post(START, form)
    made = Campaign.objects.get()
    shown = {pair.key for pair in ask(world, set="canaries", n=6).pairs}
    assert set(made.pairs.values_list("query", "document")) == shown
    assert len(shown) == 6
    assert {query for query, _ in shown} <= {query.pk for query in world.queries[:2]}


def test_what_is_expected_of_a_held_out_set_is_a_look_and_a_campaign_is_none(world):
    make_set(world=world, qids=["q1", "q2"], is_held_out=True)
    assert "held out, looked at once" in text_of(signed_in(world.dora).get(f"{PAGE}?set=canaries"))
    assert SetLook.objects.get().page == SetLook.Page.JUDGE_NEXT
    make_guideline(world=world)
    signed_in(world.ada).post(START, {"set": "canaries", "n": "5"})
    assert Campaign.objects.exists()
    assert "looked at" not in text_of(signed_in(world.dora).get(PAGE))
    assert SetLook.objects.count() == 1
    body = by_token("dora").get(f"{MAIN}judge-next?set=canaries").json()
    assert (body["set"], body["looks"], body["shown"]) == ("canaries", 2, 10)
    assert by_token("dora").get(f"{MAIN}judge-next").json()["looks"] is None


def test_the_page_says_in_words_what_its_measure_means(world):
    text = text_of(signed_in(world.dora).get(f"{PAGE}?measure=lightgbm:nDCG@10"))
    assert "lightgbm:nDCG@10: " in text
    assert "2^" in text
    assert "At version 1 , 6 queries." in text
    assert describe(ask(world, measure="lightgbm:nDCG@10").asked.measure) in text
