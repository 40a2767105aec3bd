"""Recorded outputs of public tools: a small one of our own, and the public collections."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.reference.record import RECORDED, THEIR_NAMES
from touchstone.files.trec import RunFile, read_qrels, read_run
from touchstone.measures.files import FileValues, evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import PRESETS, preset

VARIANTS = {
    "default": ("trec_eval", 1),
    "-c": ("trec_eval_c", 1),
    "-J": ("trec_eval_judged_only", 1),
    "-l 2": ("trec_eval", 2),
    "-c -l 3": ("trec_eval_c", 3),
}
NDCG_TOOLS = {
    "trec_eval 9.0.8": "trec_eval",
    "trec_eval 9.0.8 -c": "trec_eval_c",
    "trec_eval 9.0.8 -J": "trec_eval_judged_only",
    "trec_eval 10.0-rc3 -c": "trec_eval_10",
    "pytrec_eval-terrier": "trec_eval",
    "ir_measures nDCG@k": "trec_eval_c",
    "ir_measures nDCG(dcg='exp-log2')@k = gdeval.pl 1.2a": "gdeval",
    "ranx ndcg": "ranx_ndcg",
    "ranx ndcg_burges": "ranx_ndcg_burges",
    "LightGBM ndcg label_gain default": "lightgbm",
    "LightGBM ndcg label_gain linear": "lightgbm_linear",
    "XGBoost ndcg ndcg_exp_gain=true (default)": "xgboost_ndcg",
    "XGBoost ndcg- ndcg_exp_gain=true (default)": "xgboost_ndcg_minus",
    "XGBoost ndcg ndcg_exp_gain=false": "xgboost_ndcg_linear",
    "XGBoost ndcg- ndcg_exp_gain=false": "xgboost_ndcg_minus_linear",
    "RankLib NDCG no -qrel": "ranklib",
    "RankLib NDCG with -qrel": "ranklib_qrel",
    "MSLR eval-score-mslr.pl": "mslr_eval",
    "Quepid ndcg@k (client)": "quepid_ndcg",
    "Quepid ndcg@k (server)": "quepid_ndcg",
    "Quepid ndcg_cut@k (client)": "quepid_ndcg_cut",
    "Elasticsearch/OpenSearch rank-eval dcg normalize=true": "elasticsearch_dcg_normalize",
    "scikit-learn ndcg_score": "sklearn_ndcg_score",
    "scikit-learn ndcg_score ignore_ties": "sklearn_ndcg_score_ignore_ties",
    "OpenSearch search-relevance NDCG@k": "opensearch_search_relevance",
    "RRE NDCG@k": "rre_ndcg",
}
# NumPy's sort leaves ties in an arbitrary order: these queries have some.
ARBITRARY = {"scikit-learn ndcg_score ignore_ties": {"2", "3"}}
# The means of these are not the tool's, or depend on the order of a hash table.
OTHER_MEANS = {"pytrec_eval-terrier", "ir_measures nDCG@k"}
NO_MEAN = {
    "Elasticsearch/OpenSearch rank-eval dcg normalize=true",
    "OpenSearch search-relevance NDCG@k",
    "RRE NDCG@k",
    *ARBITRARY,
}
# In single precision. TensorFlow Ranking orders ties at random: these queries have ties.
FLOAT32_TOOLS = {
    "torchmetrics retrieval_normalized_dcg": ("torchmetrics", frozenset()),
    "TensorFlow Ranking NDCGMetric": ("tf_ranking", frozenset({"2", "3", "12"})),
}
# Known from their source or at second hand: nothing of theirs could be recorded.
NOT_RECORDED = {"letor4_eval", "yahoo_ltr"}
# A bug of the tool's, not followed, as the caveat of its preset says.
NOT_FOLLOWED = {"Quepid ndcg_cut@k (server)": "quepid_ndcg_cut"}
# Here ir_measures means something else: RR@k, its own, breaks ties by ascending id; judged_only
# takes negative grades out as well (both below); exp-log2 is gdeval (above).
ELSEWHERE = {"RR@", "nDCG(judged_only=True)", "nDCG(dcg="}
NOT_OURS = (
    "Compat"  # compatibility with an ideal: a distance between rankings, not a sum over ranks
)
# ERR is gdeval's and RBP cwl_eval's, and have tests of their own.
NOT_HERE = {NOT_OURS, "ERR", "RBP"}


def with_rel(name: str, rel: int) -> str:
    """The measure's name with a threshold, where it has one."""
    if rel == 1 or name.startswith("nDCG"):
        return name
    family, _, cutoff = name.partition("@")
    return f"{family}(rel={rel})" + (f"@{cutoff}" if cutoff else "")


