"""What every tool would say, stored: to the last bit, once, by whichever worker comes first."""

import io
import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluation.evaluations.verifying import Verified
from evaluation.models import Run, ToolValues
from evaluation.tool_differences import services
from evaluation.tool_differences.services import compute_tool_values
from evaluation.tool_differences.tool_values import run_file
from evaluation.tool_differences.verifying import verify_tool_values
from judgments.lists.queries import get_qrels
from judgments.lists.services import release_version
from judgments.models import JudgmentList
from tests.builders import NOW, World, commit, make_access, make_list
from tests.evaluation.builders import make_run
from tests.evaluation.tool_differences.worker import RUN, compute, values_of
from touchstone.measures.presets import NDCG_PRESETS
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db


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


def test_an_old_version_keeps_its_numbers(world: World, wide: JudgmentList, run: Run) -> None:
    before = values_of(run, wide)
    commit(judgment_list=wide, grades={(world.queries[0], world.documents[4]): 4})
    assert values_of(run, wide) == before
    assert values_of(run, wide, version=2) != before


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
