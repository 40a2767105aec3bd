"""How stable an order of runs is: computed by a worker, kept, and shown when it is there."""

import re
from copy import deepcopy
from html import unescape
from typing import Any

import pytest
from celery import current_app
from django.core.cache import cache
from django.urls import reverse

from evaluation.evaluations.queries import FilterRefused
from evaluation.models import StabilityReport
from evaluation.runs.selection import RunsFilters
from evaluation.stability import services as service
from evaluation.stability.queries import MOST, OrderStability, get_order_stability
from evaluation.tasks import report_order_stability
from judgments.models import SetLook
from judgments.sets.services import change_set
from tests.api.callers import MAIN, by_token
from tests.builders import NOW, World, commit, make_access, make_set, make_world
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import make_run
from touchstone.files.query_ids import QueryIds

pytestmark = pytest.mark.django_db

PAGE = reverse("stability", args=["books", "main"])
COMPARE = reverse("compare", args=["books", "main"])
PART = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """Nine queries of which d1 is best; bm25 shows it first, lsa on two queries only."""
    world = make_world(queries=9)
    d1, d2, *_ = world.documents
    commit(
        judgment_list=world.judgments,
        grades={(q, d): grade for q in world.queries for d, grade in ((d1, 3), (d2, 1))},
    )
    world.judgments.refresh_from_db()
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings=dict.fromkeys(qids, ("d1", "d2")))
    other = dict.fromkeys(qids, ("d2", "d1")) | dict.fromkeys(qids[:2], ("d1", "d2"))
    make_run(collection=world.collection, rankings=other, ranker="lsa")
    return world


