"""The leaderboard page's values: stored where they are stored, else computed to the same bits."""

import io
import random
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import FilterRefused, RunSums, chosen_measures, list_run_sums
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.evaluations.sums import Board, RunSize, compute_sums
from evaluation.evaluations.thinning import thin_evaluations
from evaluation.leaderboards.board import Filters, LeaderboardTable
from evaluation.leaderboards.choices import list_board_choices
from evaluation.leaderboards.queries import get_leaderboard, get_state
from evaluation.models import Evaluation, Ranking, RefreshAttempt, Run
from evaluation.runs.services import withdraw_run
from evaluation.templatetags.boards import heading
from evaluation.tool_differences.tool_values import run_file
from judgments.lists.queries import get_list, get_qrels, get_version
from judgments.models import JudgmentList
from judgments.permissions import NotFound
from tests.builders import NOW, World, commit, make_access, make_world
from tests.evaluation.builders import make_run
from touchstone.files.trec import read_qrels
from touchstone.measures.asking import ask
from touchstone.measures.errors import MeasureError
from touchstone.measures.exact import from_bytes, means
from touchstone.measures.families import FAMILIES
from touchstone.measures.files import evaluate_file
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import PRESETS

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

MEASURES = "nDCG@10 RR@10"


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    world = make_world(queries=8, documents=6)
    docids = [document.docid for document in world.documents]
    rng = random.Random(3)
    for ranker in ("bm25", "tfidf", "dense"):
        rankings = {query.qid: rng.sample(docids, rng.randint(1, 6)) for query in world.queries[:7]}
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    everything = {(query, world.documents[0]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=everything)
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


def label(world: World, *, count: int, refreshed: bool = True) -> None:
    rng = random.Random(world.judgments.head)
    for _ in range(count):
        pair = (rng.choice(world.queries), rng.choice(world.documents[1:]))
        commit(judgment_list=world.judgments, grades={pair: rng.randint(0, 4)})
        world.judgments.refresh_from_db()
        if refreshed:
            refresh_evaluations(list_id=world.judgments.pk, at=NOW)


def sums(
    world: World, *, number: int, names: str = "", segment: str = "", patience: float = 1e9
) -> list[RunSums]:
    judgment_list = world.judgments
    judgment_list.refresh_from_db()
    return list_run_sums(
        judgment_list=judgment_list,
        version=get_version(judgment_list=judgment_list, name=str(number)),
        measures=chosen_measures(judgment_list, names),
        segment=segment,
        patience=patience,
    )


def page(world: World, username: str = "dora", **filters: str) -> LeaderboardTable:
    return get_leaderboard(
        access=make_access(collection=world.collection, username=username),
        slug="main",
        filters=Filters(**filters),
    )


def arrays(found: list[RunSums]) -> list[list[object]]:
    return [np.asarray(own.sums).tolist() for own in found]


@pytest.mark.parametrize(
    ("names", "segment"), [("", ""), ("nDCG@10 P(rel=3)@3", ""), ("AP(rel=2)", "tail")]
)
def test_every_version_has_the_bits_of_a_computation_from_scratch_however_it_is_reached(
    world: World, names: str, segment: str
) -> None:
    label(world, count=7)
    Evaluation.objects.filter(version__number__in=(2, 3, 5, 6)).delete()
    numbers = [*range(1, 9), *range(8, 0, -3), 6]
    by_some_way = {n: arrays(sums(world, number=n, names=names, segment=segment)) for n in numbers}
    queries = [query.pk for query in world.queries if query.segment == segment]
    measures = chosen_measures(world.judgments, names)
    board = Board(world.judgments.pk, measures, grades_of(world.judgments))
    sizes = [RunSize(run.pk, run.row_count, run.query_count) for run in Run.objects.all()]
    for number in range(1, 9):
        from_scratch = compute_sums(
            board=board, version=number, runs=sizes, query_ids=queries if segment else None
        )
        assert by_some_way[number] == from_scratch.tolist()


def test_what_was_computed_once_is_not_computed_again(
    world: World, django_assert_max_num_queries
) -> None:
    label(world, count=1)
    first = sums(world, number=1, names="AP(rel=2)")
    rankings = Ranking.objects.count()
    with django_assert_max_num_queries(6):
        assert arrays(sums(world, number=1, names="AP(rel=2)")) == arrays(first)
    assert Ranking.objects.count() == rankings


def test_what_would_take_too_long_is_left_out_and_filled_in_by_and_by(world: World) -> None:
    label(world, count=1)
    rows = max(Run.objects.values_list("row_count", flat=True))
    found: list[int] = []
    while not found or found[-1] < 3:
        asked = sums(world, number=2, names="AP(rel=2)", patience=rows)
        found.append(sum(own.sums is not None for own in asked))
        assert len(found) < 5
    assert found[0] < 3


def test_a_page_shows_the_stored_values_best_first_and_how_much_is_judged(world: World) -> None:
    label(world, count=5)
    found = page(world)
    assert [column.name for column in found.measures] == [
        "nDCG@10",
        "nDCG@5",
        "nDCG@20",
        "nDCG(gain='exp2')@10",
        "RR@10",
        "AP@100",
    ]
    values = [row.values["nDCG@10"].mean for row in found.runs]
    assert values == sorted(values, key=lambda value: -(value or 0))
    assert [row.place for row in found.runs] == [1, 2, 3]
    assert [row.values["nDCG@10"].is_best for row in found.runs] == [True, False, False]
    shares = page(world, measures="Judged@10 Judged@5 Judged@20 Judged@100").runs
    (own,) = [row for row in shares if row.id == found.runs[0].id]
    assert [cell.judged for cell in found.runs[0].values.values()] == [
        own.values[f"Judged@{cutoff}"].mean for cutoff in (10, 5, 20, 10, 10, 100)
    ]
    assert found.waiting == 0
    assert (found.version, found.is_head) == (6, True)
    assert {column.queries for column in found.measures} == {8}


def test_a_share_of_judged_documents_asked_for_stands_alone_and_has_no_best(world: World) -> None:
    label(world, count=1)
    found = page(world, measures="Judged@5 nDCG@5")
    assert [column.is_judged for column in found.measures] == [True, False]
    for row in found.runs:
        own, ndcg = row.values.values()
        assert own.judged is None
        assert not own.is_best
        assert ndcg.judged == own.mean


def test_a_run_on_its_way_to_the_head_shows_its_older_values_and_their_version(
    world: World,
) -> None:
    label(world, count=2)
    label(world, count=1, refreshed=False)
    found = page(world)
    assert found.waiting == 3
    assert {row.version for row in found.runs} == {3}
    assert all(row.computing for row in found.runs)
    assert found.state.endswith("~")


def test_a_run_without_any_value_waits_at_the_end(world: World) -> None:
    label(world, count=1)
    make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="late")
    found = page(world)
    assert found.runs[-1].ranker == "late"
    assert (found.runs[-1].values, found.runs[-1].version) == ({}, None)
    assert found.waiting == 1


