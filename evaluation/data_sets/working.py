"""The work on data sets: list the files, spill their rows into buckets, evaluate each bucket.

Each portion can be done again, by any worker, with the same result; so an evaluation goes on
after killed workers and lost messages, and ends with the integers of the library's local engine.
Workers share a folder, where the rows lie between the steps.
"""

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction

from evaluation.data_sets import lowest
from evaluation.data_sets.definition import columns_of, no_common
from evaluation.data_sets.figures import figures_of, pack_counts, unpack_counts
from evaluation.data_sets.places import FoundFile, check_file, find_files, find_place
from evaluation.data_sets.plans import check_comparable
from evaluation.data_sets.scheduling import (
    announce,
    claim,
    is_with_no_one,
    open_portions,
    prolonged,
    put_back,
)
from evaluation.data_sets.services import start_scheduled
from evaluation.models import DataSet, DataSetEvaluation, DataSetFigures, DataSetPortion
from judgments.jobs.heartbeats import ATTEMPTS, GAVE_UP
from judgments.waking import wake
from touchstone.bulk.counts import BulkCounts
from touchstone.bulk.errors import BulkRefused, BulkUnreadable
from touchstone.errors import DomainError

if TYPE_CHECKING:
    from touchstone.bulk import data_sets as lake
    from touchstone.bulk.data_sets import DataFile, Portion

logger = logging.getLogger(__name__)

Kind = DataSetPortion.Kind
OTHER: Final = 1_000_000  # the first number of a portion of the data set compared with
FREE: Final = 0.8  # of the disk's free space: what rows may take between the steps


def work_portion(*, portion_id: int, clock: Callable[[], datetime]) -> None:
    """Do one portion, unless it is done or another worker is at it; then what follows from it."""
    portion = claim(portion_id, at=clock())
    if portion is None:
        return
    evaluation = portion.evaluation
    if portion.attempts > ATTEMPTS:
        fail(evaluation, GAVE_UP, at=clock())
        return
    try:
        with prolonged(portion):
            _WORK[Kind(portion.kind)](portion, clock)
    except BulkUnreadable as error:
        if portion.attempts >= ATTEMPTS:
            fail(evaluation, error.message, at=clock())
        else:
            put_back(portion, at=clock())
    except DomainError as refusal:
        fail(evaluation, refusal.message, at=clock())
    except Exception:
        logger.exception("portion %s failed in attempt %s", portion.pk, portion.attempts)
        put_back(portion, at=clock())
    else:
        advance(evaluation, at=clock())


def coordinate(*, at: datetime) -> None:
    """Begin what is scheduled, and go on with evaluations whose messages or workers were lost."""
    start_scheduled(at=at)
    for evaluation in DataSetEvaluation.objects.filter(state=DataSetEvaluation.State.RUNNING):
        advance(evaluation, at=at)
    _clear_folders()


def is_coordinating_due(now: datetime) -> bool:
    """Whether `coordinate` would find something to do; for the sweep."""
    lost = DataSetPortion.objects.filter(
        is_with_no_one(now), done_at=None, evaluation__state=DataSetEvaluation.State.RUNNING
    )
    return DataSet.objects.filter(next_at__lte=now).exists() or lost.exists()


def advance(evaluation: DataSetEvaluation, *, at: datetime) -> None:
    """Announce what is left of this step, or begin the next one, or end the evaluation."""
    own = DataSetPortion.objects.filter(evaluation=evaluation)
    if not open_portions(evaluation.pk).exists():
        evaluation.refresh_from_db()
        if evaluation.state != DataSetEvaluation.State.RUNNING or evaluation.buckets is None:
            return
        if own.filter(kind=Kind.BUCKET).count() == evaluation.buckets:
            finish(evaluation, at=at)
            return
        DataSetPortion.objects.bulk_create(
            [
                DataSetPortion(evaluation=evaluation, kind=Kind.BUCKET, number=number)
                for number in range(evaluation.buckets)
            ],
            ignore_conflicts=True,  # another worker may do the same
        )
    announce(evaluation.pk, at=at)


def finish(evaluation: DataSetEvaluation, *, at: datetime) -> None:
    """Add up the buckets, and store the sums by day and segment, once."""
    results = DataSetPortion.objects.filter(evaluation=evaluation, kind=Kind.BUCKET)
    packed = results.order_by("number").values_list("result", flat=True)
    try:
        counts = BulkCounts.merge(unpack_counts(bytes(one)) for one in packed.iterator() if one)
        if sum(one.rows for one in counts.segments.values()) != evaluation.rows:
            raise BulkRefused("the files changed while they were read")
        if evaluation.other is not None and not any(
            one.queries for one in counts.segments.values()
        ):
            raise BulkRefused(no_common(evaluation.data_set, evaluation.other))
        columns = columns_of(evaluation.data_set)
        figures = figures_of(columns, counts)
    except DomainError as refusal:
        fail(evaluation, refusal.message, at=at)
        return
    with transaction.atomic():
        if _end(evaluation, DataSetEvaluation.State.DONE, at=at):
            DataSetFigures.objects.bulk_create(
                [
                    DataSetFigures(
                        evaluation=evaluation,
                        day=one.day,
                        segment=one.segment,
                        rows=one.rows,
                        queries=one.queries,
                        sums=one.sums,
                    )
                    for one in figures
                ]
            )
    _forget(evaluation)


