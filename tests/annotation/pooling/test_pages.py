"""Choosing what a campaign's people label, with the size seen beforehand."""

import pytest
from django.urls import reverse

from annotation.campaigns.services import close_campaign
from annotation.models import Campaign, Pair, Pool
from evaluation.models import Ranker, Run
from judgments.models import QueryOrigin
from judgments.samples.designs import QUERIES, Design
from judgments.samples.origins import get_origins
from tests.annotation.page_reading import HTMX, client_of, counted, links, of, words
from tests.builders import NOW, World, commit, make_access, make_set, make_world
from tests.builders_annotation import make_campaign, make_draft
from tests.evaluation.builders import make_run
from tests.judgments.samples.builders import make_frame, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def runs(world: World) -> list[Run]:
    """Two rankers: five pairs at depth 2, eight at depth 3 over two queries."""
    return [
        make_run(
            collection=world.collection,
            ranker="bm25",
            rankings={"q1": ["d1", "d2", "d3"], "q2": ["d1", "d2", "d3"]},
        ),
        make_run(
            collection=world.collection,
            ranker="tf-idf",
            rankings={"q1": ["d1", "d4", "d5"], "q2": ["d2", "d1", "d4"]},
        ),
    ]


@pytest.fixture
def draft(world: World, runs: list[Run]) -> Campaign:
    return make_draft(world=world, pairs=[])


def chosen(runs: list[Run], **other: object) -> dict[str, object]:
    ids = [str(run.public_id) for run in runs]
    return {"runs": ids, "depth": 2, "strategy": "depth", "seed": 7} | other


def test_without_runs_the_page_says_where_they_come_from(world: World) -> None:
    draft = make_draft(world=world, pairs=[])
    page = client_of("ada").get(of("campaign-pool", draft))
    assert "No runs yet" in words(page)
    assert "manage.py import_run" in words(page)


