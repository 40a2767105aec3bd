"""Two rankers' data sets on their common users: by tasks, on pages and over REST."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.test import Client

from evaluation.data_set_comparisons.queries import get_comparison_page
from evaluation.data_set_comparisons.services import start_comparison
from evaluation.data_sets.definition import columns_of
from evaluation.data_sets.places import read_places
from evaluation.data_sets.services import DataSetRefused, start_evaluation
from evaluation.models import DataSet, DataSetEvaluation, DataSetPortion
from judgments.permissions import Access
from tests.builders import NOW, make_access, make_world
from tests.evaluation.data_sets.test_pages import address, work
from tests.touchstone.bulk.builders import written
from tests.touchstone.bulk.generator import interactions
from touchstone.bulk.data_sets import portions, read_data_set
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.paired import compare_rows
from touchstone.bulk.spill import read_whole
from touchstone.measures.exact import FRACTION_BITS

pytestmark = pytest.mark.django_db
COLUMNS: dict[str, Any] = {
    "query": ["user"],
    "document": "item",
    "score": "score",
    "grade": "grade",
    "measures": "nDCG@5 RR",
    "segments": ["country"],
}


@pytest.fixture
def ada(tmp_path: Path, settings) -> Access:
    settings.DATA_SETS = read_places([str(tmp_path / "lake")])
    settings.DATA_SETS_FOLDER = str(tmp_path / "work")
    settings.DATA_SET_ROWS = 1_500
    return make_access(collection=make_world().collection)


@pytest.fixture
def client(ada: Access) -> Client:
    result = Client()
    result.force_login(ada.user, "django.contrib.auth.backends.ModelBackend")
    return result


def make_data_set(ada: Access, folder: Path, **more: Any) -> DataSet:
    return DataSet.objects.create(
        collection=ada.collection,
        slug=folder.name,
        name=folder.name.capitalize(),
        rankings=str(folder),
        created_at=NOW,
        **COLUMNS | more,
    )


def in_countries(rows: pa.Table) -> pa.Table:
    """The rows with a country that each user has in every data set."""
    countries = [f"C{user % 3}" for user in rows.column("user").to_pylist()]
    return rows.set_column(rows.column_names.index("country"), "country", [countries])


@pytest.fixture
def both(ada: Access, tmp_path: Path) -> tuple[DataSet, DataSet]:
    """Two rankers' rows of users of whom most are the same; three portions each."""
    made = []
    for name, seed in (("old", 21), ("new", 22)):
        for part, own in enumerate(interactions(4_000, seed=seed)):
            written(in_countries(own), tmp_path / "lake" / name / f"{part}.parquet")
        made.append(make_data_set(ada, tmp_path / "lake" / name))
    return made[0], made[1]


def compare(ada: Access, left: DataSet, right: DataSet) -> DataSetEvaluation:
    comparison = start_comparison(access=ada, data_set=left, other=right, at=NOW)
    work()
    comparison.refresh_from_db()
    return comparison


def test_tasks_give_the_integers_of_the_whole_data(
    ada: Access, both: tuple[DataSet, DataSet]
) -> None:
    old, new = both
    comparison = compare(ada, new, old)
    assert (comparison.state, comparison.problem) == ("done", "")
    assert (comparison.buckets or 0) > 3
    plan = columns_of(new).plan
    whole = []
    for one in (new, old):
        read = read_data_set([one.rankings], plan, judgments=None)
        parts = [part for own in portions(read, rows=10**9) for part in own]
        whole.append(read_whole(plan, parts))
    expected = compare_rows(plan, whole[0], whole[1])
    stored = {one.segment: one for one in comparison.figures.all()}
    assert stored.keys() == expected.segments.keys()
    for name, counts in expected.segments.items():
        assert bytes(stored[name].sums) == counts.sums.astype("<i8").tobytes()
        assert (stored[name].queries, stored[name].rows) == (counts.queries, counts.rows)
    assert sum(one.queries for one in stored.values()) > 0
    assert not DataSetPortion.objects.exists()


def test_a_comparison_is_no_evaluation_of_the_data_set(
    ada: Access, client: Client, both: tuple[DataSet, DataSet]
) -> None:
    old, new = both
    comparison = start_comparison(access=ada, data_set=new, other=old, at=NOW)
    start_evaluation(access=ada, data_set=new, at=NOW)  # both at once
    with pytest.raises(DataSetRefused, match="still running"):
        start_comparison(access=ada, data_set=new, other=old, at=NOW)
    work()
    page = client.get(address("data-set", "new")).context["page"]
    assert [one.state for one in page.evaluations] == ["done"]
    assert (
        client.get(address("api-data-set-evaluation", "new", comparison.public_id)).status_code
        == 404
    )


