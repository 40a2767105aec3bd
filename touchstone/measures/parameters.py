"""The parameters of measures, each said once: its default, its values, and the words for them.

Names, their grammar, docs/measures.md, the measures page, the explanation of a value and REST's
list of measures are read from here. Which families take a parameter is said in `families`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

LARGEST_CUTOFF: Final = 1_000_000
MOST_DECIMALS: Final = 15


@dataclass(frozen=True)
class Choice:
    """A word that a parameter can be.

    words: what it says by itself. in_description: what it adds to a measure's one line, if that
    is something else; "" where it goes without saying. by_family: what it says by itself of the
    families of which `words` would be wrong. All may have {b}, {decimals}, {prior} and {rel} in
    them, for the measure's own, {nothing} for what an unjudged document is worth in its family,
    and {lacking} for what a query must have to be worth anything.
    """

    words: str
    in_description: str | None = None
    by_family: Mapping[str, str] = field(default_factory=dict)

    @property
    def described(self) -> str:
        """What it adds to a measure's one line."""
        return self.words if self.in_description is None else self.in_description


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of measures.

    default: its value where a name does not set it; "" where that depends on the family, and is
        the first of the family's choices.
    kind: "choice", one of the choices; "number", finite; "whole", within `bounds`; "gain",
        a choice or a table. What is a number can be one of its choices too.
    words: what its values mean, in Markdown, the default first.
    choices: the words that it can be, the default first.
    value: what a number or a table says of the measure, {value} being the number; {lacking} as
        in a choice's words.
    unset: what None says of it.
    source: who described it first, where that is not who described the measure.
    """

    name: str
    default: Any
    words: str
    kind: Literal["choice", "number", "whole", "gain"] = "choice"
    choices: Mapping[str, Choice] = field(default_factory=dict)
    bounds: tuple[int, int] = (0, 0)
    value: str = ""
    unset: str = ""
    source: str = ""


# The order is that of canonical names and of what is stored: a new parameter goes to the end.
PARAMETERS: Final[Mapping[str, Parameter]] = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            name="rel",
            default=1.0,
            kind="number",
            words="1: the lowest grade value of a relevant document",
            value="relevant: grade {value:g} or more",
        ),
        Parameter(
            name="gain",
            default="linear",
            kind="gain",
            words="`'linear'` the grade's value; `'exp2'` 2^value − 1; a table `{0:0,1:1,2:3}`",
            choices={
                "linear": Choice("linear gain (the grade itself)"),
                "exp2": Choice("exponential gain (2^grade − 1)"),
            },
            value="gain by a table ({value})",
            source="exponential: Burges et al. 2005",
        ),
        Parameter(
            name="discount",
            default="log2",
            words="`'log2'` log2(i + 1) at rank i; `'burn-in'` 1 up to rank `b`, then log_b(i); "
            "`'reciprocal'` i; `'linear'` k / (k + 1 − i); `'none'`; `'ln'` and `'ln/ln2'`, which "
            "are `'log2'` except for the last bits",
            choices={
                "log2": Choice("discounted by log2(rank + 1)"),
                "ln": Choice("discounted by ln(rank + 1)"),
                "ln/ln2": Choice("discounted by ln(rank + 1) / ln(2)"),
                "burn-in": Choice("discounted by log{b}(rank) after rank {b}"),
                "reciprocal": Choice("divided by the rank"),
                "linear": Choice("weights decreasing linearly to the cutoff"),
                "none": Choice("not discounted"),
            },
            source="log2(i + 1): Burges et al. 2005; burn-in: Järvelin & Kekäläinen 2002",
        ),
        Parameter(name="b", default=None, kind="number", words="the base of the burn-in"),
        Parameter(
            name="ideal",
            default="global",
            words="best order of: `'global'` all judged documents; `'recall'` all returned "
            "documents; `'local'` the first k returned; `'max'` only top grades",
            choices={
                "global": Choice("ideal from all judged documents"),
                "recall": Choice("ideal from all returned documents"),
                "local": Choice("ideal from the documents shown, re-sorted"),
                "max": Choice("ideal with the top grade at every rank"),
            },
        ),
        Parameter(
            name="ideal_depth",
            default="k",
            words="`'k'`; `'returned'`, no longer than the ranking; `'all'`, not cut",
            choices={
                "k": Choice("the ideal cut at k", ""),
                "returned": Choice("the ideal no longer than the returned list"),
                "all": Choice("the ideal not cut"),
            },
        ),
        Parameter(
            name="ideal_first",
            default=None,
            kind="whole",
            bounds=(1, LARGEST_CUTOFF),
            words="use only the first n returned documents for the `'recall'` ideal; default: all",
            value="only {value} of them",
            unset="all of them",
        ),
        Parameter(
            name="top",
            default=None,
            kind="number",
            words="the top grade, for `ideal='max'` and `ERR`; default: the highest of the "
            "scale, in `evaluate` the highest in the file",
            value="the top grade is {value:g}",
            unset="the top grade is the highest of the scale",
        ),
        Parameter(
            name="empty",
            default=0.0,
            kind="number",
            words="0: the value of a query whose ideal is 0 (`AP`: without a relevant document), "
            "from 0 to 1; `'skip'` leaves the query out; `'error'` is an error",
            choices={
                "skip": Choice("queries without {lacking} left out"),
                "error": Choice("queries without {lacking} are an error"),
            },
            value="{value:g} for a query without {lacking}",
        ),
        Parameter(
            name="negative_ideal",
            default="divide",
            words="what to do with an ideal below 0: `'divide'` by it; `'empty'`, treat it as 0",
            choices={
                "divide": Choice("divided by the ideal even if it is below 0", ""),
                "empty": Choice("an ideal below 0 counts as 0"),
            },
        ),
        Parameter(
            name="unjudged",
            default="zero",
            words="`'zero'`: no gain, not relevant; `'condensed'`: removed from the ranking; "
            "`'prior'`: returned documents count as judged with the grade `prior`",
            choices={
                "zero": Choice("unjudged documents gain nothing", "unjudged count as {nothing}"),
                "condensed": Choice(
                    "unjudged documents are removed from the ranking",
                    "unjudged documents removed",
                ),
                "prior": Choice(
                    "unjudged documents count as having the grade prior",
                    "unjudged documents count as grade {prior}",
                ),
            },
            source="condensed: Sakai, “Alternatives to Bpref”, SIGIR 2007",
        ),
        Parameter(
            name="prior",
            default=None,
            kind="number",
            words="the grade value of unjudged documents with `unjudged='prior'`",
            value="grade {value:g}",
        ),
        Parameter(
            name="negatives",
            default="zero",
            words="grades below 0: `'zero'` gain; `'raw'`, their own value (`nDCG`); `'unjudged'`, "
            "as unjudged; `'removed'` from the ranking; `'error'`",
            choices={
                "zero": Choice("grades below 0 gain nothing", ""),
                "raw": Choice("grades below 0 cost gain"),
                "unjudged": Choice("grades below 0 count as unjudged"),
                "removed": Choice("documents with a grade below 0 removed"),
                "error": Choice("grades below 0 are an error"),
            },
        ),
        Parameter(
            name="ties",
            default="docid",
            words="tied documents by id as UTF-8 bytes: `'docid'` descending, "
            "`'docid_asc'` ascending; `'listed'`: in file order; `'averaged'`: the mean "
            "over all their orders (`nDCG`, `P`, `R`, `Judged`, `Unjudged`)",
            choices={
                "docid": Choice("ties by document id"),
                "docid_asc": Choice("ties by ascending document id"),
                "listed": Choice("ties in file order"),
                "averaged": Choice("the mean over all orders of tied documents"),
            },
            source="averaged: McSherry & Najork 2008",
        ),
        Parameter(
            name="scores",
            default="float32",
            words="`'float32'`, `'float64'`: the precision in which scores are compared",
            choices={
                "float32": Choice("scores compared in single precision", ""),
                "float64": Choice("scores compared in double precision"),
            },
        ),
        Parameter(
            name="queries",
            default="",
            words="in the mean: `'judged'` all judged; `'returned'` those of them that the run "
            "answers; `'several'` those that it answers with two documents or more; `'run'`; "
            "`'all'` both; `'relevant'` those of `'returned'` with a relevant document. The "
            "default of `Judged` and `Unjudged` is `'returned'`: they are about what a run shows",
            choices={
                "judged": Choice("mean over all judged queries, 0 for one without results"),
                "returned": Choice("mean over judged queries with results"),
                "several": Choice("mean over judged queries with two results or more"),
                "run": Choice("mean over all queries of the run"),
                "all": Choice("mean over all queries, judged or in the run"),
                "relevant": Choice("mean over queries with results and a relevant document"),
            },
        ),
        Parameter(
            name="short",
            default="as_is",
            words="`'as_is'`; `'zero'`: a ranking shorter than k counts 0",
            choices={
                "as_is": Choice("short lists are not penalised", ""),
                "zero": Choice("0 for a list shorter than the cutoff"),
            },
        ),
        # Ways to the same number that are apart in the last bits. "multiply" takes the inverse of
        # discount and ideal, "multiply_divide" that of the discount alone, "multiply_each" both at
        # every rank; "cumulative" is differences of summed inverses and a dot product.
        Parameter(
            name="arithmetic",
            default="divide",
            words="`'divide'`; `'multiply'`, `'multiply_divide'`, `'multiply_each'`: the last "
            "bits of tools that multiply by inverses; `'cumulative'`: of scikit-learn",
            choices={
                "divide": Choice("gain divided by discount, sum divided by ideal", ""),
                "multiply": Choice("inverses multiplied"),
                "multiply_divide": Choice("the discount's inverse multiplied"),
                "multiply_each": Choice("inverses multiplied rank by rank"),
                "cumulative": Choice("summed as scikit-learn does"),
            },
        ),
        Parameter(
            name="decimals",
            default=None,
            kind="whole",
            bounds=(0, MOST_DECIMALS),
            words="number of decimals that values are rounded to; default: not rounded",
            unset="not rounded",
        ),
        # "nearest" is printf's, "half_up" Java's Math.round.
        Parameter(
            name="rounding",
            default="nearest",
            words="to the `'nearest'`; `'half_up'`; down, `'floor'`",
            choices={
                "nearest": Choice("rounded to {decimals} decimals"),
                "half_up": Choice("rounded half up to {decimals} decimals"),
                "floor": Choice("rounded down to {decimals} decimals"),
            },
        ),
        Parameter(
            name="rounded",
            default="query",
            words="`'query'`: each query's value; `'mean'`: only the run's mean; `'rank'`: each "
            "query's value and each rank's contribution (`nDCG`)",
            choices={
                "query": Choice("only the query's value is rounded", ""),
                "mean": Choice("only the mean of the run"),
                "rank": Choice("and so is what every rank adds"),
            },
        ),
        Parameter(
            name="denominator",
            default="",
            words="`P`: `'k'`; `'returned'`, the number of documents shown, if lower. "
            "`AP`: `'relevant'`, all relevant documents of the query; `'returned'`, those among "
            "the documents shown; `'cutoff'`, all relevant documents, but at most k; "
            "`'returned_cutoff'`, those in the whole ranking, but at most k",
            choices={
                "k": Choice("divided by the cutoff"),
                "returned": Choice(
                    "divided by the number of relevant documents shown",
                    "the number of relevant ones there",
                    by_family={
                        "P": "divided by the number of documents shown, where that is below the "
                        "cutoff",
                    },
                ),
                "relevant": Choice(
                    "divided by the number of relevant documents",
                    "the number of relevant documents",
                ),
                "cutoff": Choice(
                    "divided by the number of relevant documents, but at most by the cutoff",
                    "the number of relevant documents, but at most by the cutoff",
                ),
                "returned_cutoff": Choice(
                    "divided by the number of relevant documents in the whole ranking, but at "
                    "most by the cutoff",
                    "the number of relevant documents in the whole ranking, but at most by the "
                    "cutoff",
                ),
            },
        ),
        Parameter(
            name="p",
            default=0.8,
            kind="number",
            words="0.8: the persistence, the probability of looking at the next document",
            value="persistence {value:g}",
        ),
        Parameter(
            name="average",
            default="macro",
            words="`'macro'`, the mean over queries; `'weighted'`, by their weights; "
            "`'segments'`, the mean of the segments' means, with queries without a segment as one "
            "more; `'micro'` (`Judged`, `Unjudged`), over all queries' documents together",
            choices={
                "macro": Choice("the mean of the queries' values", ""),
                "weighted": Choice(
                    "the mean of the queries' values, counted by the queries' weights",
                    "queries counted by their weights",
                ),
                "segments": Choice(
                    "the mean of the means of each segment's queries",
                    "first within each segment, then over the segments",
                ),
                "micro": Choice("all queries' documents counted together"),
            },
        ),
        Parameter(
            name="of",
            default="documents",
            words="`'documents'`: all documents of the collection; `'relevant'`: the relevant ones",
            choices={
                "documents": Choice(
                    "the share of all documents of the collection", "documents of the collection"
                ),
                "relevant": Choice(
                    "the share of all relevant documents", "relevant documents ({rel})"
                ),
            },
        ),
    )
}

# Every parameter that takes one of some words and nothing else, and the words.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    one.name: tuple(one.choices) for one in PARAMETERS.values() if one.kind == "choice"
}
