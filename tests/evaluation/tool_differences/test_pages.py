"""The Rosetta pages: each mean as `evaluate --preset` prints it, and who changes places."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from evaluation.evaluations.query_values import get_mean, get_query_values
from evaluation.models import Run
from evaluation.runs.services import withdraw_run
from evaluation.tool_differences import queries, tool_values
from evaluation.tool_differences.queries import (
    ToolFilters,
    get_list_tool_orders,
    get_run_tool_values,
)
from evaluation.tool_differences.tool_values import list_tool_values, run_file
from judgments.lists.queries import get_qrels
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
def empty_cache() -> None:
    cache.clear()


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
    spoken = list_tool_values(runs=[run], judgment_list=wide, version=1, cutoff=k)[run.pk]
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
    for one in list_tool_values(runs=[run], judgment_list=found, version=1, cutoff=10)[run.pk]:
        if not one.problem:
            assert one.mean == evaluated(tmp_path, exported, text, one.preset, 10), one.preset


def test_the_page_shows_every_preset_the_highest_first(
    world: World, wide: JudgmentList, run: Run
) -> None:
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
    page = get(world, run, "?list=wide&k=3")
    own = next(link for link in links_of(page, "/runs/") if "measure=nDCG%403" in link)
    stats = text_of(signed_in(world.dora).get(own))
    value = re.search(r"nDCG@3 of this list (0\.\d{4})", text_of(page))
    assert value
    assert f"nDCG@3 {value[1]}" in stats


def test_what_can_not_be_exact_says_so(world: World, wide: JudgmentList, run: Run) -> None:
    text = text_of(get(world, run, "?list=wide"))
    assert "orders ties at random" in text
    assert "second-hand sources" in text
    assert "Can’t read this list" in text


def test_every_definition_leads_to_what_it_means(
    world: World, wide: JudgmentList, run: Run
) -> None:
    browser = signed_in(world.dora)
    page = get(world, run, "?list=wide")
    links = links_of(page, "/measures?measure=")
    assert len(links) == len(NDCG_PRESETS)
    answers = {link: browser.get(link).status_code for link in links}
    assert set(answers.values()) == {200}, answers


def test_presets_that_read_the_stored_order_lead_to_their_queries(
    world: World, wide: JudgmentList, run: Run
) -> None:
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
    assert "uses their codes" in text_of(get(world, run, "?list=real"))
    spoken = list_tool_values(runs=[run], judgment_list=own, version=1, cutoff=3)[run.pk]
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
    before = list_tool_values(runs=[run], judgment_list=wide, version=1, cutoff=10)[run.pk]
    commit(judgment_list=wide, grades={(world.queries[0], world.documents[4]): 4})
    cache.clear()
    assert list_tool_values(runs=[run], judgment_list=wide, version=1, cutoff=10)[run.pk] == before
    assert list_tool_values(runs=[run], judgment_list=wide, version=2, cutoff=10)[run.pk] != before


def test_a_second_look_reads_no_ranking(
    world: World, wide: JudgmentList, run: Run, django_assert_num_queries
) -> None:
    list_tool_values(runs=[run], judgment_list=wide, version=1, cutoff=10)
    with django_assert_num_queries(0):
        list_tool_values(runs=[run], judgment_list=wide, version=1, cutoff=10)


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
    world: World, rivals: tuple[Run, Run]
) -> None:
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


def test_a_withdrawn_run_has_no_place(world: World, rivals: tuple[Run, Run]) -> None:
    access = make_access(collection=world.collection)
    withdraw_run(access=access, run=rivals[0], at=NOW)
    page = get_list_tool_orders(access=access, slug="wide", filters=ToolFilters())
    assert [run.ranker_name for run in page.runs] == ["brilliant"]


def test_runs_beyond_the_patience_wait_and_the_open_page_asks_on(
    world: World, rivals: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_values, "PATIENCE", 1)
    first = get_list_page(world)
    assert "1 run to go" in text_of(first)
    assert 'hx-trigger="load' in first.content.decode()
    rest = get_list_page(world, **{"HX-Request": "true"})
    assert "<html" not in rest.content.decode()
    assert "to go" not in text_of(rest)
    assert "hx-get" not in rest.content.decode()
    assert "brilliant" in text_of(rest)
    assert "steady" in text_of(rest)


def test_where_there_are_too_many_runs_the_best_are_shown(
    world: World, rivals: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = get_list_page(world).context["page"].runs
    monkeypatch.setattr(queries, "MOST_RUNS", 1)
    page = get_list_page(world)
    assert [run.ranker_name for run in page.context["page"].runs] == [every[0].ranker_name]
    assert every[0].ranker_name == "steady"  # the older one
    assert "first 1 run." in text_of(page)


def test_all_of_many_runs_are_there(world: World, rivals: tuple[Run, Run]) -> None:
    for number in range(70):
        make_run(
            collection=world.collection,
            rankings={"q1": [f"d{number % 3 + 1}"], "q2": [f"d{number // 3 + 1}"]},
            ranker=f"ranker-{number}",
            create=True,
        )
    page = get_list_page(world).context["page"]
    assert (len(page.runs), page.computing, page.left_out) == (72, 0, 0)


def test_a_query_costs_patience_whatever_a_run_says_of_it(
    world: World, rivals: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_values, "PATIENCE", sum(run.row_count for run in rivals))
    assert "1 run to go" in text_of(get_list_page(world))


def test_a_run_that_is_too_long_is_sent_to_the_command_line(
    world: World, rivals: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_values, "MOST_RANKS", 5)
    assert "too long for this page" in text_of(get(world, rivals[0], "?list=wide"))
    text = text_of(get_list_page(world))
    assert "Too long for a page" in text
    assert "to go" not in text


def test_the_board_and_the_run_lead_to_their_rosetta_pages(
    world: World, wide: JudgmentList, run: Run
) -> None:
    browser = signed_in(world.dora)
    board = browser.get(reverse("leaderboard", args=["books", "wide"]))
    own = browser.get(reverse("run", args=["books", run.public_id]) + "?list=wide")
    for page in (board, own):
        (link,) = links_of(page, "/rosetta")
        assert browser.get(link).status_code == 200


def test_the_dialects_of_more_than_300_runs_become_complete_and_are_then_not_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries
) -> None:
    first, second, *_ = world.documents
    commit(
        judgment_list=world.judgments,
        grades={(world.queries[0], first): 3, (world.queries[0], second): 1},
    )
    runs = [
        make_run(
            collection=world.collection,
            text=f"q1 Q0 d1 1 {number + 1} t\nq1 Q0 d2 2 0 t\n",
            name=f"run-{number}",
        )
        for number in range(310)
    ]
    assert len({run.pk for run in runs}) == 310
    monkeypatch.setattr(tool_values, "PATIENCE", 100 * (2 + tool_values.A_QUERY))

    def look() -> int:
        at = world.judgments
        return len(list_tool_values(runs=runs, judgment_list=at, version=1, cutoff=10))

    assert [look() for _ in range(4)] == [100, 200, 300, 310]
    with django_assert_num_queries(0):
        assert look() == 310
