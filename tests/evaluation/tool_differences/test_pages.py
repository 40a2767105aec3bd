"""The Rosetta pages: each mean as `evaluate --preset` prints it, and who changes places."""

import io
import json
import re
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from celery import current_app
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from evaluation.evaluations.query_values import get_mean, get_query_values
from evaluation.evaluations.verifying import Verified
from evaluation.models import Run, ToolValues
from evaluation.runs.services import withdraw_run
from evaluation.tool_differences import services
from evaluation.tool_differences.queries import (
    ToolFilters,
    get_list_tool_orders,
    get_run_tool_values,
)
from evaluation.tool_differences.services import compute_tool_values
from evaluation.tool_differences.tool_values import list_tool_values, run_file
from evaluation.tool_differences.verifying import verify_tool_values
from judgments.lists.queries import get_qrels
from judgments.lists.services import release_version
from judgments.models import JudgmentList
from tests.builders import NOW, World, commit, make_access, make_list, make_world
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run
from touchstone.files.trec import read_qrels
from touchstone.measures.asking import ask
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import NDCG_PRESETS
from touchstone.measures.tool_differences import preset_means
from touchstone.measures.tool_rules import printed
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db

RUN = (
    "q4 Q0 d1 1 2 t\nq2 Q0 d2 1 1 t\nq2 Q0 d1 2 1 t\nq1 Q0 d3 1 16777217 t\n"
    "q1 Q0 d1 2 16777216 t\nq1 Q0 d5 3 3 t\nq1 Q0 d2 4 3 t\nq2 Q0 d4 3 0.5 t\nq5 Q0 d2 1 1 t\n"
)


@pytest.fixture(autouse=True)
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What a worker was told to compute."""
    cache.clear()
    sent: list[tuple[object, ...]] = []

    def send(name: str, args: tuple[object, ...], **_: object) -> None:
        if name == services.TASK:
            sent.append(tuple(args))

    monkeypatch.setattr(current_app, "send_task", send)
    return sent


@pytest.fixture
def world() -> World:
    return make_world(queries=6)


@pytest.fixture
def wide(world: World) -> JudgmentList:
    """A list with grades below 0, on which q3 has no answer and q4 no judgment."""
    found = make_list(collection=world.collection, slug="wide", scale=Scale.parse("-2..4"))
    q1, q2, q3, _, q5, q6 = world.queries
    d1, d2, d3, d4, _ = world.documents
    grades = {(q1, d1): 2, (q1, d2): 4, (q1, d3): -1, (q2, d1): 1, (q2, d4): 3}
    commit(
        judgment_list=found, grades=grades | {(q3, d1): 3, (q5, d2): 0, (q6, d1): -2, (q6, d2): 1}
    )
    found.refresh_from_db()
    return found


@pytest.fixture
def run(world: World) -> Run:
    return make_run(collection=world.collection, text=RUN)


def compute(judgment_list: JudgmentList, version: int = 1, k: int = 10, run: Run | None = None):
    """What the worker does; how many runs it computed."""
    asked = {"list_id": judgment_list.pk, "version": version, "cutoff": k}
    return compute_tool_values(**asked, run_id=run.pk if run else 0, clock=lambda: NOW)


def values_of(run: Run, judgment_list: JudgmentList, version: int = 1, k: int = 10):
    """What each preset says of a run, once the worker has been there."""
    compute(judgment_list, version, k, run)
    found = list_tool_values(runs=[run], judgment_list=judgment_list, version=version, cutoff=k)
    return found[run.pk]


def get(world: World, run: Run, query: str = ""):
    return signed_in(world.dora).get(reverse("run-rosetta", args=["books", run.public_id]) + query)


def get_list_page(world: World, query: str = "", slug: str = "wide", **more: str):
    url = reverse("list-rosetta", args=["books", slug])
    return signed_in(world.dora).get(url + query, headers=more)


def evaluated(folder: Path, qrels: bytes, text: str, preset: str, k: int) -> float | None:
    """What the command says of the exported grades and the run's file."""
    (folder / "some.qrels").write_bytes(qrels)
    (folder / "some.run").write_text(text)
    out = io.StringIO()
    words = ["--qrels", str(folder / "some.qrels"), "--run", str(folder / "some.run")]
    asked = ["--measures", f"nDCG@{k}", "--preset", preset, "--format", "json"]
    call_command("evaluate", *words, *asked, stdout=out)
    return json.loads(out.getvalue())["runs"]["some.run"]["measures"][f"nDCG@{k}"]["mean"]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_each_mean_is_what_evaluate_prints_to_the_last_bit(
    world: World, wide: JudgmentList, run: Run, tmp_path: Path, k: int
) -> None:
    spoken = values_of(run, wide, k=k)
    qrels = get_qrels(judgment_list=wide, number=1)
    assert [one.preset for one in spoken] == list(NDCG_PRESETS)
    for one in spoken:
        if not one.problem:
            assert one.mean == evaluated(tmp_path, qrels, RUN, one.preset, k), one.preset
    assert [one.preset for one in spoken if one.problem] == ["letor4_eval"]


