"""Runs compared: which are meant, what the page says of them, and when it says that it can't."""

from copy import deepcopy

import pytest
from django.core.cache import cache
from django.urls import reverse

from evaluation.comparison.queries import CompareFilters, RunsCompared, get_comparison
from evaluation.comparison.words import judging_warning, verdict_of
from evaluation.evaluations.queries import FilterRefused
from evaluation.models import Run
from evaluation.runs.names import find_runs, run_label
from evaluation.runs.services import withdraw_run
from evaluation.stability.queries import OrderStability, get_stability_of
from evaluation.tasks import report_order_stability
from judgments.versions.services import Change
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db

BEST = ["d1", "d2", "d3", "d4", "d5"]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """Nine judged queries, on which d1 is best, and one that is not judged."""
    world = make_world(queries=10)
    d1, d2, d3, *_ = world.documents
    commit(
        judgment_list=world.judgments,
        grades={
            (query, document): grade
            for query in world.queries[:9]
            for document, grade in ((d1, 3), (d2, 1), (d3, 0))
        },
    )
    world.judgments.refresh_from_db()
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def runs_of(world: World) -> tuple[Run, Run]:
    """A good run and one that is worse on all queries but the first."""
    qids = [query.qid for query in world.queries]
    good = make_run(collection=world.collection, rankings=dict.fromkeys(qids, BEST))
    rankings = dict.fromkeys(qids, BEST[::-1]) | {qids[0]: BEST}
    return good, make_run(
        collection=world.collection, rankings=rankings, ranker="lsa", name='tw"o, 😀'
    )


def get(world: World, **filters) -> RunsCompared:
    access = make_access(collection=world.collection, username="dora")
    return get_comparison(access=access, slug="main", filters=CompareFilters(**filters))


def stability_of(world: World, **filters) -> OrderStability:
    return get_stability_of(get(world, **filters).chosen)


def stable(world: World, **filters) -> OrderStability:
    """How stable the order is, as it is shown once a worker has computed it."""
    report_order_stability(*stability_of(world, **filters).order.message)
    shown = stability_of(world, **filters)
    assert shown.runs
    return shown


def open_page(world: World, query: str = ""):
    return signed_in(world.dora).get(reverse("compare", args=["books", "main"]) + query)


def test_a_difference_is_the_difference_of_the_leaderboards_means(world):
    runs_of(world)
    page = get(world, measure="nDCG@10")
    assert page.baseline is not None
    assert page.baseline.name == "bm25/one"
    (other,) = page.comparisons
    assert other.n == 9
    assert other.mean == pytest.approx(other.run.mean - page.baseline.mean)
    assert (other.wins, other.ties, other.losses) == (0, 1, 8)
    # all eight signs flipped or none, and the query without a difference either way
    assert other.p_corrected == pytest.approx(2 / 2**8)
    assert verdict_of(other).startswith('lsa / tw"o, 😀 is worse than bm25 / one by 0.')


def test_the_baseline_turns_the_signs_round(world):
    runs_of(world)
    page = get(world, baseline='lsa/tw"o, 😀')
    assert [other.run.name for other in page.comparisons] == ["bm25/one"]
    assert page.comparisons[0].mean > 0


def test_runs_are_named_by_ranker_by_both_by_id_or_several_at_once(world):
    good, bad = runs_of(world)
    access = make_access(collection=world.collection, username="dora")
    for names in (
        ["bm25", "lsa"],
        ["bm25/one", 'lsa/tw"o, 😀'],
        [str(good.public_id), str(bad.public_id)],
        ["bm25,lsa"],
        ["bm25/one, lsa", "bm25"],
    ):
        assert find_runs(access=access, names=names) == [good, bad]


def test_a_withdrawn_run_is_compared_only_by_its_full_name(world):
    good, bad = runs_of(world)
    access = make_access(collection=world.collection)
    withdraw_run(access=access, run=bad, at=NOW)
    assert find_runs(access=access, names=[]) == [good]
    assert find_runs(access=access, names=['lsa/tw"o, 😀']) == [bad]
    with pytest.raises(FilterRefused, match="No run named lsa"):
        find_runs(access=access, names=["lsa"])