def test_a_run_that_failed_says_so_and_nobody_waits_for_it(world: World) -> None:
    label(world, count=1)
    late = make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="late")
    RefreshAttempt.objects.create(
        run=late, list=world.judgments, attempts=5, not_before=NOW, problem="torn"
    )
    found = page(world)
    assert found.waiting == 0
    assert found.runs[-1].problem == "torn"


def test_a_version_that_comes_while_the_page_is_made_is_for_the_next_look(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)

    def get_and_label(**asked: Any) -> JudgmentList:
        found = get_list(**asked)
        label(world, count=2)
        return found

    monkeypatch.setattr("evaluation.leaderboards.queries.get_list", get_and_label)
    found = page(world)
    assert (found.version, found.is_head) == (1, True)
    assert world.judgments.head == 3
    assert found.state != get_state(judgment_list=world.judgments)


def test_the_state_changes_with_every_step_towards_a_new_table(world: World) -> None:
    states = [get_state(judgment_list=world.judgments)]

    def changed() -> bool:
        world.judgments.refresh_from_db()
        states.append(get_state(judgment_list=world.judgments))
        return states[-1] != states[-2]

    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert changed()
    assert not changed()
    label(world, count=1, refreshed=False)
    assert changed()
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="late")
    assert changed()
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    assert changed()
    withdraw_run(access=make_access(collection=world.collection), run=run, at=NOW)
    assert changed()


def test_an_old_version_keeps_its_values_while_labels_go_on(world: World) -> None:
    label(world, count=3)
    before = page(world, version="2")
    label(world, count=4)
    thin_evaluations(list_id=world.judgments.pk, at=NOW)
    after = page(world, version="2")
    assert [row.values for row in after.runs] == [row.values for row in before.runs]
    assert (after.version, after.created_at) == (before.version, before.created_at)
    assert not after.is_head


