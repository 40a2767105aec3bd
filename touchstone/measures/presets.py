"""What public tools mean by the names they print: one entry a preset, nothing but data.

A preset sets parameters of the measures that it is applied to, and says how the tool rounds and
takes its mean; `tool_rules` does so. To add or change one, edit its entry, record what the tool
prints (tests/reference), and write docs/measures.md again. Every preset whose tool could be run is
held against what it printed, to the last bit; where that could not be done, its caveat says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from touchstone.measures.definition import gain_table
from touchstone.measures.errors import MeasureError

# Not measures of most of these tools, but welcome beside any number.
ABOUT_JUDGMENTS: Final = frozenset({"Judged", "Unjudged"})
JUST_NDCG: Final = ABOUT_JUDGMENTS | {"nDCG"}
TREC_EVAL_FAMILIES: Final = JUST_NDCG | {
    "RR",
    "AP",
    "P",
    "R",
    "Rprec",
    "SetP",
    "SetR",
    "SetF",
    "Hit",
    "Bpref",
    "infAP",
}


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How one tool evaluates.

    tool: whose rules these are, for people. reading: what sets it apart, in plain words.
    parameters: set on every measure of a family that has them.
    of_family: what is set on the measures of one family besides.
    families: what the tool computes; other measures are refused.
    cutoff: the tool's own, where none is asked for.
    decimals: digits behind the point that the tool prints, of a query's value and of the mean.
    mean: how the tool adds the queries' values up: one after the other "by query id" (its bytes) or
        as the "run" has them; or "pairwise", as numpy does, by query id.
    caveat: where the tool itself can't be followed further.
    """

    name: str
    tool: str
    reading: str
    parameters: Mapping[str, object]
    of_family: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    families: frozenset[str] = JUST_NDCG
    cutoff: int | None = None
    decimals: int | None = None
    mean: Literal["by query id", "run", "pairwise"] = "by query id"
    caveat: str = ""


# What groups of tools have in common.
TREC_EVAL: Final[Mapping[str, object]] = {"scores": "float32", "ties": "docid"}
# Tools that are given arrays: documents as listed, the ideal from what was returned.
LEARNING_TO_RANK: Final[Mapping[str, object]] = {
    "gain": "exp2",
    "ideal": "recall",
    "ties": "listed",
    "scores": "float64",
    "queries": "returned",
}
XGBOOST: Final = {**LEARNING_TO_RANK, "scores": "float32", "arithmetic": "multiply_each"}
RANKLIB: Final = {**LEARNING_TO_RANK, "discount": "ln/ln2", "arithmetic": "multiply_divide"}
SKLEARN: Final = {
    **LEARNING_TO_RANK,
    "gain": "linear",
    "queries": "several",
    "discount": "ln/ln2",
    "arithmetic": "cumulative",
}
# Tools of search teams: rated documents, negative ratings and all.
RATED: Final[Mapping[str, object]] = {
    "gain": "exp2",
    "negatives": "raw",
    "ties": "listed",
    "scores": "float64",
    "queries": "all",
}

ARRAYS_CAVEAT: Final = "The tool takes arrays and rejects negative grades; here they gain nothing."
XGBOOST_CAVEAT: Final = (
    f"{ARRAYS_CAVEAT} It rejects P and AP of labels other than 0 and 1; here 1 and up are relevant."
)
PRECISION_CAVEAT: Final = "P and AP were not compared with the tool's output."
RANX_CAVEAT: Final = (
    "In rankings of 16 or more documents ranx sorts ties arbitrarily; here they stay in file order."
)
PORT_CAVEAT: Final = "Reimplemented from its source: the server was not run."

PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset(
            name="trec_eval",
            tool="trec_eval 9 and pytrec_eval, without -c",
            reading="only judged queries that the run answers are in the mean",
            parameters={**TREC_EVAL, "queries": "returned"},
            of_family={"Unjudged": {"queries": "returned"}},  # its unj_k
            families=TREC_EVAL_FAMILIES,
        ),
        Preset(
            name="trec_eval_c",
            tool="trec_eval 9 with -c, ir_measures, Pyserini for BEIR",
            reading="all judged queries are in the mean; one that the run does not answer counts 0",
            parameters={**TREC_EVAL, "queries": "judged"},
            of_family={"Unjudged": {"queries": "judged"}},
            families=TREC_EVAL_FAMILIES,
        ),
        Preset(
            name="trec_eval_10",
            tool="trec_eval 10 with -c",
            reading="as trec_eval_c, but scores are compared in double precision",
            parameters={**TREC_EVAL, "scores": "float64", "queries": "judged"},
            of_family={"Unjudged": {"queries": "judged"}},
            families=TREC_EVAL_FAMILIES,
        ),
        Preset(
            name="trec_eval_judged_only",
            tool="trec_eval 9 with -J",
            reading="unjudged documents (and negative grades) are removed from the ranking",
            parameters={
                **TREC_EVAL,
                "queries": "returned",
                "unjudged": "condensed",
                "negatives": "unjudged",
            },
            of_family={"Unjudged": {"queries": "returned"}},
            families=TREC_EVAL_FAMILIES,
        ),
        Preset(
            name="gdeval",
            tool="gdeval.pl 1.2",
            reading="exponential gain, the top grade always 4; queries without a relevant "
            "document are left out; 5 decimals",
            parameters={
                "gain": "exp2",
                "discount": "ln",
                "empty": "skip",
                "queries": "relevant",
                "scores": "float64",
                "ties": "docid",
            },
            of_family={"ERR": {"top": 4.0}},
            families=JUST_NDCG | {"ERR"},
            decimals=5,
        ),
        Preset(
            name="ranx_ndcg",
            tool="ranx ndcg",
            reading="as trec_eval_10, but ties stay in file order",
            parameters={"scores": "float64", "ties": "listed", "queries": "judged"},
            mean="pairwise",
            caveat=RANX_CAVEAT,
        ),
        Preset(
            name="ranx_ndcg_burges",
            tool="ranx ndcg_burges",
            reading="as ranx_ndcg, with exponential gain",
            parameters={
                "gain": "exp2",
                "scores": "float64",
                "ties": "listed",
                "queries": "judged",
            },
            mean="pairwise",
            caveat=RANX_CAVEAT,
        ),
        Preset(
            name="lightgbm",
            tool="LightGBM ndcg",
            reading="exponential gain; ideal from what was returned; a query without gain counts 1",
            parameters={**LEARNING_TO_RANK, "empty": 1.0, "arithmetic": "multiply"},
            mean="run",
            caveat=ARRAYS_CAVEAT,
        ),
        Preset(
            name="lightgbm_linear",
            tool="LightGBM ndcg with label_gain 0, 1, 2, …",
            reading="as lightgbm, with linear gain",
            parameters={
                **LEARNING_TO_RANK,
                "gain": "linear",
                "empty": 1.0,
                "arithmetic": "multiply",
            },
            mean="run",
            caveat=ARRAYS_CAVEAT,
        ),
        Preset(
            name="xgboost_ndcg",
            tool="XGBoost ndcg",
            reading="exponential gain; ideal from what was returned; a query without gain counts "
            "1; cut at 32 where no cutoff is given",
            parameters={**XGBOOST, "empty": 1.0},
            of_family={
                "P": {"denominator": "returned"},
                "AP": {"denominator": "returned_cutoff"},
            },
            families=JUST_NDCG | {"P", "AP"},
            cutoff=32,
            mean="run",
            caveat=XGBOOST_CAVEAT,
        ),
        Preset(
            name="xgboost_ndcg_minus",
            tool="XGBoost ndcg-",
            reading="exponential gain; ideal from what was returned; a query without gain counts "
            "0; cut at 32 where no cutoff is given",
            parameters={**XGBOOST, "empty": 0.0},
            of_family={
                "P": {"denominator": "returned"},
                "AP": {"denominator": "returned_cutoff"},
            },
            families=JUST_NDCG | {"P", "AP"},
            cutoff=32,
            mean="run",
            caveat=XGBOOST_CAVEAT,
        ),
        Preset(
            name="xgboost_ndcg_linear",
            tool="XGBoost ndcg with ndcg_exp_gain=false",
            reading="linear gain; ideal from what was returned; a query without gain counts 1; "
            "cut at 32 where no cutoff is given",
            parameters={**XGBOOST, "gain": "linear", "empty": 1.0},
            cutoff=32,
            mean="run",
            caveat=ARRAYS_CAVEAT,
        ),
        Preset(
            name="xgboost_ndcg_minus_linear",
            tool="XGBoost ndcg- with ndcg_exp_gain=false",
            reading="linear gain; ideal from what was returned; a query without gain counts 0; "
            "cut at 32 where no cutoff is given",
            parameters={**XGBOOST, "gain": "linear", "empty": 0.0},
            cutoff=32,
            mean="run",
            caveat=ARRAYS_CAVEAT,
        ),
        Preset(
            name="ranklib",
            tool="RankLib NDCG without -qrel",
            reading="exponential gain; ideal from all returned documents; cut at 10 where no "
            "cutoff is given",
            parameters=RANKLIB,
            of_family={
                "P": {"denominator": "returned"},
                "AP": {"denominator": "returned", "cutoff": None},  # it takes no notice of k
            },
            families=JUST_NDCG | {"P", "AP"},
            cutoff=10,
            mean="run",
            caveat=f"{ARRAYS_CAVEAT} {PRECISION_CAVEAT}",
        ),
        Preset(
            name="ranklib_qrel",
            tool="RankLib NDCG with -qrel",
            reading="exponential gain; ideal from all judged documents; cut at 10 where no "
            "cutoff is given",
            parameters={**RANKLIB, "ideal": "global"},
            of_family={
                "P": {"denominator": "returned"},
                "AP": {"denominator": "relevant", "cutoff": None},  # it takes no notice of k
            },
            families=JUST_NDCG | {"P", "AP"},
            cutoff=10,
            mean="run",
            caveat=f"{ARRAYS_CAVEAT} {PRECISION_CAVEAT}",
        ),
        Preset(
            name="mslr_eval",
            tool="Microsoft's eval-score-mslr.pl",
            reading="exponential gain; no discount at ranks 1 and 2; a list shorter than the "
            "cutoff counts 0; P and AP call grade 2 and up relevant",
            parameters={**LEARNING_TO_RANK, "discount": "burn-in", "b": 2.0, "short": "zero"},
            of_family={
                "P": {"rel": 2.0, "denominator": "k"},
                "AP": {"rel": 2.0, "denominator": "returned", "cutoff": None},
            },
            families=JUST_NDCG | {"P", "AP"},
            mean="run",
            caveat=ARRAYS_CAVEAT,
        ),
        Preset(
            name="letor4_eval",
            tool="the evaluation script of LETOR 4.0",
            reading="gain 0, 1 and 3 for the grades 0, 1 and 2; no discount at ranks 1 and 2",
            parameters={
                **LEARNING_TO_RANK,
                "gain": gain_table({0: 0, 1: 1, 2: 3}),
                "discount": "burn-in",
                "b": 2.0,
            },
            mean="run",
            caveat="Reimplemented from its source: the script was not run. It supports only the "
            "grades 0, 1 and 2.",
        ),
        Preset(
            name="yahoo_ltr",
            tool="the Yahoo! Learning to Rank Challenge",
            reading="exponential gain; ideal from what was returned; a query without gain counts "
            "0.5",
            parameters={**LEARNING_TO_RANK, "empty": 0.5},
            mean="run",
            caveat="From second-hand sources only: neither a program nor its output was available.",
        ),
        Preset(
            name="sklearn_ndcg_score",
            tool="scikit-learn ndcg_score",
            reading="linear gain, not exponential; ideal from what was returned; the mean over all "
            "orders of tied documents; queries with a single document left out",
            parameters={**SKLEARN, "ties": "averaged"},
            mean="run",
            caveat="scikit-learn takes arrays and rejects single documents and grades below 0, "
            "which gain nothing here. The last digit can depend on the processor, as dot "
            "products do.",
        ),
        Preset(
            name="sklearn_ndcg_score_ignore_ties",
            tool="scikit-learn ndcg_score with ignore_ties=True",
            reading="as sklearn_ndcg_score, but tied documents in an arbitrary order",
            parameters=SKLEARN,
            mean="run",
            caveat="The order of ties is that of NumPy's sort, which depends on the processor, so "
            "values can't be reproduced if scores tie; here ties stay in file order.",
        ),
        Preset(
            name="torchmetrics",
            tool="torchmetrics retrieval_normalized_dcg",
            reading="linear gain; ideal from what was returned; the mean over all orders of tied "
            "documents, scores compared in single precision",
            parameters={
                **LEARNING_TO_RANK,
                "gain": "linear",
                "ties": "averaged",
                "scores": "float32",
            },
            mean="run",
            caveat="torchmetrics computes in float32, this preset in double precision: 6 "
            "decimals agree. torchmetrics does not define grades below 0; here they gain "
            "nothing.",
        ),
        Preset(
            name="tf_ranking",
            tool="TensorFlow Ranking NDCGMetric",
            reading="exponential gain; ideal from what was returned; documents with a grade below "
            "0 are removed",
            parameters={**LEARNING_TO_RANK, "negatives": "removed"},
            mean="run",
            caveat="TensorFlow Ranking orders ties at random, so its values can't be reproduced "
            "if scores tie; here ties stay in file order. It computes in float32: 6 decimals "
            "agree.",
        ),
        Preset(
            name="ir_measures",
            tool="ir_measures Judged@k",
            reading="a query that the run does not answer counts 0; ties by ascending document id",
            parameters={},
            of_family={"Judged": {"queries": "judged", "ties": "docid_asc", "scores": "float64"}},
            families=frozenset({"Judged"}),
            mean="run",
        ),
        Preset(
            name="quepid_ndcg",
            tool="Quepid ndcg@k",
            reading="exponential gain, negative ratings cost; the ideal is not cut at k",
            parameters={**RATED, "ideal_depth": "all"},
            of_family={
                "P": {"denominator": "returned", "negatives": "zero"},
                "AP": {"denominator": "relevant", "negatives": "zero"},
            },
            families=JUST_NDCG | {"P", "AP"},
            caveat="Quepid's server shows 2 decimals; here values are not rounded. "
            f"{PRECISION_CAVEAT}",
        ),
        Preset(
            name="quepid_ndcg_cut",
            tool="Quepid ndcg_cut@k, as its browser computes it",
            reading="exponential gain, negative ratings cost",
            parameters=RATED,
            caveat="Quepid's server sorts this ideal in the wrong order; that is not reproduced.",
        ),
        Preset(
            name="elasticsearch_dcg_normalize",
            tool="Elasticsearch and OpenSearch _rank_eval, dcg with normalize",
            reading="exponential gain, negative ratings cost; the ideal is no longer than the "
            "returned list",
            parameters={**RATED, "discount": "ln/ln2", "ideal_depth": "returned"},
            caveat=PORT_CAVEAT,
        ),
        Preset(
            name="opensearch_search_relevance",
            tool="OpenSearch search-relevance NDCG@k",
            reading="exponential gain, negative ratings cost; every query rounded half up to 2 "
            "decimals",
            parameters={
                **RATED,
                "discount": "ln/ln2",
                "negative_ideal": "empty",
                "decimals": 2,
                "rounding": "half_up",
            },
            of_family={
                "P": {"denominator": "returned", "negatives": "zero"},
                "AP": {"denominator": "relevant", "negatives": "zero"},
                "R": {"negatives": "zero"},
                "RR": {"negatives": "zero"},
            },
            families=JUST_NDCG | {"P", "AP", "R", "RR"},
            caveat=PORT_CAVEAT,
        ),
        Preset(
            name="rre_ndcg",
            tool="Rated Ranking Evaluator NDCG@k",
            reading="exponential gain, negative ratings cost; rounded down to 2 decimals at every "
            "rank and again at the end; P treats every judged document as relevant, and rounds "
            "half up",
            parameters={
                **RATED,
                "discount": "ln/ln2",
                "decimals": 2,
                "rounding": "floor",
                "rounded": "rank",
            },
            of_family={
                "P": {
                    "rel": -1e9,  # the lowest that a grade can be asked to have: all that is judged
                    "denominator": "returned",
                    "negatives": "zero",
                    "rounding": "half_up",
                    "rounded": "query",
                },
            },
            families=JUST_NDCG | {"P"},
            caveat="Reimplemented from its source: the program was not run. It fails if "
            "no judged document of a query has a gain; here such a query counts 0.",
        ),
    )
}

# Whose tool has nDCG, which is what dialects are about.
NDCG_PRESETS: Final[Mapping[str, Preset]] = {
    name: chosen for name, chosen in PRESETS.items() if "nDCG" in chosen.families
}


def preset(name: str) -> Preset:
    """The preset of this name. Raises MeasureError that lists the known ones."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise MeasureError(f"unknown preset {name[:60]!r}; available: {known}")
    return PRESETS[name]
