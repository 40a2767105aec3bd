"""A leaderboard as Parquet."""

import io

import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.leaderboards import downloads
from evaluation.leaderboards.files import FORMATS, BoardTable
from evaluation.pages import files
from tests.builders import NOW, commit, make_world
from tests.evaluation.browsing import signed_in
from tests.evaluation.builders import make_run


@pytest.mark.django_db
def test_a_leaderboard_is_downloaded_with_every_digit() -> None:
    world = make_world(queries=3)
    for ranker, order in (("a", ["d1", "d2", "d3"]), ("b", ["d2", "d3", "d1"])):
        rankings = {query.qid: order for query in world.queries}
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    grades = {(query, world.documents[0]): 3 for query in world.queries}
    commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    address = reverse("leaderboard-file", args=["books", "main"])
    answer = signed_in(world.dora).get(f"{address}?format=parquet&measures=RR@10,P@5")
    assert answer["Content-Type"] == "application/vnd.apache.parquet"
    assert answer["Content-Disposition"].endswith('.parquet"')
    table = pq.read_table(io.BytesIO(answer.content))
    assert table.column_names == ["ranker", "run", "measure", "mean", "low", "high", "n"]
    values = {(own["ranker"], own["measure"]): own["mean"] for own in table.to_pylist()}
    assert values == {
        ("a", "RR@10"): 1.0,
        ("a", "P@5"): 0.2,
        ("b", "RR@10"): 1 / 3,
        ("b", "P@5"): 0.2,
    }
    assert b"version 1" in table.schema.metadata[b"title"]


def test_a_leaderboard_without_runs_is_an_empty_table() -> None:
    content = downloads.as_parquet(BoardTable("Main", ("RR@10",), ()))
    assert pq.read_table(io.BytesIO(content)).num_rows == 0


def test_it_is_offered_only_where_it_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    formats = downloads.DOWNLOADS.values()
    assert "parquet" in files.offered(*formats)
    monkeypatch.setattr(files, "can_write_parquet", lambda: False)
    assert set(files.offered(*formats)) == set(FORMATS)
