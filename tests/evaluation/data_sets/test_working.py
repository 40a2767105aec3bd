"""Evaluations of data sets by tasks: the local engine's integers, whatever befalls workers."""

import random
import shutil
from datetime import datetime, timedelta
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from evaluation.data_sets.definition import columns_of
from evaluation.data_sets.places import read_places
from evaluation.data_sets.plans import Columns
from evaluation.data_sets.scheduling import AT_ONCE, SILENCE, announce, claim
from evaluation.data_sets.services import (
    DataSetRefused,
    register_data_set,
    schedule_data_set,
    start_evaluation,
    stop_evaluation,
)
from evaluation.data_sets.working import coordinate, is_coordinating_due, work_portion
from evaluation.models import DataSet, DataSetEvaluation, DataSetFigures, DataSetPortion
from judgments.jobs.heartbeats import ATTEMPTS
from tests.builders import NOW, make_access, make_world
from tests.touchstone.bulk.builders import written
from tests.touchstone.bulk.generator import interactions, write_scattered
from touchstone.bulk.counts import BETWEEN, BulkCounts, SegmentCounts
from touchstone.bulk.local import evaluate
from touchstone.measures.exact import from_bytes

pytestmark = pytest.mark.django_db
ROWS = 9_000
COLUMNS: dict[str, Any] = {
    "judgments": "",
    "query": ("user",),
    "document": "item",
    "score": "score",
    "grade": "watched",
    "signals": ">=90=3, >=30=1, >=0=0",
    "measures": "nDCG@5 AP(rel=1) RR",
    "segments": ("country",),
    "day": "day",
}


@pytest.fixture
def lake(tmp_path: Path, settings) -> Path:
    """Two days of interactions, scattered, in a place that is allowed."""
    rows = pa.concat_tables(interactions(ROWS, seed=11, giant=0.2))
    late = pc.equal(pc.bit_wise_and(rows.column("item"), 1), 1)
    for day, own in (
        ("2026-11-01", rows.filter(late)),
        ("2026-11-02", rows.filter(pc.invert(late))),
    ):
        write_scattered(iter([own]), tmp_path / "lake" / f"day={day}", files=3)
    settings.DATA_SETS = read_places([str(tmp_path / "lake")])
    settings.DATA_SETS_FOLDER = str(tmp_path / "work")
    settings.DATA_SET_ROWS = 1_200
    return tmp_path / "lake"


def registered(lake: Path, **more: Any) -> DataSet:
    access = make_access(collection=make_world().collection)
    columns = Columns(rankings=str(lake), **COLUMNS | more)
    return register_data_set(access=access, name="Nightly", columns=columns, at=NOW)


def started(data_set: DataSet, *, at: datetime = NOW) -> DataSetEvaluation:
    access = make_access(collection=data_set.collection)
    return start_evaluation(access=access, data_set=data_set, at=at)


def left(evaluation: DataSetEvaluation) -> list[int]:
    own = DataSetPortion.objects.filter(evaluation=evaluation, done_at=None)
    return list(own.values_list("pk", flat=True))


def work(evaluation: DataSetEvaluation, *, at: datetime = NOW) -> DataSetEvaluation:
    """What workers do when all messages come, one after the other."""
    while portions := left(evaluation):
        for portion in portions:
            work_portion(portion_id=portion, clock=lambda: at)
    evaluation.refresh_from_db()
    return evaluation


def stored(evaluation: DataSetEvaluation) -> dict[str, SegmentCounts]:
    return {
        BETWEEN.join([one.day, one.segment]): SegmentCounts(
            one.rows, one.queries, from_bytes(bytes(one.sums))
        )
        for one in DataSetFigures.objects.filter(evaluation=evaluation)
    }


def local(data_set: DataSet, lake: Path) -> BulkCounts:
    return evaluate(columns_of(data_set).plan, [str(lake)], processes=1)


def test_tasks_give_the_integers_of_the_local_engine(lake: Path) -> None:
    data_set = registered(lake)
    evaluation = work(started(data_set))
    expected = local(data_set, lake)
    assert evaluation.state == "done"
    assert stored(evaluation) == expected.segments
    assert len(expected.segments) == 20
    assert evaluation.buckets > 5
    whole = reduce(SegmentCounts.merged, expected.segments.values())
    assert (evaluation.rows, evaluation.files) == (whole.rows, 6)
    assert not DataSetPortion.objects.exists()
    assert list(lake.parent.joinpath("work").iterdir()) == []


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_faults_in_any_order_change_no_integer(lake: Path, seed: int) -> None:
    """Messages in any order and repeated, workers killed at a portion, rows lost from the disk."""
    rng = random.Random(seed)
    data_set = registered(lake)
    evaluation, at = started(data_set), NOW
    folder = lake.parent / "work" / str(evaluation.public_id)
    is_lost = False
    while portions := left(evaluation):
        rng.shuffle(portions)
        for portion in portions:
            chance = rng.random()
            if chance < 0.2:
                claim(portion, at=at)  # its worker dies here
            else:
                for _ in range(rng.choice([1, 1, 2])):
                    work_portion(
                        portion_id=portion,
                        clock=partial(datetime.fromtimestamp, at.timestamp(), at.tzinfo),
                    )
        buckets = DataSetPortion.objects.filter(kind=DataSetPortion.Kind.BUCKET, done_at=None)
        if buckets.exists() and not is_lost:
            is_lost = True
            for file in sorted(folder.iterdir())[::2]:
                file.unlink()
        at += timedelta(minutes=5)
        DataSetPortion.objects.update(attempts=1)  # many deaths, but not all of one portion
    evaluation.refresh_from_db()
    assert (evaluation.state, is_lost) == ("done", True)
    assert stored(evaluation) == local(data_set, lake).segments


