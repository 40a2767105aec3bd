"""The Rosetta pages: each mean as `evaluate --preset` prints it, and who changes places."""

import io
import re

import numpy as np
import pytest
from django.urls import reverse

from evaluation.evaluations.query_values import get_mean, get_query_values
from evaluation.models import Run
from evaluation.runs.services import withdraw_run
from evaluation.tool_differences import services
from evaluation.tool_differences.queries import (
    ToolFilters,
    get_list_tool_orders,
    get_run_tool_values,
)
from evaluation.tool_differences.tool_values import run_file
from judgments.lists.queries import get_qrels
from judgments.models import JudgmentList
from tests.builders import NOW, World, commit, make_access, make_list
from tests.evaluation.browsing import links_of, signed_in, text_of
from tests.evaluation.builders import make_run
from tests.evaluation.tool_differences.worker import compute, values_of
from touchstone.files.trec import read_qrels
from touchstone.measures.asking import ask
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import NDCG_PRESETS
from touchstone.measures.tool_differences import preset_means
from touchstone.measures.tool_rules import printed
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db


def get(world: World, run: Run, query: str = ""):
    return signed_in(world.dora).get(reverse("run-rosetta", args=["books", run.public_id]) + query)


def get_list_page(world: World, query: str = "", slug: str = "wide", **more: str):
    url = reverse("list-rosetta", args=["books", slug])
    return signed_in(world.dora).get(url + query, headers=more)


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
    assert "Can’t evaluate this list" in text


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
    for number in range(60):
        make_run(
            collection=world.collection,
            text=f"q1 Q0 d1 1 {number + 1} t\nq1 Q0 d2 2 0 t\n",
            name=f"run-{number}",
        )
    assert compute(wide) == 60
    monkeypatch.setattr(services, "run_file", None)
    assert compute(wide) == 0
    page = get_list_page(world).context["page"]
    assert (len(page.runs), page.computing) == (60, 0)


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


def test_the_board_and_the_run_lead_to_their_rosetta_pages(
    world: World, wide: JudgmentList, run: Run
) -> None:
    browser = signed_in(world.dora)
    board = browser.get(reverse("leaderboard", args=["books", "wide"]))
    own = browser.get(reverse("run", args=["books", run.public_id]) + "?list=wide")
    for page in (board, own):
        (link,) = links_of(page, "/rosetta")
        assert browser.get(link).status_code == 200