@pytest.mark.data
def test_the_nasty_run_keeps_every_bit_through_the_database(
    world: World, data_dir: Path, tmp_path: Path
) -> None:
    nasty = data_dir / "reference" / "nasty"
    found = make_list(collection=world.collection, slug="nasty", scale=Scale.parse("-2..4"))
    qrels = str(nasty / "nasty.qrels")
    call_command("import_qrels", "books/nasty", qrels, "--create", stdout=io.StringIO())
    text = (nasty / "nasty.run").read_text()
    run = make_run(collection=world.collection, text=text, create=True)
    exported = get_qrels(judgment_list=found, number=1)
    for one in values_of(run, found):
        if not one.problem:
            assert one.mean == evaluated(tmp_path, exported, text, one.preset, 10), one.preset


def test_the_page_shows_every_preset_the_highest_first(
    world: World, wide: JudgmentList, run: Run
) -> None:
    compute(wide)
    page = get(world, run, "?list=wide&version=1")
    shown = re.findall(r'data-dialect="(\w+)"', page.content.decode())
    assert page.status_code == 200
    assert sorted(shown) == sorted(NDCG_PRESETS)
    found = get_run_tool_values(
        access=make_access(collection=world.collection, username="dora"),
        public_id=run.public_id,
        filters=ToolFilters(list_slug="wide"),
    )
    means = [row.mean for row in found.dialects if row.mean is not None]
    assert means == sorted(means, reverse=True)
    assert found.dialects[-1].mean is None
    assert found.mean is not None
    assert all(
        row.difference == row.mean - found.mean for row in found.dialects if row.mean is not None
    )


def test_the_lists_own_number_is_the_one_of_the_runs_page(
    world: World, wide: JudgmentList, run: Run
) -> None:
    compute(wide, k=3)
    page = get(world, run, "?list=wide&k=3")
    own = next(link for link in links_of(page, "/runs/") if "measure=nDCG%403" in link)
    stats = text_of(signed_in(world.dora).get(own))
    value = re.search(r"nDCG@3 of this list (0\.\d{4})", text_of(page))
    assert value
    assert f"nDCG@3 {value[1]}" in stats


def test_what_can_not_be_exact_says_so(world: World, wide: JudgmentList, run: Run) -> None:
    compute(wide)
    text = text_of(get(world, run, "?list=wide"))
    assert "orders ties at random" in text
    assert "second-hand sources" in text
    assert "Can’t read this list" in text


def test_every_definition_leads_to_what_it_means(
    world: World, wide: JudgmentList, run: Run
) -> None:
    browser = signed_in(world.dora)
    compute(wide)
    page = get(world, run, "?list=wide")
    links = links_of(page, "/measures?measure=")
    assert len(links) == len(NDCG_PRESETS)
    answers = {link: browser.get(link).status_code for link in links}
    assert set(answers.values()) == {200}, answers


def test_presets_that_read_the_stored_order_lead_to_their_queries(
    world: World, wide: JudgmentList, run: Run
) -> None:
    compute(wide)
    page = get(world, run, "?list=wide")
    links = set(links_of(page, f"/runs/{run.public_id}?list=wide&version=1&measure"))
    assert len(links) >= 3
    browser = signed_in(world.dora)
    assert {browser.get(link).status_code for link in links} == {200}


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "ten", "99999", "9999999999", "١٠"])
def test_a_cutoff_that_is_none_is_refused_and_the_usual_page_shown(
    world: World, wide: JudgmentList, run: Run, k: str
) -> None:
    for page in (get(world, run, f"?k={k}"), get_list_page(world, f"?k={k}")):
        assert page.status_code == 400
        assert "Can’t show this" in text_of(page)


def test_a_list_or_version_that_is_not_there_is_not_found(
    world: World, wide: JudgmentList, run: Run
) -> None:
    assert get(world, run, "?list=nope").status_code == 404
    assert get(world, run, "?list=wide&version=9").status_code == 404
    assert get_list_page(world, "?version=9").status_code == 404
    assert get_list_page(world, slug="nope").status_code == 404


def test_a_list_without_judgments_says_so(world: World, run: Run) -> None:
    assert "No judgments" in text_of(get(world, run))
    assert "No judgments" in text_of(get_list_page(world, slug="main"))


def test_a_version_that_took_everything_back_says_so(
    world: World, wide: JudgmentList, run: Run
) -> None:
    q1, d1 = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): 3})
    commit(judgment_list=world.judgments, grades={(q1, d1): None})
    assert "No judgments" in text_of(get(world, run, "?list=main"))
    assert "No judgments" in text_of(get_list_page(world, slug="main"))