def test_pages_and_rest_show_the_differences(
    ada: Access, client: Client, both: tuple[DataSet, DataSet]
) -> None:
    started = client.post(address("data-set-comparisons", "new"), {"other": "old"})
    assert "computing" in client.get(started["Location"]).content.decode()
    work()
    answer = client.get(started["Location"], {"measure": "RR"})
    page = answer.context["page"]
    assert page.measure == "RR"
    assert page.whole.common == sum(group.common for group in page.segments)
    (row,) = client.get(address("api-data-set-comparisons", "new")).json()
    found = client.get(address("api-data-set-comparison", "new", row["evaluation"]["id"])).json()
    assert found["other"] == "old"
    assert sum(one["common"] for one in found["figures"]) == page.whole.common
    for measure, shown in enumerate(page.whole.measures):
        own = [one["measures"][measure] for one in found["figures"]]
        n = sum(one["difference"]["n"] for one in own)
        total = sum(int(one["difference"]["sum"]) for one in own)
        assert shown.difference.mean == total / (n << FRACTION_BITS)
        assert shown.difference.mean == pytest.approx(shown.own - shown.other, abs=1e-12)
        assert shown.difference.low < shown.difference.mean < shown.difference.high
    refused = client.post(address("api-data-set-comparison-stop", "new", row["evaluation"]["id"]))
    assert refused.status_code == 422


def test_a_ranker_compared_with_itself_differs_nowhere(
    ada: Access, both: tuple[DataSet, DataSet]
) -> None:
    _, new = both
    again = DataSet.objects.get(pk=new.pk)
    again.pk, again.slug = None, "again"
    again.save()
    comparison = compare(ada, new, again)
    page = get_comparison_page(access=ada, slug="new", public_id=comparison.public_id)
    assert page.whole is not None
    for one in page.whole.measures:
        assert (one.difference.mean, one.difference.half) == (0.0, 0.0)
        assert one.difference.n == one.n_own == one.n_other


def test_days_are_compared_day_by_day(ada: Access, tmp_path: Path) -> None:
    made = []
    for name, days in (("left", (1, 2)), ("right", (2, 3))):
        for day in days:
            for own in interactions(300, seed=day):
                written(own, tmp_path / "lake" / name / f"day=2026-11-{day:02}" / "a.parquet")
        made.append(make_data_set(ada, tmp_path / "lake" / name, day="day"))
    comparison = compare(ada, made[0], made[1])
    queries = dict(comparison.figures.values_list("day", "queries"))
    assert [bool(queries[f"2026-11-{day:02}"]) for day in (1, 2, 3)] == [False, True, False]


def test_without_a_common_user_it_fails(ada: Access, tmp_path: Path) -> None:
    made = []
    for name, shift in (("left", 0), ("right", 10**9)):
        for own in interactions(300, seed=1):
            users = [user + shift for user in own.column("user").to_pylist()]
            place = own.column_names.index("user")
            moved = own.set_column(place, "user", [users])
            written(moved, tmp_path / "lake" / name / "a.parquet")
        made.append(make_data_set(ada, tmp_path / "lake" / name))
    comparison = compare(ada, made[0], made[1])
    assert comparison.state == "failed"
    assert comparison.problem == "No query is in both: user of Left, and user of Right."


def test_keys_of_another_kind_fail(ada: Access, tmp_path: Path) -> None:
    made = []
    for name, kind in (("left", int), ("right", str)):
        for own in interactions(300, seed=1):
            users = [kind(user) for user in own.column("user").to_pylist()]
            place = own.column_names.index("user")
            written(own.set_column(place, "user", [users]), tmp_path / "lake" / name / "a.parquet")
        made.append(make_data_set(ada, tmp_path / "lake" / name))
    comparison = compare(ada, made[0], made[1])
    assert comparison.state == "failed"
    assert "so no query is in both" in comparison.problem


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"query": ["user", "country"], "segments": ["country"]}, "number of query columns"),
        ({"day": "day"}, "day column"),
        ({"segments": []}, "segment columns"),
        ({"signals": ">=1=1, >=0=0"}, "grades of a raw signal"),
        ({"measures": "nDCG@7"}, "no measure in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    ada: Access, client: Client, both: tuple[DataSet, DataSet], other: dict[str, Any], words: str
) -> None:
    DataSet.objects.filter(slug="old").update(**other)
    old = DataSet.objects.get(slug="old")
    with pytest.raises(BulkRefused, match=words):
        start_comparison(access=ada, data_set=both[1], other=old, at=NOW)
    page = client.post(address("data-set-comparisons", "new"), {"other": "old"})
    assert page.status_code == 400
    assert words in page.content.decode()
    with pytest.raises(DataSetRefused, match="another data set"):
        start_comparison(access=ada, data_set=old, other=old, at=NOW)