@pytest.fixture
def world(built: World) -> World:
    return deepcopy(built)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What workers are told."""
    told: list[tuple[Any, ...]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: told.append((name, args)))
    return told


def ask(world: World, **filters) -> OrderStability:
    access = make_access(collection=world.collection, username="dora")
    return get_order_stability(access=access, slug="main", filters=RunsFilters(**filters))


def computed(world: World, **filters) -> OrderStability:
    report_order_stability(*ask(world, **filters).order.message)
    shown = ask(world, **filters)
    assert shown.runs
    return shown


def part_of(page) -> str:
    """The address that an open page asks for the part that is being computed."""
    (address,) = re.findall(r'hx-get="([^"]*/stability[^"]*)"', page.content.decode())
    return unescape(address)


def get(world: World, address: str = PAGE, headers=None):
    return signed_in(world.dora).get(address, headers=headers)


def test_a_worker_hears_of_it_and_the_open_page_shows_it_the_moment_it_is_done(world, sent):
    first = get(world)
    assert "The order among other queries and labels will be computed" in text_of(first)
    ((name, args),) = sent
    assert name == "evaluation.report_stability"
    assert current_app.conf.task_routes[name] == {"queue": "jobs"}
    part = part_of(first)
    assert "runs=" not in part
    assert "<title>" not in get(world, part, PART).content.decode()
    assert len(sent) == 1
    report_order_stability(*args)
    sent.clear()
    done = get(world, part, PART)
    assert "hx-get" not in done.content.decode()
    assert "2,000 resamples of the 9 queries" in text_of(done)
    assert "hx-get" not in get(world).content.decode()
    assert sent == []


def test_it_is_computed_once_and_without_writing_when_somebody_only_looks(world, sent):
    get(world)
    assert not StabilityReport.objects.exists()
    computed(world)
    rows = list(StabilityReport.objects.values())
    computed(world)
    assert list(StabilityReport.objects.values()) == rows
    (row,) = rows
    assert (row["token"], row["problem"]) == (None, "")


def test_the_same_question_has_the_same_answer_and_another_version_another(world):
    first = computed(world)
    StabilityReport.objects.all().delete()
    cache.clear()
    again = computed(world)
    assert (again.runs, again.first_place) == (first.runs, first.first_place)
    d2 = world.documents[1]
    commit(judgment_list=world.judgments, grades={(query, d2): 4 for query in world.queries})
    world.judgments.refresh_from_db()
    assert [row.label for row in computed(world).runs] == ["lsa / one", "bm25 / one"]
    assert computed(world, version="1").runs == first.runs
    assert StabilityReport.objects.count() == 2


def test_shares_of_first_places_and_of_wins_add_up(world):
    found = computed(world, measure="nDCG@2")
    best, other = found.runs
    assert (best.label, best.highest, best.lowest, other.lowest) == ("bm25 / one", 1, 1, 2)
    assert best.first + other.first == pytest.approx(1)
    assert best.above[1] + other.above[0] == pytest.approx(1)
    assert best.above_next == best.above[1]
    assert (best.above[0], other.above_next) == (None, None)
    assert other.low < other.mean < other.high


def test_a_large_board_says_of_each_run_how_often_it_is_above_the_next(world):
    qids = [query.qid for query in world.queries]
    for number in range(12):
        rankings = dict.fromkeys(qids, ("d2", "d1")) | dict.fromkeys(
            qids[: number % 9], ("d1", "d2")
        )
        make_run(collection=world.collection, rankings=rankings, ranker=f"ranker-{number}")
    found = computed(world)
    assert len(found.runs) == 14
    assert not found.is_table
    assert all(row.above == () for row in found.runs)
    assert all(0 <= row.above_next <= 1 for row in found.runs[:-1])
    means = [row.mean for row in found.runs if row.mean is not None]
    assert len(means) == 14
    assert means == sorted(means, reverse=True)
    assert sum(row.first for row in found.runs) == pytest.approx(1)
    assert "Above the next" in text_of(get(world))
    assert len(computed(world, runs=("bm25", "lsa")).runs) == 2


def test_a_comparison_has_it_as_a_part_for_its_own_runs(world, sent):
    page = get(world, COMPARE)
    assert "The order among other queries" in text_of(page)
    report_order_stability(*sent[0][1])
    assert "How stable is this order?" in text_of(page)
    done = text_of(get(world, COMPARE))
    assert "2,000 resamples of the 9 queries" in done
    assert "How fragile is first place?" in done


def test_a_comparison_and_its_part_are_one_look_at_a_held_out_set(world, sent):
    make_set(world=world, qids=["q1", "q2", "q3"], is_held_out=True)
    part = part_of(get(world, f"{COMPARE}?set=canaries&runs=bm25&runs=lsa"))
    report_order_stability(*sent[0][1])
    assert "resamples of the 3 queries" in text_of(get(world, part, PART))
    assert SetLook.objects.count() == 1


def test_a_set_that_has_other_queries_now_is_another_question(world):
    saved = make_set(world=world, qids=["q1", "q2", "q3"])
    assert computed(world, set="canaries").queries == 3
    change_set(
        access=make_access(collection=world.collection),
        at=NOW,
        saved_set=saved,
        name=saved.name,
        ids=QueryIds("test", {f"q{line}": line for line in range(1, 6)}),
        description="",
        is_held_out=False,
    )
    assert ask(world, set="canaries").runs == ()
    assert computed(world, set="canaries").queries == 5


def test_a_worker_that_could_not_be_told_is_told_at_the_next_look(world, monkeypatch):
    told: list[bool] = []

    def publish(*_) -> bool:
        told.append(len(told) > 0)
        return told[-1]

    monkeypatch.setattr("judgments.storage.caches.publish", publish)
    for _ in range(3):
        get(world)
    assert told == [False, True]


def test_a_failure_is_said_and_tried_again_when_somebody_looks(world, sent, monkeypatch):
    def break_down(**_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(service, "stability_figures", break_down)
        report_order_stability(*ask(world).order.message)
    failed = get(world)
    assert "An unexpected error occurred" in text_of(failed)
    assert "hx-get" not in failed.content.decode()
    assert len(sent) == 1
    report_order_stability(*sent[0][1])
    assert "2,000 resamples" in text_of(get(world))


def test_the_oldest_reports_go_when_there_are_many(world, monkeypatch):
    monkeypatch.setattr(service, "MOST_KEPT", 2)
    for measure in ("nDCG@1", "nDCG@2", "P@1"):
        computed(world, measure=measure)
    assert StabilityReport.objects.count() == 2
    assert not ask(world, measure="nDCG@1").runs
    assert ask(world, measure="P@1").runs


def test_runs_without_a_mean_have_no_order_and_the_page_says_so(world):
    make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="third")
    make_set(world=world, qids=["q2"])
    question = "?set=canaries&measure=AP(queries='returned')"
    waiting = ask(world, set="canaries", measure="AP(queries='returned')")
    report_order_stability(*waiting.order.message)
    page = get(world, PAGE + question)
    assert "they can’t be ordered" in text_of(page)
    assert "hx-get" not in page.content.decode()


@pytest.mark.parametrize(
    "filters", [{"runs": ("nope",)}, {"set": "nope"}, {"segment": "nope"}, {"measure": "nDCG RR"}]
)
def test_what_makes_no_sense_is_refused_in_words(world, filters):
    with pytest.raises(FilterRefused):
        ask(world, **filters)
    query = "&".join(
        f"{name}={value if isinstance(value, str) else value[0]}" for name, value in filters.items()
    )
    assert get(world, f"{PAGE}?{query}").status_code == 400


def test_more_runs_than_an_order_has_are_refused(world, monkeypatch):
    monkeypatch.setattr("evaluation.stability.queries.MOST", 1)
    assert MOST > 1
    with pytest.raises(FilterRefused, match="At most 1 runs"):
        ask(world)


def test_over_rest_the_figures_are_the_pages(world):
    found = computed(world, measure="nDCG@2")
    answer = by_token("dora").get(f"{MAIN}stability?measure=nDCG@2").json()
    assert (answer["computing"], answer["resamples"]) == (False, found.resamples)
    assert [row["run"] for row in answer["runs"]] == ["bm25/one", "lsa/one"]
    assert [row["first"] for row in answer["runs"]] == [row.first for row in found.runs]
    assert answer["tau_median"] == found.tau_median


def test_over_rest_what_a_worker_has_yet_to_compute_is_said(world):
    answer = by_token("dora").get(f"{MAIN}stability?measure=nDCG@2").json()
    assert (answer["computing"], answer["runs"]) == (True, [])