def test_a_list_without_runs_says_so(world: World, wide: JudgmentList) -> None:
    assert "No runs yet" in text_of(get_list_page(world))


def test_grades_count_what_they_are_worth_as_on_every_other_page(world: World, run: Run) -> None:
    own = make_list(collection=world.collection, slug="real", scale=Scale.parse("0,0.5,0.9"))
    query, (first, second, *_) = world.queries[0], world.documents
    commit(judgment_list=own, grades={(query, first): 2, (query, second): 1})
    compute(own)
    assert "uses their codes" in text_of(get(world, run, "?list=real"))
    spoken = values_of(run, own, k=3)
    compared = 0
    for one in spoken:
        asked = ask(f"{one.preset}:nDCG@3")
        if one.problem:
            continue
        found = get_query_values(run=run, judgment_list=own, version=1, measure=asked.measure)
        mean = get_mean(found=found, judgment_list=own, version=1, measure=asked.measure)
        assert mean.value is not None, one.preset
        tool = NDCG_PRESETS[one.preset]
        assert one.mean == float(printed(tool, np.array([mean.value]))[0]), one.preset
        compared += 1
    assert compared > 15
    by_codes = JudgedQueries(
        read_qrels(io.BytesIO(get_qrels(judgment_list=own, number=1)), name="")
    )
    plain = {one.preset: one.mean for one in preset_means(by_codes, run_file(run), 3)}
    assert plain["trec_eval"] != next(one.mean for one in spoken if one.preset == "trec_eval")


def test_an_old_version_keeps_its_numbers(world: World, wide: JudgmentList, run: Run) -> None:
    before = values_of(run, wide)
    commit(judgment_list=wide, grades={(world.queries[0], world.documents[4]): 4})
    assert values_of(run, wide) == before
    assert values_of(run, wide, version=2) != before


@pytest.fixture
def rivals(world: World, wide: JudgmentList) -> tuple[Run, Run]:
    """One answers every judged query a little, the other one query well."""
    all_qids = [query.qid for query in world.queries]
    steady = make_run(
        collection=world.collection,
        ranker="steady",
        rankings={qid: ["d5", "d3", "d1"] for qid in all_qids},
    )
    brilliant = make_run(collection=world.collection, ranker="brilliant", rankings={"q1": ["d2"]})
    return steady, brilliant


def test_the_pair_whose_order_depends_on_the_dialect_is_named(
    world: World, wide: JudgmentList, rivals: tuple[Run, Run]
) -> None:
    compute(wide)
    page = get_list_tool_orders(
        access=make_access(collection=world.collection), slug="wide", filters=ToolFilters()
    )
    (pair,) = page.pairs
    by_name = {pair.runs[0].ranker: pair.for_first, pair.runs[1].ranker: pair.for_second}
    assert "trec_eval" in by_name["brilliant"]  # counts the answered query alone
    assert "trec_eval_c" in by_name["steady"]  # counts 0 for what is not answered
    assert len(page.orders) > 1
    assert page.orders[0].is_own
    text = text_of(get_list_page(world))
    assert "Pairs whose order depends on the dialect" in text


def test_a_withdrawn_run_has_no_place(
    world: World, wide: JudgmentList, rivals: tuple[Run, Run]
) -> None:
    compute(wide)
    access = make_access(collection=world.collection)
    withdraw_run(access=access, run=rivals[0], at=NOW)
    page = get_list_tool_orders(access=access, slug="wide", filters=ToolFilters())
    assert [run.ranker_name for run in page.runs] == ["brilliant"]