def test_a_segment_has_means_over_its_own_queries(world: World) -> None:
    label(world, count=2)
    found = page(world, segment="head", measures=MEASURES)
    assert {value.n for row in found.runs for value in row.values.values()} == {4}
    assert list_board_choices(found).segments == ("head", "tail")
    with pytest.raises(FilterRefused):
        page(world, segment="nowhere")


def test_a_table_is_sorted_by_any_column_or_by_name(world: World) -> None:
    label(world, count=3)
    by_name = page(world, sort="name")
    assert [row.ranker for row in by_name.runs] == ["bm25", "dense", "tfidf"]
    worst_first = page(world, sort="RR@10").runs
    values = [row.values["RR@10"].mean for row in worst_first]
    assert values == sorted(values, key=lambda value: value or 0)
    with pytest.raises(FilterRefused):
        page(world, sort="P@77")


def test_only_the_newest_run_of_each_ranker_is_shown_when_asked_for(world: World) -> None:
    label(world, count=1)
    make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="bm25", name="two")
    names = {row.run for row in page(world, runs="newest").runs if row.ranker == "bm25"}
    assert names == {"two"}
    assert len(page(world).runs) == 4


@pytest.mark.parametrize(
    "measures", ["nope@3", "nDCG(empty='error')@5", "P", "lightgbm:RR", "nope:nDCG@5"]
)
def test_measures_that_make_no_sense_here_are_refused(world: World, measures: str) -> None:
    with pytest.raises(MeasureError):
        page(world, measures=measures)


def test_a_list_without_a_version_has_a_page_without_values(world: World) -> None:
    empty = make_world(slug="films")
    make_run(collection=empty.collection, rankings={"q1": ["d1"]})
    found = page(empty)
    assert found.version is None
    assert [row.values for row in found.runs] == [{}]


def test_an_annotator_and_a_stranger_find_no_leaderboard(world: World) -> None:
    for username in ("ben", "eve"):
        with pytest.raises(NotFound):
            page(world, username)


def test_means_are_read_off_the_sums_once(world: World) -> None:
    label(world, count=1)
    stored = Evaluation.objects.filter(version__number=2).select_related("run__ranker")
    found = {row.ranker: row.values["nDCG@10"].mean for row in page(world).runs}
    for row in stored:
        assert found[row.run.ranker.slug] == means(from_bytes(bytes(row.sums)))[0]


def test_a_tools_definition_is_shown_as_the_tool_means_it(world: World) -> None:
    label(world, count=2)
    names = ["nDCG@5", "lightgbm:nDCG@5", "trec_eval:RR@5", "quepid_ndcg:P@5"]
    found = page(world, measures=" ".join(names))
    assert [column.name for column in found.measures] == names
    assert heading(found.measures[1]) == "nDCG@5 lightgbm"
    assert found.measures[1].caveat == PRESETS["lightgbm"].caveat
    qrels = get_qrels(judgment_list=world.judgments, number=world.judgments.head)
    judged = JudgedQueries(read_qrels(io.BytesIO(qrels), name="qrels"))
    for row in found.runs:
        run = Run.objects.get(public_id=row.id)
        for cell, asked in zip(row.values.values(), map(ask, names), strict=True):
            right = evaluate_file(judged, run_file(run), [asked.measure])
            assert (cell.mean, cell.n) == (right.means[0], right.counts[0])


def test_the_same_measure_by_two_names_has_two_columns(world: World) -> None:
    label(world, count=1)
    found = page(world, measures="nDCG@5 trec_eval_c:nDCG@5", sort="-trec_eval_c:nDCG@5")
    assert [column.definition for column in found.measures] == ["nDCG@5", "nDCG@5"]
    for row in found.runs:
        one, other = row.values.values()
        assert (one.mean, one.n) == (other.mean, other.n)


def test_the_picker_offers_every_tool_and_every_family(world: World) -> None:
    label(world, count=1)
    offers = list_board_choices(page(world, measures="AP@5")).offers
    assert {one.name for one in offers.tools} >= {"trec_eval:AP@5", "xgboost_ndcg:AP@5"}
    assert all("gdeval" not in one.name for one in offers.tools)
    families = {ask(one.name).measure.family for one in offers.families}
    assert families == set(FAMILIES) - {"Coverage"}
    assert all(one.reading for one in (*offers.families, *offers.tools))
