"""Significance groups of a whole leaderboard, and which runs a comparison starts with."""

import csv
import io
from copy import deepcopy

import numpy as np
import pytest
from django.urls import reverse
from pyarrow import parquet

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.comparison.significance import SignificanceGroups, get_significance_groups
from evaluation.evaluations.queries import FilterRefused
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.runs.selection import RunsFilters
from tests.api.callers import by_token, is_problem
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
NAMES = ("a", "b", "c", "d", "e", "z")


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """Thirty judged queries; run a is the worst and z the best, each better on a few more."""
    world = make_world(queries=30, documents=5)
    best = world.documents[0]
    commit(
        judgment_list=world.judgments, grades=dict.fromkeys(((q, best) for q in world.queries), 3)
    )
    rng = np.random.default_rng(3)
    for number, name in enumerate(NAMES):
        firsts = rng.permutation(30) < 4 * number
        rankings = {
            query.qid: ["d1", "d2"] if first else ["d2", "d1"]
            for query, first in zip(world.queries, firsts.tolist(), strict=True)
        }
        make_run(collection=world.collection, rankings=rankings, ranker=name)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    world.judgments.refresh_from_db()
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def groups(world: World, correction: str = "", **filters) -> SignificanceGroups:
    access = make_access(collection=world.collection, username="dora")
    asked = RunsFilters(measure="RR@10", **filters)
    return get_significance_groups(access=access, slug="main", filters=asked, correction=correction)


def compared(world: World, **filters) -> list[str]:
    access = make_access(collection=world.collection, username="dora")
    asked = CompareFilters(measure="RR@10", **filters)
    return get_comparison(access=access, slug="main", filters=asked).names


def test_a_comparison_starts_with_the_leaders_and_the_baseline(world):
    assert compared(world) == ["z/one", "e/one", "d/one", "c/one"]
    assert compared(world, baseline="a") == ["a/one", "z/one", "e/one", "d/one", "c/one"]
    assert compared(world, baseline="d/one") == ["d/one", "z/one", "e/one", "c/one"]
    assert compared(world, runs=("a", "b")) == ["a/one", "b/one"]
    with pytest.raises(FilterRefused, match="not one of the compared runs"):
        compared(world, baseline="nope")


@pytest.mark.parametrize("correction", ["tukey", "holm"])
def test_all_runs_are_grouped_best_first(world, correction):
    page = groups(world, correction)
    assert [row.run.name for row in page.rows] == [f"{name}/one" for name in reversed(NAMES)]
    assert (page.queries, page.left_out, page.rows[0].place) == (30, 0, 1)
    first, last = page.rows[0], page.rows[-1]
    assert first.letters.startswith("a")
    assert not set(first.letters) & set(last.letters)
    assert first.better_than > 0
    assert last.better_than == 0
    # what differs beats: a run differs from just those with which it shares no letter
    for row in page.rows:
        lower = page.rows[row.place :]
        assert row.better_than == sum(not set(row.letters) & set(one.letters) for one in lower)


def test_too_few_queries_say_nothing():
    few = make_world(slug="few", queries=5)
    commit(judgment_list=few.judgments, grades={(q, few.documents[0]): 1 for q in few.queries})
    for name in ("a", "b"):
        make_run(collection=few.collection, rankings={"q1": ["d1"]}, ranker=name)
    refresh_evaluations(list_id=few.judgments.pk, at=NOW)
    access = make_access(collection=few.collection, username="ada")
    page = get_significance_groups(
        access=access, slug="main", filters=RunsFilters(), correction="tukey"
    )
    assert page.rows == ()


def test_the_page_leads_to_both_files(world):
    client = signed_in(world.dora)
    address = reverse("compare-groups", args=["books", "main"])
    page = client.get(f"{address}?measure=RR@10&correction=holm")
    assert page.status_code == 200
    assert "over the 30 queries" in text_of(page)
    csv_link, latex_link, parquet_link = [link for link in links_of(page) if "groups/file" in link]
    rows = list(csv.reader(io.StringIO(client.get(csv_link).content.decode())))
    assert rows[0] == ["place", "run", "RR@10", "n", "groups", "better_than"]
    assert [row[1] for row in rows[1:]] == [f"{name}/one" for name in reversed(NAMES)]
    assert float(rows[1][2]) == groups(world, "holm").rows[0].run.mean
    same = parquet.read_table(io.BytesIO(client.get(parquet_link).content))
    assert [[str(cell) for cell in row.values()] for row in same.to_pylist()] == rows[1:]
    assert b"Holm" in same.schema.metadata[b"title"]
    table = client.get(latex_link).content.decode()
    assert table.count(r"$^{\mathrm{") == len(NAMES)
    assert "Holm" in table
    assert r"\bottomrule" in table


def test_rest_has_the_same_groups_in_each_format(world):
    address = reverse("api-groups", args=["books", "main"]) + "?measure=RR@10"
    client, page = by_token("dora"), groups(world)
    found = client.get(address).json()
    assert (found["version"], found["measure"], found["correction"]) == (1, "RR@10", "tukey")
    assert [(row["place"], row["run"]["name"], row["letters"]) for row in found["rows"]] == [
        (row.place, row.run.name, row.letters) for row in page.rows
    ]
    text = client.get(f"{address}&format=csv").content.decode()
    names = [row[1] for row in csv.reader(io.StringIO(text))]
    assert names == ["run", *(row.run.name for row in page.rows)]
    binary = client.get(f"{address}&format=parquet&correction=holm").content
    assert parquet.read_table(io.BytesIO(binary))["groups"].to_pylist() == [
        row.letters for row in groups(world, "holm").rows
    ]
    is_problem(client.get(f"{address}&correction=none"), 400, "invalid")


def test_a_comparison_offers_its_values_query_by_query(world):
    client = signed_in(world.dora)
    page = client.get(reverse("compare", args=["books", "main"]) + "?runs=a,z")
    csv_link, parquet_link = [link for link in links_of(page) if "/values?" in link]
    rows = list(csv.reader(io.StringIO(client.get(csv_link).getvalue().decode())))
    same = parquet.read_table(io.BytesIO(client.get(parquet_link).content))
    assert [[str(cell) for cell in row.values()] for row in same.to_pylist()] == rows[1:]
    assert len(rows) == 1 + 2 * 30


def test_a_correction_that_there_is_not_is_refused_with_the_usual_page(world):
    address = reverse("compare-groups", args=["books", "main"])
    page = signed_in(world.dora).get(f"{address}?correction=none")
    assert page.status_code == 400
    assert "Unknown correction none" in text_of(page)


def test_runs_ticked_on_the_leaderboard_lead_to_their_comparison(world):
    client = signed_in(world.dora)
    board = client.get(reverse("leaderboard", args=["books", "main"]) + "?baseline=b/one")
    text = board.content.decode()
    assert text.count('form="compare-runs"') == len(NAMES)
    assert '<input type="hidden" name="baseline" value="b/one">' in text
    address = reverse("compare", args=["books", "main"])
    page = client.get(f"{address}?runs=b/one&baseline=b/one&runs=e/one&runs=d/one")
    assert page.context["page"].names == ["b/one", "e/one", "d/one"]