def test_an_open_page_shows_what_is_there_and_asks_on_until_all_runs_are(
    world: World, wide: JudgmentList, rivals: tuple[Run, Run], messages: list[tuple[object, ...]]
) -> None:
    first = get_list_page(world)
    assert "2 runs to go" in text_of(first)
    assert 'hx-trigger="load' in first.content.decode()
    assert messages == [(wide.pk, 1, 10, 0)]
    compute(wide, run=rivals[0])
    part = get_list_page(world, **{"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "1 run to go" in text_of(part)
    assert len(messages) == 1, "a page that polls wakes no second worker"
    assert compute(wide) == 1
    rest = get_list_page(world, **{"HX-Request": "true"})
    assert "to go" not in text_of(rest)
    assert "hx-get" not in rest.content.decode()
    assert "brilliant" in text_of(rest)
    assert "steady" in text_of(rest)
    assert len(messages) == 1


def test_a_runs_page_asks_on_until_its_values_are_there(
    world: World, wide: JudgmentList, run: Run, messages: list[tuple[object, ...]]
) -> None:
    page = get(world, run, "?list=wide&k=3")
    assert 'hx-trigger="load' in page.content.decode()
    assert messages == [(wide.pk, 1, 3, run.pk)]
    compute(wide, k=3, run=run)
    page = get(world, run, "?list=wide&k=3")
    assert "hx-get" not in page.content.decode()
    assert len(messages) == 1


def test_a_run_that_comes_later_wakes_a_worker_at_once(
    world: World, wide: JudgmentList, rivals: tuple[Run, Run], messages: list[tuple[object, ...]]
) -> None:
    get_list_page(world)
    compute(wide)
    make_run(collection=world.collection, ranker="late", rankings={"q1": ["d1"]})
    assert "1 run to go" in text_of(get_list_page(world))
    assert len(messages) == 2


def test_all_of_many_runs_are_there_and_no_ranking_is_read_again(
    world: World, wide: JudgmentList, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(420):
        make_run(
            collection=world.collection,
            text=f"q1 Q0 d1 1 {number + 1} t\nq1 Q0 d2 2 0 t\n",
            name=f"run-{number}",
        )
    assert compute(wide) == 420
    monkeypatch.setattr(services, "run_file", None)
    assert compute(wide) == 0
    page = get_list_page(world).context["page"]
    assert (len(page.runs), page.computing) == (420, 0)


@pytest.mark.usefixtures("rivals")
def test_a_run_that_can_not_be_computed_holds_up_no_other(
    world: World,
    wide: JudgmentList,
    messages: list[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    get_list_page(world)

    def read(run: Run):
        if run.ranker.slug == "steady":
            raise ValueError("broken")
        return run_file(run)

    monkeypatch.setattr(services, "run_file", read)
    assert compute(wide) == 1
    assert str(Run.objects.get(ranker__slug="steady").public_id) in caplog.text
    assert "1 run to go" in text_of(get_list_page(world))
    assert len(messages) == 1, "an open page does not have it tried again and again"


def test_two_workers_at_the_same_run_leave_one_row(
    world: World, wide: JudgmentList, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(one: Run):
        monkeypatch.undo()
        assert compute(wide) == 1  # the other one was faster
        return run_file(one)

    monkeypatch.setattr(services, "run_file", read)
    compute(wide)
    assert ToolValues.objects.count() == 1


def test_what_was_computed_long_ago_goes_unless_somebody_may_cite_it(
    world: World, wide: JudgmentList, run: Run
) -> None:
    for number in (2, 3, 4):
        commit(judgment_list=wide, grades={(world.queries[0], world.documents[4]): number})
    ada = make_access(collection=world.collection)
    release_version(access=ada, at=NOW, judgment_list=wide, number=2, name="paper")
    for number in (1, 2, 3, 4):
        compute(wide, number)
    commit(judgment_list=wide, grades={(world.queries[0], world.documents[4]): 1})
    later = NOW + services.KEPT + timedelta(seconds=1)
    asked = {"list_id": wide.pk, "version": 5, "cutoff": 10, "run_id": 0}
    compute_tool_values(**asked, clock=lambda: later)
    kept = ToolValues.objects.order_by("version").values_list("version__number", flat=True)
    assert list(kept) == [2, 5]


def test_verify_names_a_value_that_was_changed(world: World, wide: JudgmentList, run: Run) -> None:
    compute(wide)
    compute(wide, k=3)
    assert verify_tool_values(judgment_list=wide) == Verified(tool_values=2)
    row = ToolValues.objects.get(cutoff=3)
    row.delete()
    row.means[0][1] = 0.123
    ToolValues.objects.create(
        run=run, version=row.version, cutoff=3, definitions=row.definitions, means=row.means,
        computed_at=NOW,
    )  # fmt: skip
    ToolValues.objects.create(
        run=run, version=row.version, cutoff=3, definitions="old", means=[], computed_at=NOW
    )
    found = verify_tool_values(judgment_list=wide)
    assert (found.tool_values, found.outdated) == (2, 1)
    (problem,) = found.problems
    assert "version 1: bm25/" in problem
    assert "nDCG@3" in problem
    commit(judgment_list=wide, grades={(world.queries[0], world.documents[4]): 1})
    wide.refresh_from_db()
    assert verify_tool_values(judgment_list=wide) == Verified()
    assert len(verify_tool_values(judgment_list=wide, every_step=True).problems) == 1


def test_the_board_and_the_run_lead_to_their_rosetta_pages(
    world: World, wide: JudgmentList, run: Run
) -> None:
    browser = signed_in(world.dora)
    board = browser.get(reverse("leaderboard", args=["books", "wide"]))
    own = browser.get(reverse("run", args=["books", run.public_id]) + "?list=wide")
    for page in (board, own):
        (link,) = links_of(page, "/rosetta")
        assert browser.get(link).status_code == 200
