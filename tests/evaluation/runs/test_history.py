"""A ranker's history: its runs at the newest grades, and its newest run as grades changed."""

from datetime import timedelta

import pytest
from django.urls import reverse

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Ranker, Run
from evaluation.runs.history import RankerHistory, get_ranker_history
from evaluation.runs.services import withdraw_run
from tests.builders import NOW, World, commit, make_access
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run
from touchstone.measures.asking import ask
from touchstone.statistics.intervals import half_interval

pytestmark = pytest.mark.django_db


def judge(world: World, grade: int, *, days: int) -> None:
    """Another version, in which d1 has this grade and d2 the grade 1 for both queries."""
    d1, d2, *_ = world.documents
    grades = {(q, d): g for q in world.queries[:2] for d, g in ((d1, grade), (d2, 1))}
    commit(judgment_list=world.judgments, grades=grades, at=NOW + timedelta(days=days))
    world.judgments.refresh_from_db()
    refresh_evaluations(list_id=world.judgments.pk, at=NOW + timedelta(days=days))


def upload(world: World, name: str, q1: list[str], q2: list[str]) -> Run:
    return make_run(collection=world.collection, rankings={"q1": q1, "q2": q2}, name=name)


def history(world: World, measure: str = "nDCG@10") -> RankerHistory:
    ranker = Ranker.objects.get(collection=world.collection)
    return get_ranker_history(ranker=ranker, judgment_list=world.judgments, measure=ask(measure))


def test_runs_come_in_their_order_with_the_intervals_of_their_means(world: World) -> None:
    bad = upload(world, "bad", ["d2", "d1"], ["d2", "d1"])
    good = upload(world, "good", ["d1", "d2"], ["d2", "d1"])
    judge(world, 3, days=0)
    first, second = history(world).runs
    assert [first.run, second.run] == [bad.public_id, good.public_id]
    low = (1 + 3 / 1.584962500721156) / (3 + 1 / 1.584962500721156)
    assert first.value == pytest.approx(low)
    assert second.value == pytest.approx((1 + low) / 2)
    half = half_interval((1 - low) / 2, 2)
    assert half is not None
    assert (second.low, second.high) == pytest.approx(
        (second.value - half, second.value + half), rel=1e-6
    )
    assert (first.low, first.high) == (None, None)  # both queries have the same value
    assert (first.version, second.version) == (1, 1)


def test_the_newest_run_is_followed_through_the_versions(world: World) -> None:
    upload(world, "old", ["d1", "d2"], ["d1", "d2"])
    newest = upload(world, "new", ["d2", "d1"], ["d2", "d1"])
    for day, grade in enumerate((3, 0)):
        judge(world, grade, days=day)
    found = history(world)
    assert found.newest == "new"
    assert [one.run for one in found.versions] == [newest.public_id] * 2
    assert [one.version for one in found.versions] == [1, 2]
    assert [one.at for one in found.versions] == [NOW, NOW + timedelta(days=1)]
    assert found.versions[0].value < 1
    assert found.versions[1].value == pytest.approx(1)  # d2 alone is relevant, and first


def test_a_withdrawn_run_has_no_part_in_it_and_one_value_is_no_line(world: World) -> None:
    upload(world, "one", ["d1", "d2"], ["d1", "d2"])
    gone = upload(world, "gone", ["d2"], ["d2"])
    judge(world, 3, days=0)
    assert len(history(world).runs) == 2
    withdraw_run(access=make_access(collection=world.collection), run=gone, at=NOW)
    found = history(world)
    assert (found.runs, found.versions, found.newest) == ((), (), "")


def test_the_page_shows_the_measure_that_is_asked_for(world: World) -> None:
    upload(world, "one", ["d1", "d2"], ["d1", "d2"])
    run = upload(world, "two", ["d2", "d1"], ["d2", "d1"])
    for day, grade in enumerate((3, 2)):
        judge(world, grade, days=day)
    page = signed_in(world.dora)
    url = reverse("ranker", args=["books", "bm25"])
    shown = page.get(url)
    assert shown.context["page"].history.measure.canonical == "nDCG@10"
    assert "two as grades changed" in text_of(shown)
    assert f"{reverse('run', args=['books', run.public_id])}?list=main&version=1" in links_of(shown)
    columns = [column.canonical for column in shown.context["page"].columns]
    other = page.get(url, {"measure": columns[1]})
    assert other.context["page"].history.measure.canonical == columns[1]
    unknown = page.get(url, {"measure": "<b>"})
    assert unknown.context["page"].history.measure.canonical == columns[0]
