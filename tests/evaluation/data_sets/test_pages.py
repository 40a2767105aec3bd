"""The pages and REST of data sets: register, evaluate, read the figures."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.data_sets.places import read_places
from evaluation.data_sets.working import work_portion
from evaluation.models import DataSet, DataSetPortion
from tests.builders import NOW, World
from tests.touchstone.bulk.builders import table, written
from touchstone.measures.exact import FRACTION_BITS

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
FORM = {
    "name": "Home feed",
    "query": "user",
    "document": "document",
    "score": "score",
    "grade": "grade",
    "measures": "P(rel=1)@1 nDCG@2",
    "day": "day",
    "segments": "country",
}


@pytest.fixture
def dora(world: World) -> Client:
    client = Client()
    client.force_login(world.dora, "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def lake(tmp_path: Path, settings) -> Path:
    """Two users on two days; on the second, Ben's first document is no good."""
    for day, grade in (("2026-11-01", 1), ("2026-11-02", 0)):
        rows = [
            (1, "d1", 2.0, 1, "DE"),
            (1, "d2", 1.0, 0, "DE"),
            (2, "d1", 2.0, grade, "FR"),
            (2, "d2", 1.0, 1, "FR"),
        ]
        own = table(rows, "country").rename_columns(
            ["user", "document", "score", "grade", "country"]
        )
        written(own, tmp_path / "lake" / f"day={day}" / "a.parquet")
    settings.DATA_SETS = read_places([str(tmp_path / "lake")])
    settings.DATA_SETS_FOLDER = str(tmp_path / "work")
    return tmp_path / "lake"


def address(name: str, *more: Any) -> str:
    return reverse(name, args=["books", *more])


def work() -> None:
    while portion := DataSetPortion.objects.filter(done_at=None).first():
        work_portion(portion_id=portion.pk, clock=lambda: NOW)


def test_a_researcher_registers_evaluates_and_reads_a_time_line(dora: Client, lake: Path) -> None:
    answer = dora.post(address("data-set-new"), FORM | {"rankings": str(lake)})
    assert answer["Location"] == address("data-set", "home-feed")
    dora.post(address("data-set-evaluate", "home-feed"))
    page = dora.get(answer["Location"]).context["page"]
    assert page.is_running
    work()
    page = dora.get(answer["Location"], {"measure": "P(rel=1)@1"}).context["page"]
    assert [(day.name, day.shown.mean) for day in page.days] == [
        ("2026-11-01", 1.0),
        ("2026-11-02", 0.5),
    ]
    lowest = page.lowest
    assert (lowest.measure, lowest.queries) == ("P(rel=1)@1", 2)
    assert [(one.query, one.segment, one.value) for one in lowest.lowest] == [
        ("2, 2026-11-02", "FR", 0.0),
        ("1, 2026-11-02", "DE", 1.0),
    ]
    found = [(one.doc_id, one.grade) for one in lowest.lowest[0].documents]
    assert found == [("d1", 0.0), ("d2", 1.0)]
    assert [(one.name, one.shown.mean) for one in page.segments] == [("DE", 1.0), ("FR", 0.0)]
    assert (page.whole.queries, page.whole.rows, page.newest_day) == (2, 4, "2026-11-02")
    page = dora.get(answer["Location"], {"measure": "P(rel=1)@1", "segment": "FR"}).context["page"]
    assert [day.shown.mean for day in page.days] == [1.0, 0.0]
    listed = dora.get(address("data-sets")).context["page"].rows
    assert [(row.data_set.slug, row.mean.mean) for row in listed] == [("home-feed", 0.75)]


def test_without_a_day_column_the_time_line_is_by_evaluation(dora: Client, lake: Path) -> None:
    one_day = {"rankings": str(lake / "day=2026-11-02"), "day": "", "segments": ""}
    dora.post(address("data-set-new"), FORM | one_day)
    for _ in range(2):
        dora.post(address("data-set-evaluate", "home-feed"))
        work()
    page = dora.get(address("data-set", "home-feed")).context["page"]
    assert [day.shown.mean for day in page.days] == [0.5, 0.5]
    assert page.segment_names == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"rankings": "/etc"},
        {"document": "item"},
        {"measures": "nDCG@0"},
        {"signals": ">=1=2", "grade": "grade"},
        {"query": "user,document"},
        {"query": ""},
    ],
)
def test_what_does_not_hold_is_refused_and_nothing_is_registered(
    dora: Client, lake: Path, wrong: dict[str, str]
) -> None:
    answer = dora.post(address("data-set-new"), FORM | {"rankings": str(lake)} | wrong)
    assert answer.status_code == 400
    assert answer.context["form"].errors
    assert not DataSet.objects.exists()


def test_without_places_or_pyarrow_the_pages_say_so(
    dora: Client, world: World, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_SETS = ()
    for name in ("data-sets", "data-set-new"):
        assert "TOUCHSTONE_DATA_SETS" in dora.get(address(name)).content.decode()
    settings.DATA_SETS = read_places(["/srv/lake"])
    monkeypatch.setattr("touchstone.bulk.errors.find_spec", lambda _: None)
    assert "touchstone-relevance[parquet]" in dora.get(address("data-sets")).content.decode()


def test_rest_gives_exact_sums(dora: Client, lake: Path) -> None:
    given = FORM | {"rankings": str(lake), "query": ["user"], "segments": ["country"]}
    made = dora.post(address("api-data-sets"), given, content_type="application/json")
    assert (made.status_code, made.json()["slug"]) == (201, "home-feed")
    begun = dora.post(address("api-data-set-evaluations", "home-feed"))
    assert begun.json()["progress"]["total"] == 1
    again = dora.post(address("api-data-set-evaluations", "home-feed"))
    assert (again.status_code, again.json()["code"]) == (422, "evaluation_running")
    work()
    one = address("api-data-set-evaluation", "home-feed", begun.json()["id"])
    found = dora.get(one).json()
    assert (found["evaluation"]["state"], found["evaluation"]["rows"]) == ("done", 8)
    sums = {
        (row["day"], row["segment"]): int(row["measures"][0]["sum"]) for row in found["figures"]
    }
    assert sums == {
        ("2026-11-01", "DE"): 1 << FRACTION_BITS,
        ("2026-11-01", "FR"): 1 << FRACTION_BITS,
        ("2026-11-02", "DE"): 1 << FRACTION_BITS,
        ("2026-11-02", "FR"): 0,
    }
    low = found["lowest"][0]["lowest"][0]
    assert (low["query_id"], low["value"], low["ranked"]) == ("2, 2026-11-02", 0.0, 2)
    assert low["documents"] == [{"doc_id": "d1", "grade": 0.0}, {"doc_id": "d2", "grade": 1.0}]
    assert dora.delete(address("api-data-set", "home-feed")).status_code == 204
    assert dora.get(one).json() == found
