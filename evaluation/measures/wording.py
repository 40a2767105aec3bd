"""Measures in plain words: one line that says what a number is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from evaluation.measures.definition import Measure

DISCOUNTS: Final[Mapping[str, str]] = {
    "log2": "discounted by log2(rank + 1)",
    "ln": "discounted by ln(rank + 1)",
    "ln/ln2": "discounted by ln(rank + 1) / ln(2)",
    "burn-in": "discounted by log{b}(rank) behind rank {b}",
    "reciprocal": "divided by the rank",
    "linear": "weights falling evenly to the cutoff",
    "none": "not discounted",
}
IDEALS: Final[Mapping[str, str]] = {
    "global": "ideal from all judged documents",
    "recall": "ideal from all returned documents",
    "local": "ideal from the documents shown, re-sorted",
    "max": "ideal with the top grade at every rank",
}
IDEAL_DEPTHS: Final[Mapping[str, str]] = {
    "k": "",
    "returned": "the ideal no longer than what was returned",
    "all": "the ideal not cut",
}
NEGATIVES: Final[Mapping[str, str]] = {
    "zero": "",
    "raw": "grades below 0 cost gain",
    "unjudged": "grades below 0 are as good as unjudged",
    "removed": "documents with a grade below 0 taken out",
    "error": "grades below 0 refused",
}
NEGATIVE_IDEAL: Final[Mapping[str, str]] = {
    "divide": "",
    "empty": "an ideal below 0 is as one of 0",
}
TIES: Final[Mapping[str, str]] = {
    "docid": "ties by document id",
    "docid_asc": "ties by ascending document id",
    "listed": "ties as the file has them",
    "averaged": "the mean over all orders of tied documents",
}
SCORES: Final[Mapping[str, str]] = {
    "float32": "",
    "float64": "scores compared in double precision",
}
QUERIES: Final[Mapping[str, str]] = {
    "judged": "mean over all judged queries, 0 for one without results",
    "returned": "mean over judged queries with results",
    "several": "mean over judged queries with two results or more",
    "run": "mean over all queries of the run",
    "all": "mean over all queries, judged or in the run",
    "relevant": "mean over queries with results and a relevant document",
}
SHORT: Final[Mapping[str, str]] = {
    "as_is": "",
    "zero": "0 for a list shorter than the cutoff",
}
ARITHMETIC: Final[Mapping[str, str]] = {
    "divide": "",
    "multiply": "inverses multiplied",
    "multiply_divide": "the discount's inverse multiplied",
    "multiply_each": "inverses multiplied rank by rank",
    "cumulative": "summed as scikit-learn does",
}
ROUNDING: Final[Mapping[str, str]] = {
    "nearest": "rounded to {decimals} decimals",
    "half_up": "rounded half up to {decimals} decimals",
    "floor": "rounded down to {decimals} decimals",
}
ROUNDED: Final[Mapping[str, str]] = {
    "query": "",
    "mean": "only the mean of the run",
    "rank": "and so is what every rank adds",
}
_SUBJECTS: Final[Mapping[str, str]] = {
    "nDCG": "nDCG of {shown}",
    "P": "Share of {shown} that is relevant ({rel})",
    "R": "Share of the relevant documents ({rel}) among {shown}",
    "Hit": "1 if anything among {shown} is relevant ({rel}), else 0",
    "RR": "1 / rank of the first relevant document ({rel}) in {shown}, 0 if there is none",
    "AP": "Precision at each relevant document ({rel}) in {shown}, summed and divided by "
    "{denominator}",
    "Rprec": "Share of the first R that is relevant ({rel}), R being the number of relevant "
    "documents",
    "ERR": "Expected reciprocal rank in {shown}, the top grade being {top}",
    "RBP": "Rank-biased precision of {shown} with persistence {p:g} ({rel} is relevant)",
    "RBPResidual": "What rank-biased precision of {shown} with persistence {p:g} does not know",
    "Bpref": "Relevant documents ({rel}) before judged others, pair by pair",
    "infAP": "Average precision ({rel} is relevant) inferred from a judged sample of the pool",
    "Judged": "Share of {shown} that is judged",
    "Unjudged": "Share of {shown} that is not judged",
    "Coverage": "Share of all {of} that stand in {shown} of any query",
}
DENOMINATORS: Final[Mapping[str, str]] = {
    "k": "the cutoff",
    "returned": "what is returned",
    "relevant": "the number of relevant documents",
    "cutoff": "the number of relevant documents that there is room for",
    "returned_cutoff": "the number of returned relevant documents that there is room for",
}
AVERAGES: Final[Mapping[str, str]] = {
    "macro": "",
    "weighted": "queries counted by their weights",
    "segments": "first within each segment, then over the segments",
    "micro": "all queries' documents counted together",
}
COVERED: Final[Mapping[str, str]] = {
    "documents": "documents of the collection",
    "relevant": "relevant documents ({rel})",
}


# Every parameter that takes one of some words, and what each of them says.
_CHOICES: Final[Mapping[str, Mapping[str, str]]] = {
    "discount": DISCOUNTS,
    "ideal": IDEALS,
    "ideal_depth": IDEAL_DEPTHS,
    "unjudged": {
        "zero": "unjudged documents gain nothing",
        "condensed": "unjudged documents are taken out, and the ranks close up",
        "prior": "unjudged documents count as if they had the grade prior",
    },
    "negatives": NEGATIVES,
    "negative_ideal": NEGATIVE_IDEAL,
    "ties": TIES,
    "scores": SCORES,
    "queries": QUERIES,
    "short": SHORT,
    "arithmetic": ARITHMETIC,
    "rounding": ROUNDING,
    "rounded": ROUNDED,
    "denominator": {
        "k": "divided by the cutoff",
        "returned": "P is divided by what is returned, AP by the relevant ones returned",
        "relevant": "divided by the number of relevant documents",
        "cutoff": "divided by the relevant documents that there is room for",
        "returned_cutoff": "divided by the relevant documents returned that there is room for",
    },
    "average": {
        "macro": "the mean of the queries' values",
        "weighted": "the mean of the queries' values, counted by the queries' weights",
        "segments": "the mean of the means of each segment's queries",
        "micro": AVERAGES["micro"],
    },
    "of": {
        "documents": "the share of all documents of the collection",
        "relevant": "the share of all relevant documents",
    },
}
# What goes without saying in a description.
_UNSAID: Final[Mapping[str, str]] = {
    "ideal_depth": "the ideal cut at k",
    "negatives": "grades below 0 gain nothing",
    "negative_ideal": "an ideal below 0 is a divisor like any other",
    "scores": "scores compared in single precision",
    "short": "a short list is taken as it is",
    "arithmetic": "gain divided by discount, sum divided by ideal",
    "rounded": "only the query's value is rounded",
}


def choice_words(parameter: str, value: str) -> str:
    """What one of a parameter's words says; {b} and {decimals} are left to be filled in."""
    return _CHOICES[parameter][value] or _UNSAID[parameter]


