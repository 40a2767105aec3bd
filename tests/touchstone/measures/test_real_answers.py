"""What real runs of public collections are said to be: how stable, how open, what to judge next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.core.management import call_command

from benchmarks.judge_next import COLLECTIONS, WAYS, load
from evaluation.comparison.unjudged import OpenValue, get_open_value
from evaluation.evaluations.first_ranks import load_first_ranks
from evaluation.evaluations.queries import chosen_columns
from evaluation.judge_next.queries import JudgeNext, NextAsked, get_judge_next
from evaluation.models import Run, StabilityReport
from evaluation.rankings.queries import list_answered
from evaluation.runs.selection import RunsFilters, get_compared
from evaluation.stability.queries import OrderStability, get_order_stability
from evaluation.tasks import report_order_stability
from judgments.models import Collection, Document, JudgmentList, Query
from judgments.versions.queries import get_judged
from tests.builders import commit, make_access, make_member
from tests.evaluation.test_real_collections import slug_of
from touchstone.statistics.ranks import kendall_tau

pytestmark = [pytest.mark.data, pytest.mark.django_db, pytest.mark.first_pass]

MEASURE = "nDCG@10"
SCALES = {"trec-covid-r1-sample": "0..2", "cast-2021": "0..4"}
RUNS = {"trec-covid-r1-sample": 17, "cast-2021": 5}


@dataclass(frozen=True)
class Board:
    """A collection with all its judgments, as a researcher has it."""

    slug: str

    @property
    def list(self) -> JudgmentList:
        return JudgmentList.objects.select_related("collection").get(collection__slug=self.slug)

    def stability(self, **filters) -> OrderStability:
        access = make_access(collection=self.list.collection, username="dora")

        def ask():
            return get_order_stability(access=access, slug="main", filters=RunsFilters(**filters))

        report_order_stability(*ask().order.message)
        return ask()

    def unjudged(self, name: str, version: int) -> OpenValue:
        (measure,) = chosen_columns(self.list, MEASURE)
        (run,) = [one for one in self.next(n=1).runs if one.ranker.slug == name]
        asked: dict[str, Any] = {
            "judgment_list": self.list,
            "version": version,
            "measure": measure.measure,
        }
        (compared,) = get_compared(runs=[run], **asked)
        return get_open_value(compared=compared, **asked)

    def next(self, **asked) -> JudgeNext:
        access = make_access(collection=self.list.collection, username="dora")
        asked_for = NextAsked(measure=MEASURE, **asked)
        return get_judge_next(access=access, judgment_list=self.list, asked=asked_for)

    def hide(self, is_hidden: Callable[[int, int], bool]) -> int:
        """Take judgments out; the number of the version without them."""
        held = get_judged(list_id=self.list.pk, version=self.list.head).pairs()
        gone = [pair for pair in held if is_hidden(*pair)]
        queries = Query.objects.in_bulk({query for query, _ in gone})
        documents = Document.objects.in_bulk({document for _, document in gone})
        grades = {(queries[query], documents[document]): None for query, document in gone}
        commit(judgment_list=self.list, grades=grades)
        return self.list.head


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


@pytest.fixture(
    scope="module",
    params=["cast-2021", pytest.param("trec-covid-r1-sample", marks=pytest.mark.long)],
)
def board(request: pytest.FixtureRequest, shared_rows: None, data_dir: Path) -> Board:
    slug = request.param
    folder, (qrels, runs) = data_dir / slug, COLLECTIONS[slug]
    scale = SCALES[slug]
    call_command("import_qrels", f"{slug}/main", str(folder / qrels), "--create", "--scale", scale)
    for path in sorted((folder / runs).iterdir()):
        call_command("import_run", f"{slug}/{slug_of(path)}", str(path), "--create")
    collection = Collection.objects.get(slug=slug)
    make_member(collection=collection, username="ada", role="lead")
    make_member(collection=collection, username="dora", role="researcher")
    return Board(slug)


def test_the_stability_of_real_orders_adds_up_and_comes_true(board: Board) -> None:
    found = board.stability(measure=MEASURE)
    assert len(found.runs) == RUNS[board.slug]
    assert sum(row.first for row in found.runs) == pytest.approx(1)
    assert 0 < found.tau_reached <= found.tau_median <= 1
    for place, row in enumerate(found.runs, start=1):
        assert row.low <= row.mean <= row.high
        assert row.highest <= place <= row.lowest
    means = [row.mean or 0 for row in found.runs]
    assert means == sorted(means, reverse=True)
    assert max(found.runs, key=lambda row: row.first) == found.runs[0]
    nexts = [row.above_next or 0 for row in found.runs[:-1]]
    assert 0.5 <= max(nexts) <= 1
    if found.is_table:
        for one, row in enumerate(found.runs):
            for other, share in enumerate(row.above):
                if one != other:
                    assert share + found.runs[other].above[one] == pytest.approx(1)
    # the same seed, the same figures
    StabilityReport.objects.all().delete()
    cache.clear()
    assert board.stability(measure=MEASURE).runs == found.runs


def test_a_judgment_that_the_first_place_hangs_on_costs_what_is_said(board: Board) -> None:
    first = board.stability(measure=MEASURE).first_place
    assert first is not None
    assert first.fewest is not None
    change = first.shown[0]
    judgment_list = board.list
    before = board.stability(measure=MEASURE).runs
    query = Query.objects.get(collection=judgment_list.collection, qid=change.query_id)
    document = Document.objects.get(collection=judgment_list.collection, docid=change.doc_id)
    commit(judgment_list=judgment_list, grades={(query, document): change.instead.code})
    after = board.stability(measure=MEASURE).runs

    def margin(rows) -> float:
        means = {row.label: row.mean for row in rows}
        return means[first.leader] - means[first.rival]

    assert margin(before) == pytest.approx(first.margin)
    assert margin(after) == pytest.approx(first.margin - change.loss)
    assert change.loss > 0


def test_the_bounds_of_a_real_run_hold_what_its_hidden_judgments_say(board: Board) -> None:
    whole, run = board.list.head, board.next(n=1).runs[0]
    chosen = half_of(shown_by([run]))
    number = board.hide(lambda *pair: pair in chosen)
    truth = board.unjudged(run.ranker.slug, whole)
    hidden = board.unjudged(run.ranker.slug, number)
    assert hidden.documents > truth.documents
    assert hidden.judged < truth.judged
    assert hidden.low <= hidden.zeros <= hidden.high
    assert hidden.low - 1e-12 <= truth.zeros <= hidden.high + 1e-12
    assert hidden.zeros < truth.zeros
    assert truth.high - truth.low < hidden.high - hidden.low


def test_what_to_judge_next_finds_the_real_order_behind_hidden_judgments(board: Board) -> None:
    true = {row.run: row.mean for row in board.stability(measure=MEASURE).runs}
    pairs = shown_by(board.next(n=1).runs)
    chosen = half_of(pairs)
    board.hide(lambda *pair: pair in chosen)
    found = board.next(n=200)
    assert len(found.pairs) == 200
    held = get_judged(list_id=board.list.pk, version=board.list.head).pairs()
    assert all(pair.key in pairs for pair in found.pairs)
    assert all(pair.key not in held for pair in found.pairs)
    expected = {one.name: one.value for one in found.expected}
    bare = {row.run: row.mean for row in board.stability(measure=MEASURE).runs}
    names = sorted(true)
    values = np.array([[mean[name] for name in names] for mean in (true, expected, bare)], float)
    error = np.abs(values - values[0]).mean(axis=1)
    assert error[1] < error[2] / 2
    assert kendall_tau(values[1], values[0]) >= 0.6
    cache.clear()
    assert board.next(n=200) == found


def shown_by(runs: Sequence[Run]) -> set[tuple[int, int]]:
    """The pairs in the runs' first ten ranks."""
    query_ids = np.array(list_answered(run_ids=[run.pk for run in runs]))
    rankings = load_first_ranks(runs=runs, query_ids=query_ids, depth=10)
    queries = query_ids[np.repeat(rankings.query_rows, rankings.ranked.lengths())]
    return {*zip(queries.tolist(), rankings.ranked.documents.tolist(), strict=True)}


def half_of(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The same half each time, whatever numbers a database gives."""
    drawn = np.random.default_rng(3).random(len(pairs)) < 0.5
    return {pair for pair, is_in in zip(sorted(pairs), drawn, strict=True) if is_in}


def test_judge_next_needs_fewer_labels_than_a_pool_where_many_runs_are_compared(
    data_dir: Path,
) -> None:
    truth = load(data_dir / "trec-covid-r1-sample", *COLLECTIONS["trec-covid-r1-sample"])

    def curve(way: str, seed: int, most: int) -> dict[int, float]:
        return dict(WAYS[way](truth, seed, 50, most))

    def labels(way: str, most: int) -> int:
        """From how many labels on tau is 0.9."""
        curves = [curve(way, seed, most) for seed in range(3)]
        assert curve(way, 0, 200).items() <= curves[0].items()  # the same seed, the same draws
        means = {n: np.mean([curve[n] for curve in curves]) for n in curves[0]}
        return 50 + max(n for n, mean in means.items() if mean < 0.9)

    assert labels("judge next", 1_000) <= labels("pool", 1_500) / 2