def fail(evaluation: DataSetEvaluation, problem: str, *, at: datetime) -> None:
    """End it without figures."""
    with transaction.atomic():
        _end(evaluation, DataSetEvaluation.State.FAILED, at=at, problem=problem)
    _forget(evaluation)


def _end(evaluation: DataSetEvaluation, state: str, *, at: datetime, problem: str = "") -> bool:
    running = DataSetEvaluation.objects.filter(
        pk=evaluation.pk, state=DataSetEvaluation.State.RUNNING
    )
    if not running.update(state=state, ended_at=at, problem=problem):
        return False
    DataSetPortion.objects.filter(evaluation=evaluation).delete()
    wake("evaluation.check_data_sets")
    return True


def _list(portion: DataSetPortion, clock: Callable[[], datetime]) -> None:
    """Find the files, and make portions of their row groups."""
    from touchstone.bulk.local import MOST_BUCKETS  # noqa: PLC0415  (an extra)

    evaluation = portion.evaluation
    sides = [_listed(evaluation.data_set)]
    if evaluation.other is not None:
        sides.append(_listed(evaluation.other))
        check_comparable(*(columns_of(one) for one in (evaluation.data_set, evaluation.other)))
        _check_kinds(*sides)
    rows = settings.DATA_SET_ROWS
    n_rows = sum(own.rows for side in sides for own in side.data_sets)
    folder = _folder(evaluation)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with transaction.atomic():
        done = DataSetPortion.objects.filter(pk=portion.pk, done_at=None).update(done_at=clock())
        if not done:
            return
        DataSetEvaluation.objects.filter(pk=evaluation.pk).update(
            buckets=max(1, min(MOST_BUCKETS, -(-n_rows // rows))),
            files=sum(len(own.files) for side in sides for own in side.data_sets),
            rows=sum(side.data_sets[0].rows for side in sides),
            limit=int(shutil.disk_usage(folder.parent).free * FREE),
        )
        DataSetPortion.objects.bulk_create(
            DataSetPortion(
                evaluation=evaluation,
                kind=Kind.SPILL,
                number=OTHER * place + number,
                row_groups=[_written(one, side.known[one.file.path]) for one in part],
            )
            for place, side in enumerate(sides)
            for number, part in enumerate(side.portions(rows))
        )


@dataclass(frozen=True)
class _Listed:
    """A data set's files: rankings first, then judgments if it has a data set of them."""

    data_sets: "tuple[lake.DataSet, ...]"
    known: Mapping[str, FoundFile]
    kinds: tuple[str, ...]

    def portions(self, rows: int) -> "Iterator[tuple[Portion, ...]]":
        """All row groups, some together that have about so many rows."""
        from touchstone.bulk.data_sets import portions  # noqa: PLC0415  (an extra)

        for one in self.data_sets:
            yield from portions(one, rows=rows)


def _listed(data_set: DataSet) -> _Listed:
    from touchstone.bulk.data_sets import read_files  # noqa: PLC0415  (an extra)
    from touchstone.bulk.local import check_alike  # noqa: PLC0415

    columns = columns_of(data_set)
    plan = columns.plan
    known: dict[str, FoundFile] = {}

    def read(address: str, *, judgments: bool | None) -> "lake.DataSet":
        found = find_files(address, settings.DATA_SETS)
        known.update((file.path, file) for file in found.files)
        paths = [file.path for file in found.files]
        return read_files(paths, plan, judgments=judgments, filesystem=found.filesystem)

    own = [read(columns.rankings, judgments=False if columns.judgments else None)]
    if columns.judgments:
        own.append(read(columns.judgments, judgments=True))
        check_alike(plan, *own)
    # queries of several columns are text
    kinds = [own[0].kinds[plan.query[0]]] if len(plan.query) == 1 else []
    return _Listed(tuple(own), known, tuple(kinds))


def _check_kinds(left: _Listed, right: _Listed) -> None:
    if left.kinds != right.kinds:
        raise BulkRefused(
            f"the query column is {', '.join(left.kinds)} in one data set and "
            f"{', '.join(right.kinds)} in the other, so no query is in both"
        )


def _written(portion: "Portion", found: FoundFile) -> dict[str, Any]:
    return {
        "path": found.path,
        "size": found.size,
        "changed": found.changed,
        "constants": dict(portion.file.constants),
        "rows": list(portion.file.groups),
        "groups": list(portion.groups),
        "judgments": portion.judgments,
    }


def _spill(portion: DataSetPortion, clock: Callable[[], datetime]) -> None:
    """Write some row groups, bucket by bucket."""
    from touchstone.bulk.data_sets import DataFile, Portion  # noqa: PLC0415  (an extra)
    from touchstone.bulk.spill import spill  # noqa: PLC0415

    evaluation = portion.evaluation
    other = evaluation.other if portion.number >= OTHER else None
    columns = columns_of(other or evaluation.data_set)
    filesystems: dict[str, Any] = {}

    def opened(row: Mapping[str, Any]) -> "DataFile":
        address = columns.judgments if row["judgments"] else columns.rankings
        place = find_place(address, settings.DATA_SETS)
        if place.address not in filesystems:
            filesystems[place.address] = None if place.is_folder else place.opened()[0]
        filesystem = filesystems[place.address]
        check_file(FoundFile(row["path"], row["size"], row["changed"]), filesystem, place)
        return DataFile(row["path"], tuple(row["rows"]), row["constants"], filesystem)

    parts = [
        Portion(opened(row), tuple(row["groups"]), row["judgments"])
        for row in portion.row_groups or ()
    ]
    folder = _folder(evaluation)
    folder.mkdir(mode=0o700, exist_ok=True)
    size = spill(columns.plan, parts, evaluation.buckets or 1, folder / _name(portion.number))
    DataSetPortion.objects.filter(pk=portion.pk, done_at=None).update(done_at=clock(), size=size)
    _check_room(evaluation)


def _evaluate(portion: DataSetPortion, clock: Callable[[], datetime]) -> None:
    """Evaluate the queries of one bucket; where rows are gone, have them spilled again."""
    from touchstone.bulk.kernel import evaluate_rows  # noqa: PLC0415  (an extra)
    from touchstone.bulk.paired import common_plan, compare_rows  # noqa: PLC0415
    from touchstone.bulk.spill import read_bucket  # noqa: PLC0415

    evaluation = portion.evaluation
    folder = _folder(evaluation)
    spills = DataSetPortion.objects.filter(evaluation=evaluation, kind=Kind.SPILL)
    numbers = list(spills.order_by("number").values_list("number", flat=True))
    lost = [number for number in numbers if not (folder / _name(number)).exists()]
    if lost:
        spills.filter(number__in=lost).update(done_at=None, leased_until=None, announced_at=None)
        DataSetPortion.objects.filter(pk=portion.pk).update(leased_until=None, announced_at=None)
        return
    n_buckets = evaluation.buckets or 1
    table, other = (
        read_bucket([folder / _name(one) for one in side], portion.number, n_buckets)
        for side in (
            [number for number in numbers if number < OTHER],
            [number for number in numbers if number >= OTHER],
        )
    )
    columns = columns_of(evaluation.data_set)
    if evaluation.other is not None:
        plan = common_plan(columns.plan, columns_of(evaluation.other).plan)
        counts = compare_rows(plan, table, other)
    else:
        counts = evaluate_rows(columns.plan, table)
        if portion.number == lowest.BUCKET:
            DataSetEvaluation.objects.filter(pk=evaluation.pk).update(
                lowest=lowest.find_lowest(columns, table)
            )
    DataSetPortion.objects.filter(pk=portion.pk, done_at=None).update(
        done_at=clock(), result=pack_counts(counts)
    )


def _check_room(evaluation: DataSetEvaluation) -> None:
    own = DataSetPortion.objects.filter(evaluation=evaluation, kind=Kind.SPILL)
    size = sum(own.values_list("size", flat=True))
    if evaluation.limit is not None and size > evaluation.limit:
        raise BulkRefused(
            f"its rows need more disk than {evaluation.limit / 2**30:.3g} GiB, 80 % of what was "
            "free in the workers' folder TOUCHSTONE_DATA_SETS_FOLDER"
        )


def _folder(evaluation: DataSetEvaluation) -> Path:
    return Path(settings.DATA_SETS_FOLDER) / str(evaluation.public_id)


def _name(number: int) -> str:
    # not ".arrow": what a version before wrote so is laid out otherwise, and is spilled again
    return f"{number:06}.rows"


def _forget(evaluation: DataSetEvaluation) -> None:
    shutil.rmtree(_folder(evaluation), ignore_errors=True)


def _clear_folders() -> None:
    """Remove what a worker wrote after its evaluation had ended."""
    folder = Path(settings.DATA_SETS_FOLDER)
    if not folder.is_dir():
        return
    running = DataSetEvaluation.objects.filter(state=DataSetEvaluation.State.RUNNING)
    kept = {str(public_id) for public_id in running.values_list("public_id", flat=True)}
    for own in folder.iterdir():
        if own.name not in kept and own.is_dir():
            shutil.rmtree(own, ignore_errors=True)


_WORK: Mapping[DataSetPortion.Kind, Callable[[DataSetPortion, Callable[[], datetime]], None]] = {
    Kind.LIST: _list,
    Kind.SPILL: _spill,
    Kind.BUCKET: _evaluate,
}
