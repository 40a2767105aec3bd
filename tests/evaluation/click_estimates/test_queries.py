"""What a click log says of runs: near the truth, and nothing where there is no support."""

import math

import numpy as np
import pytest

from evaluation.click_estimates.queries import get_click_estimates
from tests.builders import World, make_access, make_world
from tests.evaluation.builders import make_run
from tests.judgments.clicks.builders import EXAMINATION, make_clicks, page_rows

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

PAGES = 8000


@pytest.fixture
def world() -> World:
    return make_world(queries=20, documents=6)


def attractive(world: World) -> np.ndarray:
    """(queries, documents), how attractive each is."""
    shape = (len(world.queries), len(world.documents))
    return np.random.default_rng(2).uniform(0.1, 0.9, size=shape)


def pages(world: World) -> list[str]:
    """Three of six documents in random order, d6 never: what is shown depends on nothing."""
    rng = np.random.default_rng(4)
    rows: list[str] = []
    for number in range(PAGES):
        query = int(rng.integers(len(world.queries)))
        shown = rng.permutation(5)[:3]
        chances = attractive(world)[query, shown] * EXAMINATION
        clicked = (np.flatnonzero(rng.random(3) < chances) + 1).tolist()
        docids = [world.documents[place].docid for place in shown]
        rows += page_rows(number, world.queries[query].text, docids, clicked)
    return rows


def runs(world: World) -> None:
    """The best order of what was shown, the worst, and a ranker of what was never shown."""
    order = np.argsort(-attractive(world)[:, :5], axis=1)
    for name, ranks in (("best", order), ("worst", order[:, ::-1])):
        rankings = {
            query.qid: [world.documents[place].docid for place in ranks[number].tolist()]
            for number, query in enumerate(world.queries)
        }
        make_run(collection=world.collection, ranker=name, rankings=rankings)
    never = {query.qid: ["d6"] for query in world.queries}
    make_run(collection=world.collection, ranker="never", rankings=never)


def test_the_intervals_hold_the_dcg_that_each_run_would_have(world):
    log = make_clicks(world=world, rows=pages(world))
    runs(world)
    access = make_access(collection=world.collection, username="dora")
    found = get_click_estimates(access=access, number=log.number, k=5)
    assert (found.pages, found.queries, found.problem) == (PAGES, len(world.queries), "")
    assert [row.run.partition("/")[0] for row in found.runs] == ["best", "worst", "never"]
    values = np.sort(attractive(world)[:, :5], axis=1)
    discounts = 1 / np.log2(np.arange(2, 7))
    for row, own in zip(found.runs, (values[:, ::-1], values), strict=False):
        truth = float((own * discounts).sum(axis=1).mean())
        assert row.dcg.low < truth < row.dcg.high
        assert row.dcg.value == pytest.approx(truth, rel=0.05)
        assert row.never_shown == 0
        assert 0 < row.snips.value < 1
        assert row.ess > 1000
        assert math.isclose(sum(one.share for one in row.largest), 0.2, abs_tol=0.15)
        clipped = [one.dcg.value for one in row.clipped]
        assert clipped == sorted(clipped, reverse=True)
        assert row.clipped[-1].floored > 0.9
    best, worst, never = found.runs
    assert best.snips.value > worst.snips.value
    assert (never.dcg, never.snips, never.never_shown) == (None, None, 1.0)


def test_a_log_whose_position_bias_is_refused_has_no_estimate(world, client):
    log = make_clicks(world=world)
    runs(world)
    client.force_login(world.dora)
    page = client.get(f"/c/books/clicks/{log.number}/rankers").content.decode()
    assert "position bias of this log is refused" in page


def test_the_page_and_rest_show_the_same(world, client):
    log = make_clicks(world=world, rows=pages(world))
    runs(world)
    client.force_login(world.dora)
    path = f"collections/books/clicks/{log.number}/rankers"
    rest = client.get(f"/api/v1/{path}?k=3&runs=worst,never").json()
    worst, never = rest["runs"]
    assert (worst["run"], never["dcg"], rest["k"]) == ("worst/one", None, 3)
    page = client.get(f"/c/books/clicks/{log.number}/rankers?k=3&run=worst/one").content.decode()
    assert f"{worst['dcg']['value']:.3f}" in page
    assert f"{worst['largest'][0]['exposure']:.3f}" in page
    assert "no support" in page
    assert client.get(f"/api/v1/{path}?runs=nobody").status_code == 422
