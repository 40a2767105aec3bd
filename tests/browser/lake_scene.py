"""Two rankers' data sets, evaluated, watched and compared, so that their pages have figures."""

from pathlib import Path
from tempfile import TemporaryDirectory

from judgments.permissions import Access

DAYS = 9
MEASURES = "nDCG@10 RR AP(rel=2)"


def build_lake(access: Access) -> None:
    """As workers would: all portions, one after the other, and what canaries find."""
    from django.conf import settings
    from django.utils import timezone

    from evaluation.data_set_canaries.looking import check_data_sets
    from evaluation.data_set_canaries.services import create_data_set_canary
    from evaluation.data_set_comparisons.services import start_comparison
    from evaluation.data_sets.places import read_places
    from evaluation.data_sets.services import schedule_data_set, start_evaluation
    from evaluation.data_sets.working import work_portion
    from evaluation.models import DataSet, DataSetPortion

    now = timezone.now()

    def work() -> None:
        while portion := DataSetPortion.objects.filter(done_at=None).first():
            work_portion(portion_id=portion.pk, clock=timezone.now)

    with TemporaryDirectory() as name:
        folder = Path(name)
        settings.DATA_SETS = read_places([name])
        settings.DATA_SETS_FOLDER = str(folder / "work")
        made = []
        for number, ranker in enumerate(("Home feed", "Home feed, candidate")):
            slug = ranker.lower().replace(",", "").replace(" ", "-")
            _write(folder / slug, seed=number)
            made.append(
                DataSet.objects.create(
                    collection=access.collection,
                    slug=slug,
                    name=ranker,
                    rankings=str(folder / slug),
                    query=["user"],
                    document="item",
                    score="score",
                    grade="grade",
                    measures=MEASURES,
                    segments=["country"],
                    day="day",
                    created_at=now,
                )
            )
        for rules, by_segment in (
            (["board: nDCG@10 at least 0.95", "board: RR at most 0.02 below baseline"], False),
            (["board: nDCG@10 at least 0.1"], True),
        ):
            create_data_set_canary(
                access=access,
                data_set=made[0],
                rules=rules,
                is_by_segment=by_segment,
                days=7,
                fewest=10,
                in_a_row=1,
                at=now,
            )
        for data_set in made:
            start_evaluation(access=access, data_set=data_set, at=now)
        start_comparison(access=access, data_set=made[0], other=made[1], at=now)
        work()
        check_data_sets(at=now)
        schedule_data_set(
            access=access, data_set=made[0], cron="0 4 * * *", time_zone="Europe/Berlin", at=now
        )


def _write(folder: Path, *, seed: int) -> None:
    import pyarrow as pa

    from tests.touchstone.bulk.builders import written
    from tests.touchstone.bulk.generator import COUNTRIES, interactions

    for day in range(1, DAYS + 1):
        rows = pa.concat_tables(interactions(3_000, seed=10 * day + seed))
        countries = [COUNTRIES[user % 5] for user in rows.column("user").to_pylist()]
        place = rows.column_names.index("country")
        own = rows.set_column(place, "country", [countries])
        written(own, folder / f"day=2026-11-{day:02}" / "a.parquet")