def test_a_run_of_another_collection_is_not_found(world):
    elsewhere = make_world(slug="films")
    run = make_run(collection=elsewhere.collection, rankings={"q1": ["d1"]})
    with pytest.raises(FilterRefused):
        get(world, runs=(str(run.public_id),))


@pytest.mark.parametrize(
    "filters",
    [
        {"test": "wilcoxon"},
        {"baseline": "nope/nope"},
        {"measure": "nDCG@5 RR"},
        {"measure": "nDCG(average='weighted')@5"},
        {"segment": "nope"},
        {"measure": "RR(average='weighted')"},
        {"runs": ("nope",)},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(world, filters):
    runs_of(world)
    with pytest.raises(FilterRefused):
        get(world, **filters)


def test_a_refusal_leaves_a_page_that_can_be_used(world):
    runs_of(world)
    response = open_page(world, "?test=wilcoxon")
    assert response.status_code == 400
    assert "Unknown test wilcoxon" in text_of(response)
    assert "Against bm25 / one" in text_of(response)


def test_a_segment_has_only_its_queries_and_too_few_have_no_p_value(world):
    runs_of(world)
    page = get(world, segment="tail")
    (other,) = page.comparisons
    assert (other.n, other.p_corrected) == (4, None)
    assert "Too few queries: 4 queries" in verdict_of(other)
    whole = get(world)
    assert [(row.name, row.n) for row in whole.detail.segments] == [
        ("head", 5),
        ("tail", 4),
    ]


def test_what_changed_in_the_rankings_is_counted_whatever_it_is_worth(world):
    runs_of(world)
    changes = get(world, measure="nDCG@3").detail.changes
    assert (changes.k, changes.queries, changes.same_top, changes.same_set) == (3, 9, 1, 1)
    assert changes.overlap == pytest.approx((1 + 8 / 3) / 9)
    assert 0 < changes.rbo < 1


def test_an_uneven_share_of_judged_documents_is_told(world):
    for ranker, docids in (("bm25", ["d1", "d2"]), ("fresh", ["d4", "d1"])):
        rankings = {query.qid: docids for query in world.queries}
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    (other,) = get(world, measure="nDCG@2").comparisons
    assert "may be about judging, not about ranking" in judging_warning(other.baseline, other.run)


def test_three_runs_are_corrected_and_compared_all_with_all(world):
    runs_of(world)
    rankings = {query.qid: ["d2", "d1"] for query in world.queries}
    make_run(collection=world.collection, rankings=rankings, ranker="third")
    page = get(world)
    assert [one.p_corrected for one in page.comparisons] == pytest.approx(
        [2 * 2 / 2**8, 2 * 2 / 2**9], rel=1
    )
    assert page.comparisons[0].p_corrected >= page.comparisons[0].p_value
    assert len(page.pairs) == 3
    assert all(row.low <= row.difference <= row.high for row in page.pairs)


def test_many_differences_are_drawn_as_quantiles(world, monkeypatch):
    runs_of(world)
    monkeypatch.setattr("evaluation.comparison.queries.MOST_BARS", 4)
    detail = get(world).detail
    assert detail.is_quantiles
    assert len(detail.drawn) == 4
    assert list(detail.drawn) == sorted(detail.drawn, reverse=True)


def test_the_page_leads_to_each_value_and_names_no_one_else(world):
    good, bad = runs_of(world)
    response = open_page(world, "?measure=nDCG@10")
    text = text_of(response)
    assert 'lsa / tw"o, 😀 against bm25 / one' in text
    links = links_of(response, "/query/")
    assert f"/c/books/runs/{bad.public_id}/query/q2?list=main&version=1&measure=nDCG%4010" in links
    assert f"/c/books/runs/{good.public_id}/query/q2?list=main&version=1&measure=nDCG%4010" in links
    for link in links[:2]:
        assert signed_in(world.dora).get(link).status_code == 200


def test_the_chart_has_a_bar_for_every_query_that_leads_to_it(world):
    _, bad = runs_of(world)
    html = open_page(world, "?measure=nDCG@10").content.decode()
    chart, _, rest = html.partition('<svg class="plot-area"')[2].partition("</svg>")
    assert 'aria-label="Differences: 0 queries gain, 8 lose, 1 are equal"' in chart
    assert chart.count('<a class="mark loss"') == 8
    assert chart.count('<a class="mark gain"') == 0
    assert chart.count('<rect class="shape"') == 9
    place = reverse("run-query", args=["books", bad.public_id, "q2"])
    assert f'href="{place}?list=main&amp;version=1&amp;measure=nDCG%4010"' in chart
    assert "Difference in nDCG@10" in html
    assert "All 9 queries as a table" in rest


def test_bars_of_many_queries_are_equal_parts_of_them_and_no_links(world, monkeypatch):
    monkeypatch.setattr("evaluation.comparison.queries.MOST_BARS", 3)
    runs_of(world)
    html = open_page(world).content.decode()
    chart = html.partition('<svg class="plot-area"')[2].partition("</svg>")[0]
    assert chart.count('<g class="mark') == 3
    assert "<a " not in chart
    assert "part 3 of 3" in chart
    assert "queries as a table" not in html


@pytest.mark.parametrize("runs", [0, 1])
def test_without_two_runs_the_page_says_what_it_needs(world, runs):
    for number in range(runs):
        make_run(collection=world.collection, rankings={"q1": BEST}, ranker=f"r{number}")
    assert "needs two runs" in text_of(open_page(world))


def test_before_the_first_version_the_page_waits(world):
    fresh = make_world(slug="films")
    for ranker in ("a", "b"):
        make_run(collection=fresh.collection, rankings={"q1": ["d1"]}, ranker=ranker)
    response = signed_in(fresh.dora).get(reverse("compare", args=["films", "main"]))
    assert "No judgments yet" in text_of(response)


def test_the_same_question_has_the_same_answer(world):
    runs_of(world)
    first = get(world).comparisons[0]
    cache.clear()
    assert get(world).comparisons[0] == first


def test_an_old_version_is_compared_by_its_own_grades(world):
    runs_of(world)
    before = get(world, baseline="bm25").comparisons[0].mean
    d5 = world.documents[4]
    commit(judgment_list=world.judgments, grades={(query, d5): 4 for query in world.queries[:9]})
    world.judgments.refresh_from_db()
    assert get(world, baseline="bm25").comparisons[0].mean > 0 > before
    assert get(world, version="1").comparisons[0].mean == before
    assert before is not None


def test_labels_that_disagree_make_the_order_less_sure(world):
    qids = [query.qid for query in world.queries]
    for ranker, docids in (("bm25", ("d1", "d2")), ("lsa", ("d2", "d1"))):
        rankings = dict.fromkeys(qids, docids)
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    sure = stable(world, measure="nDCG@2")
    assert [row.first for row in sure.runs] == [1, 0]
    assert not sure.has_labels
    commit(
        judgment_list=world.judgments,
        grades=[
            Change(query.pk, document.pk, 2 - place, {"votes": {"0": 1, "3": 1}})
            for query in world.queries[:9]
            for place, document in enumerate(world.documents[:2])
        ],
    )
    world.judgments.refresh_from_db()
    shaken = stable(world, measure="nDCG@2")
    assert shaken.noisy == 18
    (first, second) = shaken.runs
    assert (first.label, first.first) == ("bm25 / one", 1)
    assert 0.3 < first.first_labels < 0.7
    assert first.above[1] + second.above[0] == pytest.approx(1)


def test_a_decided_grade_is_not_drawn_anew(world):
    runs_of(world)
    q1, d1 = world.queries[0], world.documents[0]
    evidence = {"votes": {"0": 1, "3": 1}, "adjudicated": True}
    commit(judgment_list=world.judgments, grades=[Change(q1.pk, d1.pk, 2, evidence)])
    world.judgments.refresh_from_db()
    assert stable(world).noisy == 0


def test_each_query_is_a_dot_that_leads_to_it(world):
    _, bad = runs_of(world)
    response = open_page(world)
    page = response.content.decode()
    assert page.count('<circle class="shape"') == 9
    addresses = [link for link in links_of(response) if f"/runs/{bad.public_id}/query/" in link]
    assert {address.rpartition("/")[2].partition("?")[0] for address in addresses} >= {"q2", "q9"}
    dots = get(world).detail.points
    assert dots[0].query_id == "q1"
    assert [dot.difference for dot in dots] == sorted(
        (dot.difference for dot in dots), reverse=True
    )


def test_other_measures_and_tools_are_asked_about_the_order_of_three_runs(world):
    runs_of(world)
    assert get(world).orders is None
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings=dict.fromkeys(qids, BEST[1:]), ranker="third")
    orders = get(world, measure="nDCG@10").orders
    assert orders is not None
    assert orders.runs == 3
    taus = {one.name: one.tau for one in orders.orders}
    assert taus["nDCG@20"] == pytest.approx(1)
    assert any(one.is_dialect for one in orders.orders)
    assert [one.tau for one in orders.orders] == sorted(taus.values())
    assert "Agreement with other measures" in text_of(open_page(world))


def test_the_first_place_hangs_on_the_judgments_that_would_turn_it_round():
    world = make_world(slug="small", queries=3)
    d1, d2, *_ = world.documents
    grades = {(query, d1): 3 for query in world.queries} | {(q, d2): 2 for q in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    world.judgments.refresh_from_db()
    qids = [query.qid for query in world.queries]
    first, second = ("d1", "d2"), ("d2", "d1")
    make_run(collection=world.collection, rankings=dict(zip(qids, (first,) * 3, strict=True)))
    other = dict(zip(qids, (first, first, second), strict=True))
    make_run(collection=world.collection, rankings=other, ranker="lsa")
    page = get(world, measure="nDCG@5")
    hangs = stable(world, measure="nDCG@5").first_place
    assert hangs is not None
    assert (hangs.leader, hangs.rival, hangs.tried) == ("bm25 / one", "lsa / one", 6)
    # d1 of the query on which they differ, or d2, at the grade that the other order likes
    assert (hangs.fewest, hangs.singles) == (1, 2)
    top = hangs.shown[0]
    assert top.query_id == "q3"
    lead = -page.comparisons[0].mean
    assert hangs.margin == pytest.approx(lead)
    # what it says is what comes true
    document = next(one for one in world.documents if one.docid == top.doc_id)
    changes = [Change(world.queries[2].pk, document.pk, top.instead.code)]
    commit(judgment_list=world.judgments, grades=changes)
    world.judgments.refresh_from_db()
    after = -get(world, measure="nDCG@5", baseline="bm25/one").comparisons[0].mean
    assert lead - after == pytest.approx(top.loss)
    assert after < 0


def test_no_first_place_is_shown_where_it_is_shared_or_too_deep_to_try(world):
    good, _ = runs_of(world)
    assert stable(world, measure="AP").first_place is None
    assert not stability_of(world, runs=(str(good.public_id),)).order.is_one
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings=dict.fromkeys(qids, BEST), ranker="twin")
    assert stable(world, measure="nDCG@5").first_place is None


@pytest.mark.parametrize(
    ("ranker", "name", "label"),
    [
        ("BM25", "bm25/bm25-1", "BM25 / run 1"),
        ("BM25", "bm25/BM25 tuned", "BM25 / tuned"),
        ("BM25", "bm25/bm25", "BM25"),
        ("BM25", "bm25/one", "BM25 / one"),
        ("BM25", "bm25/bm25f", "BM25 / bm25f"),
        ("Titles alone", "title-only/title-only-1", "Titles alone / run 1"),
        ("Titles alone", "title-only/title-only", "Titles alone"),
        ("Titles alone", "title-only/titles", "Titles alone / titles"),
    ],
)
def test_a_run_named_after_its_ranker_says_the_name_once(ranker, name, label):
    assert run_label(ranker, name) == label