def parameter_words(measure: Measure, parameters: Sequence[str]) -> str:
    """What some parameters of a measure, which say one thing together, say."""
    phrases = [_NUMBERS[name](measure) for name in parameters if name in _NUMBERS]
    phrases += [
        choice_words(name, getattr(measure, name)).format(
            b="" if measure.b is None else f"{measure.b:g}", decimals=measure.decimals
        )
        for name in parameters
        if name in _CHOICES and not (name == "rounding" and measure.decimals is None)
    ]
    return ", ".join(phrase for phrase in dict.fromkeys(phrases) if phrase)


def describe(measure: Measure) -> str:
    """What the measure is, in one line of plain words."""
    shown = "the whole list" if measure.cutoff is None else _first(measure.cutoff)
    rel = f"grade {measure.rel:g} or more"
    subject = _SUBJECTS[measure.family].format(
        shown=shown,
        rel=rel,
        p=measure.p,
        top="the highest of the scale" if measure.top is None else f"{measure.top:g}",
        denominator=_denominator(measure),
        of=COVERED[measure.of].format(rel=rel),
    )
    phrases = _gain_phrases(measure) if measure.family == "nDCG" else []
    if "unjudged" in measure.kind.parameters:
        phrases += [_unjudged(measure), NEGATIVES[measure.negatives]]
    if measure.family == "AP" and measure.empty != 0.0:
        phrases.append(_empty(measure).replace("without gain", "without a relevant document"))
    if measure.family != "nDCG" and "decimals" in measure.kind.parameters:
        phrases += _rounding(measure)
    if measure.family == "P" and measure.denominator == "returned":
        phrases.append("a list shorter than the cutoff divided by its own length")
    phrases += [TIES[measure.ties], SCORES[measure.scores]]
    if "queries" in measure.kind.parameters:
        phrases += _average(measure)
    return f"{subject}: {', '.join(phrase for phrase in phrases if phrase)}."


