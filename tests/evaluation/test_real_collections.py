"""Public collections through the door that everyone uses, to the numbers that are published."""

import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.evaluations.measure_set_services import ensure_measure_set
from evaluation.models import Evaluation, Leaderboard, Ranker, Ranking, Run
from judgments.models import Document, JudgmentList, Query
from touchstone.measures.grammar import parse_measures

pytestmark = [pytest.mark.data, pytest.mark.django_db, pytest.mark.first_pass]

EXPECTED = {
    "nDCG@10": "ndcg10_lin",
    "nDCG(gain='exp2')@10": "ndcg10_exp",
    "nDCG(gain='exp2')@5": "ndcg5_exp",
    "nDCG(unjudged='condensed')@10": "ndcg10_lin_condensed",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@20": "ndcg_cut_20",
    "nDCG": "ndcg",
    "P@5": "P_5",
    "P@10": "P_10",
    "AP": "map",
    "RR": "recip_rank",
}


@dataclass(frozen=True)
class Real:
    """A collection's files, relative to the folder of all."""

    name: str
    qrels: str
    runs: str
    expected: str
    arguments: tuple[str, ...] = ("--create",)
    texts: tuple[str, str] | None = None


REAL = (
    Real(
        "cranfield",
        "derived/qrels_0to4.txt",
        "generated-runs",
        "generated_runs.csv",
        arguments=(),
        texts=("derived/queries.tsv", "derived/docs.jsonl.gz"),
    ),
    Real(
        "chorus-ecommerce",
        "derived/qrels_final_0to3.txt",
        "generated-runs",
        "generated_runs.csv",
        arguments=(),
        texts=("derived/queries.tsv", "derived/docs.jsonl.gz"),
    ),
    Real("cast-2021", "raw/trec-cast-qrels-docs.2021.qrel.gz", "raw/runs", "runs.csv"),
    Real(
        "web-2012",
        "raw/qrels.web.151-200.txt.gz",
        "raw/runs",
        "runs.csv",
        arguments=("--create", "--scale", "-2..4"),
    ),
)


def import_all(folder: Path, real: Real, measures: str, *, every: int = 1) -> None:
    """By the commands; the measures are those that the list keeps. every: n leaves out runs, so
    that one of n is imported."""
    if real.texts is not None:
        queries, documents = (str(folder / path) for path in real.texts)
        call_command("create_collection", real.name, "--queries", queries, "--documents", documents)
    call_command("import_qrels", f"{real.name}/main", str(folder / real.qrels), *real.arguments)
    keep(real.name, measures)
    for path in sorted((folder / real.runs).iterdir())[::every]:
        extra = ("--create",) if real.texts is None else ()
        slug = slug_of(path)
        call_command("import_run", f"{real.name}/{slug}", str(path), *extra)
    call_command("reconcile")


def keep(slug: str, measures: str) -> None:
    judgment_list = JudgmentList.objects.get(collection__slug=slug)
    measure_set = ensure_measure_set(measures=[m for _, m in parse_measures(measures)])
    Leaderboard.objects.create(list=judgment_list, measure_set=measure_set)


def slug_of(path: Path) -> str:
    name = path.name.removesuffix(".gz").removesuffix(".run").removesuffix(".txt")
    return "".join(c if c.isalnum() else "-" for c in name.lower())


def leaderboard(slug: str, capsys: pytest.CaptureFixture[str], measures: str) -> dict[str, Any]:
    """{name of the run: {measure: mean}}, as the command says it."""
    capsys.readouterr()
    call_command("leaderboard", f"{slug}/main", "--measures", measures, "--json")
    found = json.loads(capsys.readouterr().out)
    return {
        run["run"]: {name: value["mean"] for name, value in run["values"].items()}
        for run in found["runs"]
    }


@pytest.mark.parametrize(
    ("real", "every"),
    [
        pytest.param(REAL[0], 1, id="cranfield"),
        *(pytest.param(real, 4, id=real.name, marks=pytest.mark.first_pass) for real in REAL[1:]),
        *(
            pytest.param(
                real, 1, id=f"{real.name}, all", marks=[pytest.mark.first_pass, pytest.mark.long]
            )
            for real in REAL[1:]
        ),
    ],
)
def test_stored_means_are_those_that_are_known_and_verify_is_content(
    data_dir: Path, real: Real, every: int, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data_dir / real.name
    import_all(folder, real, " ".join(EXPECTED), every=every)
    found = leaderboard(real.name, capsys, " ".join(EXPECTED))
    with (folder / "expected" / real.expected).open() as lines:
        rows = {row["run"]: row for row in csv.DictReader(lines)}
    assert len(found) == -(-len(rows) // every)
    assert found.keys() <= rows.keys()
    for run in found:
        row = rows[run]
        for measure, column in EXPECTED.items():
            assert found[run][measure] == pytest.approx(float(row[column]), abs=1e-6), (
                run,
                measure,
            )
    call_command("verify", "--all")


@pytest.mark.first_pass
def test_the_official_leaderboard_of_trec_covid_is_reproduced_to_four_decimals(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data_dir / "trec-covid-r1-sample" / "raw"
    qrels = str(folder / "qrels-rnd1.txt.gz")
    call_command("import_qrels", "trec-covid/main", qrels, "--create", "--scale", "0..2")
    keep("trec-covid", "nDCG@10 P@5 AP")
    for path in sorted((folder / "runs").iterdir()):
        call_command("import_run", f"trec-covid/{slug_of(path)}", str(path), "--create")
    call_command("reconcile")
    assert Evaluation.objects.count() == 17
    found = leaderboard("trec-covid", capsys, "nDCG@10 P@5 AP")
    with (folder / "leaderboard.csv").open() as lines:
        official = {row["run"]: row for row in csv.DictReader(lines)}
    assert len(found) == 17
    for run, values in found.items():
        own = official[run]
        assert [f"{values[name]:.4f}" for name in ("nDCG@10", "P@5", "AP")] == [
            own["ndcg@10"],
            own["p@5"],
            own["MAP"],
        ], run
    call_command("verify")


@pytest.mark.first_pass
def test_runs_with_a_document_twice_are_refused_with_lines_and_leave_nothing_behind(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data_dir / "clef-ehealth-2018"
    qrels = str(folder / "raw" / "CLEF2018_qrel_20180914.txt.gz")
    call_command("import_qrels", "clef/main", qrels, "--create", "--scale", "0..2")
    documents, queries = Document.objects.count(), Query.objects.count()
    refused = []
    for path in sorted((folder / "trimmed" / "runs-top100").iterdir()):
        has_duplicate = repeats_a_document(path)
        if not has_duplicate:
            continue
        with pytest.raises(SystemExit) as ended:
            call_command("import_run", f"clef/{slug_of(path)}", str(path), "--create")
        assert ended.value.code == 2
        first = capsys.readouterr().err.splitlines()[0]
        assert first.startswith(f"{path}:")
        assert ": duplicate: " in first
        refused.append(path.name)
    assert len(refused) == 7
    assert (Document.objects.count(), Query.objects.count()) == (documents, queries)
    assert not Ranker.objects.exists()
    assert not Run.objects.exists()
    assert not Ranking.objects.exists()


def repeats_a_document(path: Path) -> bool:
    """By another way than ours."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    pairs = [(words[0], words[2]) for words in map(str.split, lines) if words]
    return len(set(pairs)) < len(pairs)
