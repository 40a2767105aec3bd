"""What public tools mean by the names they print, as data.

A preset sets parameters of the measures that it is applied to, and says how the tool rounds and
how it takes its mean. Every preset here is proved against what its tool printed, to the last bit
(tests/reference).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from touchstone.measures.definition import FAMILIES, Measure, gain_table
from touchstone.measures.discounts import FloatArray
from touchstone.measures.errors import MeasureError

# Not measures of most of these tools, but welcome beside any number.
ABOUT_JUDGMENTS: Final = frozenset({"Judged", "Unjudged"})
TREC_EVAL_FAMILIES: Final = ABOUT_JUDGMENTS | {
    "nDCG",
    "RR",
    "AP",
    "P",
    "R",
    "Rprec",
    "Hit",
    "Bpref",
    "infAP",
}
LOWEST: Final = -1e9  # the lowest value that a grade can be asked to have: all that is judged
ROUNDING_PARAMETERS: Final = frozenset({"decimals", "rounding", "rounded"})
JUST_NDCG: Final = ABOUT_JUDGMENTS | {"nDCG"}


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


ARRAYS_CAVEAT: Final = (
    "The tool is given arrays and refuses negative grades; here they gain nothing."
)


def _trec_eval(name: str, tool: str, reading: str, **parameters: object) -> Preset:
    own = {"scores": "float32", "ties": "docid", **parameters}
    return Preset(
        name=name,
        tool=tool,
        reading=reading,
        parameters=own,
        of_family={"Unjudged": {"queries": own["queries"]}},  # its unj_k
        families=TREC_EVAL_FAMILIES,
    )


def _learning_to_rank(name: str, tool: str, reading: str, **parameters: object) -> Preset:
    """Tools that are given arrays: documents as listed, the ideal from what was returned."""
    own = {"gain": "exp2", "ideal": "recall", "ties": "listed", "scores": "float64"}
    return Preset(
        name=name,
        tool=tool,
        reading=reading,
        parameters={**own, "queries": "returned", **parameters},
        mean="run",
        caveat=ARRAYS_CAVEAT,
    )


def _with_precision(
    chosen: Preset, known: str | None = None, **of_family: Mapping[str, object]
) -> Preset:
    """The tool's binary measures too, as far as they are given.

    known: what is to be said of them where they were held against the tool; None: they were not.
    """
    caveat = chosen.caveat
    if known is not None:
        caveat = f"{caveat} {known}".strip()
    elif "From its source" not in caveat:
        names = " and ".join(of_family)
        caveat += f" {names} follow what is known of the tool: they were not held against it."
    families = chosen.families | of_family.keys()
    return replace(chosen, families=families, of_family=of_family, caveat=caveat)


def _with_caveat(caveat: str, chosen: Preset) -> Preset:
    return replace(chosen, caveat=caveat)


def _xgboost(name: str, tool: str, gains: str, **parameters: object) -> Preset:
    empty = f"{parameters['empty']:g}"
    reading = (
        f"{gains}; ideal from what was returned; a query without gain counts {empty}; "
        "cut at 32 where no cutoff is given"
    )
    own = {"scores": "float32", "arithmetic": "multiply_each", **parameters}
    chosen = replace(_learning_to_rank(name, tool, reading, **own), cutoff=32)
    if parameters["gain"] == "linear":
        return chosen
    return _with_precision(
        chosen,
        "It refuses P and AP of labels other than 0 and 1; here 1 and up are relevant.",
        P={"denominator": "returned"},
        AP={"denominator": "returned_cutoff"},
    )


def _sklearn(name: str, tool: str, reading: str, *, ties: str) -> Preset:
    return _learning_to_rank(
        name,
        tool,
        reading,
        gain="linear",
        discount="ln/ln2",
        queries="several",
        arithmetic="cumulative",
        ties=ties,
    )


def _ranklib(name: str, tool: str, documents: str, ideal: str) -> Preset:
    reading = (
        f"exponential gain; ideal from all {documents} documents; "
        "cut at 10 where no cutoff is given"
    )
    own = {"discount": "ln/ln2", "ideal": ideal, "arithmetic": "multiply_divide"}
    chosen = replace(_learning_to_rank(name, tool, reading, **own), cutoff=10)
    found = "returned" if ideal == "recall" else "relevant"
    # its AP takes no notice of k
    return _with_precision(
        chosen,
        P={"denominator": "returned"},
        AP={"denominator": found, "cutoff": None},
    )


def _rated(name: str, tool: str, reading: str, caveat: str = "", **parameters: object) -> Preset:
    """Tools of search teams: rated documents, negative ratings and all."""
    own = {"gain": "exp2", "negatives": "raw", "ties": "listed", "scores": "float64"}
    return Preset(
        name=name,
        tool=tool,
        reading=reading,
        parameters={**own, "queries": "all", **parameters},
        caveat=caveat,
    )


_RANX_CAVEAT: Final = (
    "In rankings of 16 or more documents ranx sorts ties arbitrarily; here they stay as listed."
)

PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        _trec_eval(
            "trec_eval",
            "trec_eval 9 and pytrec_eval, without -c",
            "only judged queries that the run answers are in the mean",
            queries="returned",
        ),
        _trec_eval(
            "trec_eval_c",
            "trec_eval 9 with -c, ir_measures, Pyserini for BEIR",
            "all judged queries are in the mean; one that the run does not answer counts 0",
            queries="judged",
        ),
        _trec_eval(
            "trec_eval_10",
            "trec_eval 10 with -c",
            "as trec_eval_c, but scores are compared in double precision",
            queries="judged",
            scores="float64",
        ),
        _trec_eval(
            "trec_eval_judged_only",
            "trec_eval 9 with -J",
            "unjudged documents (and negative grades) are taken out, and the ranks close up",
            queries="returned",
            unjudged="condensed",
            negatives="unjudged",
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
            reading="as trec_eval_10, but ties stay as the file has them",
            parameters={"scores": "float64", "ties": "listed", "queries": "judged"},
            mean="pairwise",
            caveat=_RANX_CAVEAT,
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
            caveat=_RANX_CAVEAT,
        ),
        _learning_to_rank(
            "lightgbm",
            "LightGBM ndcg",
            "exponential gain; ideal from what was returned; a query without gain counts 1",
            empty=1.0,
            arithmetic="multiply",
        ),
        _learning_to_rank(
            "lightgbm_linear",
            "LightGBM ndcg with label_gain 0, 1, 2, …",
            "as lightgbm, with linear gain",
            gain="linear",
            empty=1.0,
            arithmetic="multiply",
        ),
        _xgboost("xgboost_ndcg", "XGBoost ndcg", "exponential gain", gain="exp2", empty=1.0),
        _xgboost("xgboost_ndcg_minus", "XGBoost ndcg-", "exponential gain", gain="exp2", empty=0.0),
        _xgboost(
            "xgboost_ndcg_linear",
            "XGBoost ndcg with ndcg_exp_gain=false",
            "linear gain",
            gain="linear",
            empty=1.0,
        ),
        _xgboost(
            "xgboost_ndcg_minus_linear",
            "XGBoost ndcg- with ndcg_exp_gain=false",
            "linear gain",
            gain="linear",
            empty=0.0,
        ),
        _ranklib("ranklib", "RankLib NDCG without -qrel", "returned", "recall"),
        _ranklib("ranklib_qrel", "RankLib NDCG with -qrel", "judged", "global"),
        _with_precision(
            _learning_to_rank(
                "mslr_eval",
                "Microsoft's eval-score-mslr.pl",
                "exponential gain; no discount at ranks 1 and 2; a list shorter than the cutoff "
                "counts 0; P and AP call grade 2 and up relevant",
                discount="burn-in",
                b=2.0,
                short="zero",
            ),
            "",
            P={"rel": 2.0, "denominator": "k"},
            AP={"rel": 2.0, "denominator": "returned", "cutoff": None},
        ),
        _with_caveat(
            "From its source only: the script was not run. It knows the grades 0, 1 and 2 alone.",
            _learning_to_rank(
                "letor4_eval",
                "the evaluation script of LETOR 4.0",
                "gain 0, 1 and 3 for the grades 0, 1 and 2; no discount at ranks 1 and 2",
                gain=gain_table({0: 0, 1: 1, 2: 3}),
                discount="burn-in",
                b=2.0,
            ),
        ),
        _with_caveat(
            "From second-hand sources only: neither a program nor its output was at hand.",
            _learning_to_rank(
                "yahoo_ltr",
                "the Yahoo! Learning to Rank Challenge",
                "exponential gain; ideal from what was returned; a query without gain counts 0.5",
                empty=0.5,
            ),
        ),
        _with_caveat(
            "scikit-learn is given arrays and refuses grades below 0, which gain nothing here, and "
            "single documents. The last digit can depend on the processor, as dot products do.",
            _sklearn(
                "sklearn_ndcg_score",
                "scikit-learn ndcg_score",
                "linear gain, not exponential; ideal from what was returned; the mean over all "
                "orders of tied documents; queries with a single document left out",
                ties="averaged",
            ),
        ),
        _with_caveat(
            "Ties are as NumPy's sort leaves them, which depends on the processor, so such numbers "
            "can't be reproduced where scores tie; here they stay as listed.",
            _sklearn(
                "sklearn_ndcg_score_ignore_ties",
                "scikit-learn ndcg_score with ignore_ties=True",
                "as sklearn_ndcg_score, but tied documents in an arbitrary order",
                ties="listed",
            ),
        ),
        _with_caveat(
            "torchmetrics computes in float32; here it is double precision, so that 6 decimals "
            "agree. What it does with grades below 0 is undefined; here they gain nothing.",
            _learning_to_rank(
                "torchmetrics",
                "torchmetrics retrieval_normalized_dcg",
                "linear gain; ideal from what was returned; the mean over all orders of tied "
                "documents, scores compared in single precision",
                gain="linear",
                ties="averaged",
                scores="float32",
            ),
        ),
        _with_caveat(
            "TensorFlow Ranking orders ties at random, so its numbers can't be reproduced where "
            "scores tie; here they stay as listed. It computes in float32: 6 decimals agree.",
            _learning_to_rank(
                "tf_ranking",
                "TensorFlow Ranking NDCGMetric",
                "exponential gain; ideal from what was returned; documents with a grade below 0 "
                "are taken out",
                negatives="removed",
            ),
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
        _with_precision(
            _rated(
                "quepid_ndcg",
                "Quepid ndcg@k",
                "exponential gain, negative ratings cost; the ideal is not cut at k",
                ideal_depth="all",
                caveat="Quepid's server shows 2 decimals; these are the digits behind them.",
            ),
            P={"denominator": "returned", "negatives": "zero"},
            AP={"denominator": "relevant", "negatives": "zero"},
        ),
        _rated(
            "quepid_ndcg_cut",
            "Quepid ndcg_cut@k, as its browser computes it",
            "exponential gain, negative ratings cost",
            caveat="Quepid's server sorts this ideal the wrong way round; that is not followed.",
        ),
        _rated(
            "elasticsearch_dcg_normalize",
            "Elasticsearch and OpenSearch _rank_eval, dcg with normalize",
            "exponential gain, negative ratings cost; the ideal no longer than what was returned",
            discount="ln/ln2",
            ideal_depth="returned",
            caveat="From its source, typed anew: the server was not run.",
        ),
        _with_precision(
            _rated(
                "opensearch_search_relevance",
                "OpenSearch search-relevance NDCG@k",
                "exponential gain, negative ratings cost; every query rounded half up to 2 "
                "decimals",
                discount="ln/ln2",
                negative_ideal="empty",
                decimals=2,
                rounding="half_up",
                caveat="From its source, typed anew: the server was not run.",
            ),
            P={"denominator": "returned", "negatives": "zero"},
            AP={"denominator": "relevant", "negatives": "zero"},
            R={"negatives": "zero"},
            RR={"negatives": "zero"},
        ),
        _with_precision(
            _rated(
                "rre_ndcg",
                "Rated Ranking Evaluator NDCG@k",
                "exponential gain, negative ratings cost; rounded down to 2 decimals at every rank "
                "and again at the end; P calls all that is judged relevant, and rounds half up",
                discount="ln/ln2",
                decimals=2,
                rounding="floor",
                rounded="rank",
                caveat="From its source, typed anew: the program was not run. It fails where "
                "documents are judged and none gains anything; here such a query counts 0.",
            ),
            P={
                "rel": LOWEST,
                "denominator": "returned",
                "negatives": "zero",
                "rounding": "half_up",
                "rounded": "query",
            },
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
        raise MeasureError(f"there is no preset {name[:60]!r}; there are {known}")
    return PRESETS[name]


def apply(chosen: Preset, measure: Measure) -> Measure:
    """The measure as the preset's tool means it.

    Raises MeasureError where the tool has no such measure, or where the measure itself sets a
    parameter to something that the tool does not do.
    """
    if measure.family not in chosen.families:
        known = ", ".join(name for name in FAMILIES if name in chosen.families)
        raise MeasureError(f"{chosen.tool} has no {measure.family}; it has {known}")
    its = measure.kind.parameters
    if measure.family in ABOUT_JUDGMENTS:  # most tools have none such: they round others
        its -= ROUNDING_PARAMETERS | {"queries"}
    own = {p: v for p, v in chosen.parameters.items() if p in its}
    own |= chosen.of_family.get(measure.family, {})
    if measure.cutoff is None and measure.kind.cutoff != "none":
        own.setdefault("cutoff", chosen.cutoff)
    usual = Measure(family=measure.family, cutoff=measure.cutoff)
    for parameter, value in own.items():
        if getattr(measure, parameter) not in {getattr(usual, parameter), value}:
            raise MeasureError(
                f"{measure.name} sets {parameter}, which preset {chosen.name} has as {value!r}"
            )
    return replace(measure, **own)  # type: ignore[arg-type]


def printed(chosen: Preset, values: FloatArray) -> FloatArray:
    """Values as the tool prints them."""
    if chosen.decimals is None:
        return values
    return np.array([float(f"{value:.{chosen.decimals}f}") for value in values])


def tool_mean(chosen: Preset, query_ids: Sequence[str], values: FloatArray) -> float | None:
    """The mean to the last bit as the tool computes it.

    query_ids, values: of the queries in the mean, in the order in which the run has them.
    """
    if not len(values):
        return None
    if chosen.mean != "run":
        values = values[sorted(range(len(query_ids)), key=lambda row: query_ids[row].encode())]
    total = float(values.sum()) if chosen.mean == "pairwise" else _one_by_one(values)
    return float(printed(chosen, np.array([total / len(values)]))[0])


def _one_by_one(values: FloatArray) -> float:
    total = 0.0
    for value in values.tolist():
        total += value
    return total