def in_the_mean(found: FileValues, column: int = 0) -> dict[str, float]:
    return {
        query_id: float(found.values[row, column])
        for row, query_id in enumerate(found.query_ids)
        if found.counted[row, column]
    }


def differing(found: dict[str, float], expected: dict[str, float]) -> dict[str, Any]:
    """The cells that differ in any bit, so that a failure names them."""
    return {
        query_id: (found.get(query_id), expected.get(query_id))
        for query_id in {*found, *expected}
        if found.get(query_id) != expected.get(query_id)
    }


def read(directory: Path, qrels: str, run: str) -> tuple[JudgedQueries, RunFile]:
    return (
        JudgedQueries(read_qrels(directory / qrels, name=qrels)),
        read_run(directory / run, name=run, text_after_tag=True),
    )


@pytest.mark.parametrize("name", THEIR_NAMES)
def test_the_small_recording_is_met_to_the_last_bit(name: str) -> None:
    recorded = json.loads((RECORDED / "trec_eval.json").read_text())["per_query"][name]
    judged, run = read(RECORDED, "small.qrels", "small.run")
    found = evaluate_file(judged, run, [parse_measure(name)], preset("trec_eval"))
    assert differing(in_the_mean(found), recorded) == {}


@pytest.fixture(scope="module")
def nasty(data_dir: Path) -> tuple[JudgedQueries, RunFile]:
    return read(data_dir / "reference" / "nasty", "nasty.qrels", "nasty.run")


def recorded(data_dir: Path, name: str) -> Any:
    return json.loads((data_dir / "reference" / name).read_text())