def test_the_newest_run_of_each_ranker_is_ticked(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    newest = make_run(
        collection=world.collection, ranker="bm25", name="two", rankings={"q1": ["d5"]}
    )
    html = client_of("ada").get(of("campaign-pool", draft)).content.decode()
    for run, is_ticked in ((runs[0], False), (runs[1], True), (newest, True)):
        ticked = f'id="run-{run.public_id}" checked' in html
        assert ticked is is_ticked


def test_the_size_is_shown_before_anything_is_added(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    page = client_of("ada").post(of("campaign-pool-preview", draft), chosen(runs), headers=HTMX)
    seen = words(page)
    assert "5 new pairs" in seen
    assert "Queries 2" in seen
    assert "Pairs per query 2 to 3, median 2.5" in seen
    assert "Labels needed 10" in seen
    assert "Already judged 1" in seen
    assert "<html" not in page.content.decode()
    assert not Pair.objects.exists()


def test_only_unjudged_pairs_leave_the_judged_ones_out(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    ada = client_of("ada")
    asked = chosen(runs, only_unjudged="on")
    assert "4 new pairs" in words(ada.post(of("campaign-pool-preview", draft), asked))
    ada.post(of("campaign-pool", draft), asked)
    assert draft.pairs.count() == 4


def test_what_is_missing_is_said_in_place_of_the_size(runs: list[Run], draft: Campaign) -> None:
    preview = of("campaign-pool-preview", draft)
    ada = client_of("ada")
    assert "Choose at least one run." in words(ada.post(preview, chosen([])))
    assert "Enter a sample size" in words(ada.post(preview, chosen(runs, strategy="sample")))
    assert "Depth: Ensure" in words(ada.post(preview, chosen(runs, depth=0)))
    foreign = {"runs": ["00000000-0000-0000-0000-000000000000"]}
    assert "not one of the available choices" in words(ada.post(preview, chosen(runs) | foreign))


def test_a_pool_is_built_and_the_dashboard_tells_of_it(runs: list[Run], draft: Campaign) -> None:
    Ranker.objects.filter(slug="bm25").update(name="“BM25” & שלום 🎯")
    ada = client_of("ada")
    assert "“BM25” &amp; שלום 🎯" in ada.get(of("campaign-pool", draft)).content.decode()
    page = ada.post(of("campaign-pool", draft), chosen(runs), follow=True)
    seen = words(page)
    assert "5 pairs added." in seen
    assert "5 pairs" in seen
    assert "The top 2 of bm25 (one), tf-idf (one) ." in seen
    assert draft.pairs.count() == 5


def test_a_sample_is_drawn_by_its_seed(runs: list[Run], draft: Campaign) -> None:
    asked = chosen(runs, strategy="sample", sample_size=3, depth=3, seed=11)
    page = client_of("ada").post(of("campaign-pool", draft), asked, follow=True)
    pool = Pool.objects.get()
    assert (pool.strategy, pool.sample_size, pool.seed, pool.pair_count) == ("sample", 3, 11, 3)
    assert "A sample of 3 (seed 11) of the top 3" in words(page)


def test_the_size_can_be_seen_without_a_script(runs: list[Run], draft: Campaign) -> None:
    asked = chosen(runs[:1], preview="1", depth=3)
    page = client_of("ada").post(of("campaign-pool", draft), asked)
    assert "6 new pairs" in words(page)
    assert 'value="3"' in page.content.decode()
    assert f'id="run-{runs[0].public_id}" checked' in page.content.decode()
    assert f'id="run-{runs[1].public_id}" checked' not in page.content.decode()
    assert not Pair.objects.exists()


def test_a_pool_that_brings_nothing_new_is_refused_and_stays_as_typed(
    runs: list[Run], draft: Campaign
) -> None:
    ada = client_of("ada")
    ada.post(of("campaign-pool", draft), chosen(runs))
    page = ada.post(of("campaign-pool", draft), chosen(runs))
    assert "add no new pairs" in words(page)
    assert 'value="2"' in page.content.decode()
    preview = ada.post(of("campaign-pool-preview", draft), chosen(runs))
    assert "the campaign already has these pairs (5)" in words(preview)


def test_pairs_that_are_open_elsewhere_are_named_beforehand(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    make_campaign(world=world, name="Other")
    seen = words(client_of("ada").post(of("campaign-pool-preview", draft), chosen(runs)))
    assert "5 are open in another campaign for this list" in seen


def test_new_runs_are_topped_up_with_one_button(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    ada = client_of("ada")
    part = of("campaign-top-up", draft)
    assert "new" not in words(ada.get(part, headers=HTMX))
    ada.post(of("campaign-pool", draft), chosen(runs, depth=10))
    assert "new" not in words(ada.get(part, headers=HTMX))
    make_run(collection=world.collection, ranker="neural", rankings={"q3": ["d1", "d2"]})
    Run.objects.filter(ranker__slug="neural").update(
        created_at=Pool.objects.get().created_at.replace(year=2036)
    )
    assert part in links(ada.get(of("campaign", draft)))
    seen = words(ada.get(part, headers=HTMX))
    assert "2 pairs are new at depth 10." in seen
    assert "neural / one (new): 2" in seen
    assert "4 more labels needed." in seen
    before = draft.pairs.count()
    page = ada.post(part, follow=True)
    assert f"2 pairs added. Skipped: {before} pairs already in the campaign." in words(page)
    assert draft.pairs.count() == before + 2
    again = ada.post(part, follow=True)
    assert "add no new pairs. Skipped:" in words(again)


def test_a_top_up_without_a_pool_and_of_a_closed_campaign_is_refused_in_words(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    ada = client_of("ada")
    page = ada.post(of("campaign-top-up", draft), follow=True)
    assert "The campaign has no pool yet." in words(page)
    closed = make_campaign(world=world, name="Closed")
    close_campaign(access=make_access(collection=world.collection), campaign=closed, at=NOW)
    assert "The campaign is closed." in words(ada.get(of("campaign-pool", closed)))
    page = ada.post(of("campaign-pool", closed), chosen(runs, depth=9))
    assert "The campaign is closed." in words(page)


def test_an_annotator_gets_nothing_of_pools(world: World, runs: list[Run]) -> None:
    campaign = make_campaign(world=world)
    ben = client_of("ben")
    for name in ("campaign-pool", "campaign-top-up"):
        assert ben.get(of(name, campaign), headers=HTMX).status_code == 404
    assert ben.post(of("campaign-pool-preview", campaign), chosen(runs)).status_code == 404


def test_a_run_of_another_collection_can_not_be_chosen(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    films = make_world(slug="films")
    foreign = make_run(collection=films.collection, rankings={"q1": ["d1"]})
    page = client_of("ada").post(of("campaign-pool", draft), chosen([foreign]))
    assert "not one of the available choices" in words(page)
    assert reverse("campaign-pool", args=["films", draft.public_id]) != of("campaign-pool", draft)
    address = reverse("campaign-pool", args=["films", draft.public_id])
    assert client_of("ada").get(address).status_code == 404


def test_the_size_asks_no_more_queries_for_more_pairs(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    ada, preview = client_of("ada"), of("campaign-pool-preview", draft)
    ada.post(preview, chosen(runs, depth=1))
    with counted() as few:
        ada.post(preview, chosen(runs, depth=1))
    with counted() as many:
        ada.post(preview, chosen(runs, depth=3))
    assert len(many) == len(few)


def test_a_pool_of_a_saved_set_has_its_queries_alone_and_so_has_its_top_up(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    ada = client_of("ada")
    assert "Create a saved set" in words(ada.get(of("campaign-pool", draft)))
    make_set(world=world, qids=["q2"], slug="trial")
    page = ada.get(of("campaign-pool", draft))
    assert '<option value="trial">set Trial</option>' in page.content.decode()
    said = chosen(runs, saved_set="trial")
    seen = words(ada.post(of("campaign-pool-preview", draft), said, headers=HTMX))
    assert "2 new pairs Queries 1 Pairs per query 2 Labels" in seen
    page = ada.post(of("campaign-pool", draft), said, follow=True)
    assert "for the queries of Trial" in words(page)
    assert {pair.query.qid for pair in Pair.objects.select_related("query")} == {"q2"}
    make_run(collection=world.collection, ranker="later", rankings={"q1": ["d5"], "q2": ["d5"]})
    Run.objects.filter(ranker__slug="later").update(created_at=NOW.replace(year=2036))
    ada.post(of("campaign-top-up", draft))
    topped = set(Pair.objects.values_list("query__qid", "document__docid"))
    assert topped == {("q2", docid) for docid in ("d1", "d2", "d3", "d4", "d5")}
    assert ada.post(of("campaign-pool", draft), said | {"saved_set": "none"}).status_code == 200
    assert Pool.objects.count() == 2


def test_a_pool_of_a_sample_has_the_drawn_queries_alone_and_the_product_knows_how_they_were_chosen(
    world: World, runs: list[Run], draft: Campaign
) -> None:
    traffic = {query.text: 10 - place for place, query in enumerate(world.queries)}
    frame = make_frame(world=world, traffic=traffic | {"unanswered": 8})
    design = Design(by_size=False, cuts=(), n=3, allocation=QUERIES)
    plan = make_sample(world=world, frame=frame, design=design, seed=2)
    assert not plan.members.filter(query__qid="q2").exists()
    ada, said = client_of("ada"), chosen(runs, saved_set=f"sample:{plan.number}")
    assert f"sample {plan.name} (3)" in words(ada.get(of("campaign-pool", draft)))
    seen = words(ada.post(of("campaign-pool-preview", draft), said, headers=HTMX))
    assert "2 drawn queries have no results in these runs" in seen
    page = ada.post(of("campaign-pool", draft), said, follow=True)
    assert f"for the queries of the sample {plan.name}" in words(page)
    assert {pair.query.qid for pair in Pair.objects.select_related("query")} == {"q1"}
    assert Pool.objects.get().plan == plan
    ada.post(of("campaign-pool", draft), chosen(runs))
    first, second, third = world.queries
    grades = {(query, world.documents[0]): 1 for query in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    known = QueryOrigin.objects.order_by("pk").values_list("query", "origin")
    assert list(known) == [(first.pk, "sample"), (first.pk, "chosen"), (second.pk, "chosen")]
    assert third.pk in plan.members.values_list("query", flat=True)
    world.judgments.refresh_from_db()
    found = get_origins(judgment_list=world.judgments)
    assert (found.sampled, found.judge_next, found.chosen, found.imported) == (2, 0, 1, 0)
    assert (
        ada.post(of("campaign-pool", draft), said | {"saved_set": "sample:99"}).status_code == 200
    )