def _denominator(measure: Measure) -> str:
    if measure.family == "AP" and measure.denominator == "returned":
        return "the number of relevant ones there"
    return DENOMINATORS.get(measure.denominator, "")


def _average(measure: Measure) -> list[str]:
    if measure.average == "micro":
        return [AVERAGES["micro"], QUERIES[measure.queries].replace("mean over", "over", 1)]
    return [QUERIES[measure.queries], AVERAGES[measure.average]]


def _first(cutoff: int) -> str:
    return "the first document" if cutoff == 1 else f"the first {cutoff}"


def _gain(measure: Measure) -> str:
    if measure.gain == "linear":
        return "linear gain (the grade itself)"
    if measure.gain == "exp2":
        return "exponential gain (2^grade − 1)"
    pairs = ", ".join(f"{value:g} → {gain:g}" for value, gain in measure.gain)
    return f"gain by a table ({pairs})"


def _gain_phrases(measure: Measure) -> list[str]:
    b = "" if measure.b is None else f"{measure.b:g}"
    ideal = IDEALS[measure.ideal]
    if measure.ideal_first is not None:
        ideal = f"ideal from {_first(measure.ideal_first)} returned"
    if measure.top is not None:
        ideal = f"ideal with grade {measure.top:g} at every rank"
    return [
        _gain(measure),
        DISCOUNTS[measure.discount].format(b=b),
        ideal,
        IDEAL_DEPTHS[measure.ideal_depth],
        _empty(measure),
        NEGATIVE_IDEAL[measure.negative_ideal],
        SHORT[measure.short],
        ARITHMETIC[measure.arithmetic],
        *_rounding(measure),
    ]


def _rounding(measure: Measure) -> list[str]:
    if measure.decimals is None:
        return []
    told = ROUNDING[measure.rounding].format(decimals=measure.decimals)
    return [told, ROUNDED[measure.rounded]]


def _empty(measure: Measure) -> str:
    if measure.empty == "skip":
        return "queries without gain left out"
    if measure.empty == "error":
        return "queries without gain refused"
    return f"{measure.empty:g} for a query without gain"


def _unjudged(measure: Measure) -> str:
    if measure.unjudged == "condensed":
        return "unjudged documents taken out"
    if measure.prior is not None:
        return f"unjudged documents taken to be of grade {measure.prior:g}"
    return "unjudged count as 0" if measure.family == "nDCG" else "unjudged count as not relevant"


def _cutoff(measure: Measure) -> str:
    return "the whole list" if measure.cutoff is None else f"only {_first(measure.cutoff)}"


def _top(measure: Measure) -> str:
    top = "the highest of the scale" if measure.top is None else f"{measure.top:g}"
    return f"the top grade is {top}"


def _ideal_first(measure: Measure) -> str:
    if measure.ideal_first is None:
        return "" if measure.ideal != "recall" else "all of them"
    return f"{_first(measure.ideal_first)} of them alone"


def _decimals(measure: Measure) -> str:
    return "not rounded" if measure.decimals is None else ""


# Parameters that are numbers, or a table, and what they say.
_NUMBERS: Final[Mapping[str, Callable[[Measure], str]]] = {
    "cutoff": _cutoff,
    "rel": lambda measure: f"relevant from grade {measure.rel:g} on",
    "gain": _gain,
    "top": _top,
    "empty": _empty,
    "ideal_first": _ideal_first,
    "prior": lambda measure: "" if measure.prior is None else f"grade {measure.prior:g}",
    "decimals": _decimals,
    "p": lambda measure: f"persistence {measure.p:g}",
}