def test_lost_messages_are_announced_again(lake: Path) -> None:
    evaluation = started(registered(lake))
    assert not is_coordinating_due(NOW)
    later = NOW + SILENCE + timedelta(seconds=1)
    assert is_coordinating_due(later)
    coordinate(at=later)
    assert not is_coordinating_due(later)
    work(evaluation, at=later)
    assert evaluation.state == "done"
    assert not is_coordinating_due(later + SILENCE * 2)


def test_few_portions_are_on_their_way_at_once(lake: Path, settings) -> None:
    settings.DATA_SET_ROWS = 300
    evaluation = started(registered(lake))
    for _ in range(2):  # the files are listed, and their rows spilled
        for portion in left(evaluation):
            work_portion(portion_id=portion, clock=lambda: NOW)
    assert len(left(evaluation)) > 2 * AT_ONCE
    announced = DataSetPortion.objects.filter(done_at=None, announced_at=NOW)
    assert announced.count() == AT_ONCE
    assert announce(evaluation.pk, at=NOW) == 0
    work_portion(portion_id=announced[0].pk, clock=lambda: NOW)
    assert announced.count() == AT_ONCE


def test_a_portion_that_kills_its_workers_ends_the_evaluation(lake: Path) -> None:
    evaluation, at = started(registered(lake)), NOW
    (portion,) = left(evaluation)
    for _ in range(ATTEMPTS):
        assert claim(portion, at=at) is not None
        assert claim(portion, at=at) is None
        at += timedelta(minutes=5)
    work_portion(portion_id=portion, clock=lambda: at)
    evaluation.refresh_from_db()
    assert evaluation.state == "failed"
    assert "five attempts" in evaluation.problem


def test_a_file_that_is_away_is_tried_again(lake: Path) -> None:
    evaluation, at = started(registered(lake)), NOW
    shutil.move(lake, lake.parent / "elsewhere")
    (portion,) = left(evaluation)
    work_portion(portion_id=portion, clock=lambda: at)
    assert DataSetPortion.objects.get().attempts == 1
    shutil.move(lake.parent / "elsewhere", lake)
    work(evaluation, at=at + timedelta(minutes=1))
    assert evaluation.state == "done"


def test_files_that_change_meanwhile_are_refused(lake: Path) -> None:
    evaluation = started(registered(lake))
    work_portion(portion_id=left(evaluation)[0], clock=lambda: NOW)
    rows = pa.concat_tables(interactions(500, seed=3))
    written(rows, lake / "day=2026-11-01" / "part-0000.parquet")
    work(evaluation)
    assert evaluation.state == "failed"
    assert "changed after the evaluation began" in evaluation.problem


def test_a_query_twice_is_named(lake: Path) -> None:
    rows = pa.concat_tables(interactions(500, seed=11))
    written(pa.concat_tables([rows, rows]), lake / "day=2026-11-03" / "part-0.parquet")
    evaluation = work(started(registered(lake)))
    assert evaluation.state == "failed"
    assert "appears twice" in evaluation.problem


def test_judgments_in_a_data_set_of_their_own(lake: Path, settings) -> None:
    rows = pa.concat_tables(interactions(2_000, seed=5))
    places = lake.parent / "two"
    written(rows.select(["user", "item", "score", "country"]), places / "run" / "a.parquet")
    written(rows.select(["user", "item", "grade"]), places / "judged" / "b.parquet")
    settings.DATA_SETS = read_places([str(places)])
    data_set = registered(
        places / "run", judgments=str(places / "judged"), grade="grade", signals="", day=""
    )
    evaluation = work(started(data_set))
    expected = evaluate(
        columns_of(data_set).plan,
        [str(places / "run")],
        judgments=[str(places / "judged")],
        processes=1,
    )
    found = {name.removeprefix(BETWEEN): own for name, own in stored(evaluation).items()}
    assert found == expected.segments


def test_one_evaluation_at_a_time_and_it_can_be_stopped(lake: Path) -> None:
    data_set = registered(lake)
    evaluation = started(data_set)
    with pytest.raises(DataSetRefused, match="still running"):
        started(data_set)
    work_portion(portion_id=left(evaluation)[0], clock=lambda: NOW)
    access = make_access(collection=data_set.collection)
    portion = left(evaluation)[0]
    stop_evaluation(access=access, evaluation=evaluation, at=NOW)
    work_portion(portion_id=portion, clock=lambda: NOW)
    evaluation.refresh_from_db()
    assert (evaluation.state, evaluation.figures.count()) == ("stopped", 0)
    coordinate(at=NOW)
    assert work(started(data_set)).state == "done"


def test_a_schedule_begins_an_evaluation_once(lake: Path) -> None:
    data_set = registered(lake)
    access = make_access(collection=data_set.collection)
    schedule_data_set(
        access=access, data_set=data_set, cron="0 3 * * *", time_zone="Europe/Berlin", at=NOW
    )
    data_set.refresh_from_db()
    due = data_set.next_at
    assert due is not None
    assert not is_coordinating_due(due - timedelta(minutes=1))
    for _ in range(2):
        coordinate(at=due)
    evaluation = data_set.evaluations.get()
    assert evaluation.is_scheduled
    data_set.refresh_from_db()
    assert data_set.next_at > due
    assert work(evaluation, at=due).state == "done"