@pytest.mark.data
@pytest.mark.parametrize("variant", VARIANTS)
def test_trec_eval_is_met_in_every_cell_and_every_mean(
    variant: str, data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    name, rel = VARIANTS[variant]
    cells = recorded(data_dir, "trec_eval_9.0.8_all_measures.json")["variants"][variant]["measures"]
    for k in (1, 3, 5, 10, 20, None):
        for ours, theirs in THEIR_NAMES.items():
            if ("@" in ours) != (k is not None):
                continue
            ours_at = ours if k is None else f"{ours.partition('@')[0]}@{k}"
            theirs_at = theirs if k is None else f"{theirs.rpartition('_')[0]}_{k}"
            measure = parse_measure(with_rel(ours_at, rel))
            found = evaluate_file(*nasty, [measure], preset(name))
            expected = cells[theirs_at]
            own = in_the_mean(found)
            if "-c" in variant:  # trec_eval prints no line for a query that is missing
                own = {q: v for q, v in own.items() if q in expected["per_query"] or v}
            assert differing(own, expected["per_query"]) == {}, (variant, theirs_at)
            assert found.means[0] == expected["mean"], (variant, theirs_at)


@pytest.mark.data
@pytest.mark.parametrize("tool", NDCG_TOOLS)
def test_a_tools_ndcg_is_met_in_every_cell(
    tool: str, data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    cells = recorded(data_dir, "ndcg_of_public_tools.json")["tools"][tool]["ndcg"]
    chosen = preset(NDCG_TOOLS[tool])
    for k, expected in cells.items():
        found = evaluate_file(*nasty, [parse_measure(f"nDCG@{k}")], chosen)
        own = in_the_mean(found)
        theirs = without_failures(expected["per_query"])
        if chosen.name == "gdeval":
            theirs = as_gdeval_printed_it(theirs)
        for query_id in ARBITRARY.get(tool, ()):
            del own[query_id], theirs[query_id]
        if tool != "ir_measures nDCG@k":
            own = {q: v for q, v in own.items() if q in theirs or v}
        assert differing(own, theirs) == {}, (tool, k)
        if tool not in NO_MEAN:
            assert found.means[0] == mean_of(tool, expected["mean"], theirs), (tool, k)


def mean_of(tool: str, mean: float | None, cells: dict[str, float]) -> object:
    """What our mean is to be: the tool's, to the last bit where it is the tool's own."""
    if NDCG_TOOLS[tool] == "gdeval":
        return pytest.approx(sum(cells.values()) / len(cells), abs=1e-5)
    return pytest.approx(mean, abs=1e-15) if tool in OTHER_MEANS else mean


@pytest.mark.data
@pytest.mark.parametrize("tool", FLOAT32_TOOLS)
def test_a_tool_of_single_precision_is_met_to_six_decimals(
    tool: str, data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    name, with_ties = FLOAT32_TOOLS[tool]
    for k, expected in recorded(data_dir, "ndcg_of_public_tools.json")["tools"][tool][
        "ndcg"
    ].items():
        found = evaluate_file(*nasty, [parse_measure(f"nDCG@{k}")], preset(name))
        own = in_the_mean(found)
        assert set(own) == set(expected["per_query"]), (tool, k)
        for query_id, cell in expected["per_query"].items():
            if query_id not in with_ties:
                (theirs,) = cell if isinstance(cell, list) else [cell]
                assert own[query_id] == pytest.approx(theirs, abs=2e-7), (tool, k, query_id)
        if not with_ties:
            assert found.means[0] == pytest.approx(expected["mean"], abs=2e-7), (tool, k)


def without_failures(cells: dict[str, Any]) -> dict[str, float]:
    """Without the queries that the tool refused, or failed at."""
    return {query_id: v for query_id, v in cells.items() if not isinstance(v, str)}


def as_gdeval_printed_it(recorded_by_ir_measures: dict[str, float]) -> dict[str, float]:
    """Without what ir_measures adds (0 for every query left out) and with the id that it lost."""
    lost = {**recorded_by_ir_measures, "ünï-15": recorded_by_ir_measures["15"]}
    return {q: v for q, v in lost.items() if q not in {"6", "7", "8", "15", "16"}}


def test_every_preset_is_proved_by_a_recording_or_says_why_not() -> None:
    named = {name for name, _ in (*VARIANTS.values(), *FLOAT32_TOOLS.values())} | {"ir_measures"}
    assert {*NDCG_TOOLS.values(), *named} == set(PRESETS) - NOT_RECORDED
    for name in NOT_RECORDED:
        caveat = PRESETS[name].caveat
        assert caveat.startswith(("Reimplemented from its source", "From second-hand sources only"))


@pytest.mark.data
def test_ir_measures_is_met_in_every_cell(
    data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    met = 0
    for name, expected in recorded(data_dir, "ir_measures_0.4.3.json")["measures"].items():
        family = name.partition("@")[0].partition("(")[0]
        if family in NOT_HERE or any(name.startswith(start) for start in ELSEWHERE):
            continue
        chosen = preset("ir_measures") if family == "Judged" else None
        found = evaluate_file(*nasty, [parse_measure(name)], chosen)
        assert differing(in_the_mean(found), expected["per_query"]) == {}, name
        assert found.means[0] == pytest.approx(expected["mean"], abs=1e-15), name
        met += 1
    assert met == 46


@pytest.mark.data
@pytest.mark.parametrize("k", [1, 3, 5, 10, 20])
def test_the_reciprocal_rank_of_ir_measures_is_met_in_its_own_order_of_ties(
    k: int, data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    cells = recorded(data_dir, "ir_measures_0.4.3.json")["measures"][f"RR@{k}"]
    found = evaluate_file(*nasty, [parse_measure(f"RR(ties='docid_asc',scores='float64')@{k}")])
    assert differing(in_the_mean(found), cells["per_query"]) == {}, k
    assert found.means[0] == pytest.approx(cells["mean"], abs=1e-15)


@pytest.mark.data
def test_whatever_was_recorded_is_met_or_said_not_to_be(data_dir: Path) -> None:
    cells = recorded(data_dir, "ir_measures_0.4.3.json")["measures"]
    computed = {name for name, cell in cells.items() if "error" not in cell}
    met = {name for name in computed if name.startswith(("ERR", "RBP", *ELSEWHERE))}
    plain = {name for name in computed - met if not name.startswith(NOT_OURS)}
    assert len(plain) == 46
    assert computed - met - plain == {"Compat(p=0.95)"}
    tools = set(recorded(data_dir, "ndcg_of_public_tools.json")["tools"])
    assert tools == {*NDCG_TOOLS, *FLOAT32_TOOLS, *NOT_FOLLOWED}
    for preset_name in NOT_FOLLOWED.values():
        assert "not reproduced" in PRESETS[preset_name].caveat
    trec_eval = recorded(data_dir, "trec_eval_9.0.8_all_measures.json")["variants"]
    assert set(trec_eval) == set(VARIANTS)
    theirs = {
        name.rpartition("_")[0] if "@" in ours else name for ours, name in THEIR_NAMES.items()
    }
    for variant in trec_eval.values():
        named = {name for name in variant["measures"] if not name.startswith("num_")}
        assert {n for n in named if n not in theirs and n.rpartition("_")[0] not in theirs} == set()


@pytest.mark.data
@pytest.mark.parametrize("k", [1, 3, 5, 10, 20])
def test_gdevals_err_is_met_in_every_cell(
    k: int, data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    cells = recorded(data_dir, "ir_measures_0.4.3.json")["measures"][f"ERR@{k}"]["per_query"]
    found = evaluate_file(*nasty, [parse_measure(f"ERR@{k}")], preset("gdeval"))
    assert differing(in_the_mean(found), as_gdeval_printed_it(cells)) == {}


@pytest.mark.data
@pytest.mark.parametrize("name", ["RBP(p=0.8,rel=1)", "RBP(p=0.8,rel=2)", "RBP(p=0.95,rel=1)"])
def test_cwl_evals_rbp_is_met_but_for_the_weight_that_it_spreads_over_a_finite_list(
    name: str, data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    # It divides its weights by their sum over a thousand ranks, which is not 1 in the last bits.
    cells = recorded(data_dir, "ir_measures_0.4.3.json")["measures"][name]
    in_its_order = parse_measure(name.replace(")", ",ties='listed',scores='float64')"))
    own = in_the_mean(evaluate_file(*nasty, [in_its_order]))
    assert own == pytest.approx(cells["per_query"], abs=1e-15)


@pytest.mark.data
def test_ir_measures_leaves_negative_grades_out_when_it_takes_the_unjudged_out(
    data_dir: Path, nasty: tuple[JudgedQueries, RunFile]
) -> None:
    cells = recorded(data_dir, "ir_measures_0.4.3.json")["measures"]
    for k in (1, 3, 5, 10, 20):
        name = f"nDCG(unjudged='condensed',negatives='unjudged')@{k}"
        found = evaluate_file(*nasty, [parse_measure(name)])
        expected = cells[f"nDCG(judged_only=True)@{k}"]["per_query"]
        assert differing(in_the_mean(found), expected) == {}, k


@pytest.mark.data
def test_the_official_scores_of_seventeen_runs_are_met_to_four_decimals(data_dir: Path) -> None:
    raw = data_dir / "trec-covid-r1-sample" / "raw"
    judged = JudgedQueries(read_qrels(raw / "qrels-rnd1.txt.gz", name="qrels"))
    with (raw / "leaderboard.csv").open(newline="") as file:
        official = {row["run"]: row for row in csv.DictReader(file)}
    paths = sorted((raw / "runs").glob("*.gz"))
    assert len(paths) == 17
    measures = [parse_measure(name) for name in ("nDCG@10", "P@5", "AP")]
    for path in paths:
        name = path.name.removesuffix(".gz")
        found = evaluate_file(judged, read_run(path, name=name), measures)
        shown = [f"{mean:.4f}" for mean in found.means if mean is not None]
        theirs = official[name]
        assert shown == [theirs["ndcg@10"], theirs["p@5"], theirs["MAP"]], name
