"""The kinds of measures: what each computes, its parameters, its source, and its edges.

docs/measures.md is made from this registry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from touchstone.measures.parameters import CHOICES


@dataclass(frozen=True, kw_only=True)
class Edges:
    """What a family does at the edges, in words that end a sentence."""

    no_relevant: str
    missing: str
    unjudged: str
    short: str
    negatives: str
    ties: str = "broken by `ties`"

    def items(self) -> tuple[tuple[str, str], ...]:
        """(the edge, what is done there), in the order in which people ask."""
        return (
            ("no relevant document", self.no_relevant),
            ("a query that the run does not answer", self.missing),
            ("unjudged documents", self.unjudged),
            ("tied scores", self.ties),
            ("a cutoff beyond the list", self.short),
            ("grades below 0", self.negatives),
        )


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of measure. `revision` rises when its arithmetic changes in any bit.

    reading: what a value is, in plain words; {shown}, {rel}, {top}, {p}, {denominator} and {of}
        stand for the measure's own.
    words: of parameters whose words here are other than in CHOICES; the first is the usual one.
    per_query: False where a run has one value, not one for each query.
    """

    name: str
    title: str
    reading: str
    formula: str
    source: str
    parameters: frozenset[str]
    edges: Edges
    aliases: tuple[str, ...] = ()
    cutoff: Literal["needed", "optional", "none"] = "optional"
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    per_query: bool = True
    revision: int = 1

    @property
    def needs_cutoff(self) -> bool:
        """Whether a name without @k says too little."""
        return self.cutoff == "needed"

    def words_of(self, parameter: str) -> tuple[str, ...]:
        """The words that a parameter of this family can be."""
        return self.words.get(parameter, CHOICES[parameter])


_ORDERING: Final = frozenset(
    {"ties", "scores", "queries", "average", "decimals", "rounding", "rounded"}
)
_MEANS: Final = ("macro", "weighted", "segments")
_AT_THE_END: Final = ("query", "mean")  # what can be rounded of a value that is no sum over ranks
_BINARY: Final = _ORDERING | {"rel", "unjudged", "prior", "negatives"}
_NDCG: Final = _BINARY - {"rel"} | {
    "gain",
    "discount",
    "b",
    "ideal",
    "ideal_depth",
    "ideal_first",
    "top",
    "empty",
    "negative_ideal",
    "short",
    "arithmetic",
}
_ONE_ORDER: Final = ("docid", "docid_asc", "listed")
_NO_GAIN: Final = ("zero", "unjudged", "removed", "error")
# Without an averaged order, and without gains that could be negative.
_OF_ONE_ORDER: Final = {
    "ties": _ONE_ORDER,
    "negatives": _NO_GAIN,
    "average": _MEANS,
    "rounded": _AT_THE_END,
}
_AVERAGED: Final = "broken by `ties`, or averaged over all orders"
_NOT_RELEVANT: Final = "not relevant, unless `unjudged` says otherwise"
_BELOW: Final = "not relevant, unless `negatives` says otherwise"
_NO_CUTOFF: Final = "no cutoff"
_SHORT: Final = "missing ranks add nothing"


def _binary_edges(no_relevant: str, short: str = _SHORT, ties: str | None = None) -> Edges:
    order = Edges.ties if ties is None else ties
    return Edges(
        no_relevant=no_relevant,
        missing="0",
        unjudged=_NOT_RELEVANT,
        short=short,
        negatives=_BELOW,
        ties=order,
    )


_SHOWN_FIRST: Final = ("returned", *(q for q in CHOICES["queries"] if q != "returned"))
_JUDGED_EDGES: Final = Edges(
    no_relevant="does not matter: relevance is not used",
    missing="not in the mean, unless `queries` says otherwise",
    unjudged="counted: this is what it measures",
    short="divided by the documents that were returned",
    negatives="judged, like any grade",
    ties=_AVERAGED,
)
_BUCKLEY: Final = "Buckley & Voorhees 2005; trec_eval"

FAMILIES: Final[Mapping[str, Family]] = {
    family.name: family
    for family in (
        Family(
            name="nDCG",
            title="normalised discounted cumulated gain",
            reading="nDCG of {shown}",
            formula="Σ gain / discount over the ranks, divided by the same sum of the ideal "
            "ranking",
            source="Järvelin & Kekäläinen 2002; exponential gain and log(rank + 1): Burges et al. "
            "2005",
            parameters=_NDCG,
            aliases=("NDCG",),
            words={"average": _MEANS},
            edges=Edges(
                no_relevant="`empty`, by default 0",
                missing="0",
                unjudged="no gain, unless `unjudged` says otherwise",
                short="missing ranks gain nothing, unless `short` says otherwise",
                negatives="no gain, unless `negatives` says otherwise",
                ties=_AVERAGED,
            ),
        ),
        Family(
            name="RR",
            title="reciprocal rank of the first relevant document",
            reading="1 / rank of the first relevant document ({rel}) in {shown}, 0 if there "
            "is none",
            formula="1 / rank of the first relevant document, 0 if there is none",
            source="Kantor & Voorhees 2000",
            parameters=_BINARY,
            aliases=("MRR", "recip_rank"),
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0"),
        ),
        Family(
            name="AP",
            title="average precision",
            reading="Precision at each relevant document ({rel}) in {shown}, summed and divided by "
            "{denominator}",
            formula="the precision at each relevant document's rank, summed, divided by the "
            "`denominator`",
            source=_BUCKLEY,
            parameters=_BINARY | {"denominator", "empty"},
            aliases=("MAP",),
            words={
                **_OF_ONE_ORDER,
                "denominator": ("relevant", "returned", "cutoff", "returned_cutoff"),
            },
            edges=_binary_edges("`empty`, by default 0"),
        ),
        Family(
            name="P",
            title="precision: share of the first k that is relevant",
            reading="Share of {shown} that is relevant ({rel})",
            formula="relevant documents among the first k, divided by the `denominator`",
            source=_BUCKLEY,
            parameters=_BINARY | {"denominator"},
            aliases=("Precision",),
            cutoff="needed",
            words={
                "negatives": _NO_GAIN,
                "average": _MEANS,
                "rounded": _AT_THE_END,
                "denominator": ("k", "returned"),
            },
            edges=_binary_edges(
                "0",
                "still divided by k, unless `denominator` says otherwise",
                ties=_AVERAGED,
            ),
        ),
        Family(
            name="R",
            title="recall: share of the relevant documents among the first k",
            reading="Share of the relevant documents ({rel}) among {shown}",
            formula="relevant documents among the first k, divided by all relevant documents of "
            "the query",
            source=_BUCKLEY,
            parameters=_BINARY,
            aliases=("Recall",),
            cutoff="needed",
            words={"negatives": _NO_GAIN, "average": _MEANS, "rounded": _AT_THE_END},
            edges=_binary_edges("0", ties=_AVERAGED),
        ),
        Family(
            name="Rprec",
            title="R-precision: precision at the number of relevant documents",
            reading="Share of the first R that is relevant ({rel}), R being the number of relevant "
            "documents",
            formula="relevant documents among the first R, divided by R, the number of relevant "
            "documents of the query",
            source=_BUCKLEY,
            parameters=_BINARY,
            aliases=("RPrec",),
            cutoff="none",
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0", "no cutoff; a list shorter than R is still divided by R"),
        ),
        Family(
            name="SetP",
            title="share of all returned documents that is relevant",
            reading="Share of all returned documents that is relevant ({rel})",
            formula="relevant documents returned, divided by all returned documents",
            source=f"{_BUCKLEY} `set_P`; ir_measures",
            parameters=_BINARY,
            aliases=("set_P",),
            cutoff="none",
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0", _NO_CUTOFF),
        ),
        Family(
            name="SetR",
            title="share of the relevant documents that is returned",
            reading="Share of the relevant documents ({rel}) that is returned",
            formula="relevant documents returned, divided by all relevant documents of the query",
            source=f"{_BUCKLEY} `set_recall`; ir_measures",
            parameters=_BINARY,
            aliases=("set_recall",),
            cutoff="none",
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0", _NO_CUTOFF),
        ),
        Family(
            name="SetF",
            title="harmonic mean of SetP and SetR",
            reading="Harmonic mean of set precision and set recall ({rel} is relevant)",
            formula="2 · SetP · SetR / (SetP + SetR), 0 if both are 0",
            source=f"van Rijsbergen 1979; {_BUCKLEY} `set_F`; ir_measures, both with their default "
            "weight of 1",
            parameters=_BINARY,
            aliases=("set_F",),
            cutoff="none",
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0", _NO_CUTOFF),
        ),
        Family(
            name="NumRet",
            title="number of returned documents",
            reading="Number of returned documents",
            formula="returned documents; trec_eval and ir_measures print the sum over queries, "
            "this is the mean",
            source="trec_eval `num_ret`; ir_measures",
            parameters=_ORDERING,
            aliases=("num_ret",),
            cutoff="none",
            words={"ties": _ONE_ORDER, "average": _MEANS, "rounded": _AT_THE_END},
            edges=Edges(
                no_relevant="does not matter: relevance is not used",
                missing="0",
                unjudged="counted, like any document",
                short=_NO_CUTOFF,
                negatives="counted, like any document",
            ),
        ),
        Family(
            name="Hit",
            title="whether any of the first k is relevant",
            reading="1 if anything among {shown} is relevant ({rel}), else 0",
            formula="1 if any of the first k is relevant, else 0",
            source=_BUCKLEY,
            parameters=_BINARY,
            aliases=("Success",),
            cutoff="needed",
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0"),
        ),
        Family(
            name="ERR",
            title="expected reciprocal rank",
            reading="Expected reciprocal rank in {shown}, the top grade being {top}",
            formula="Σ (1 / i) · R(i) · Π (1 − R(j)) over the ranks j before i, with R = (2^grade "
            "− 1) / 2^top",
            source="Chapelle, Metzler, Zhang & Grinspan 2009; gdeval.pl",
            parameters=_BINARY - {"rel"} | {"top"},
            words=_OF_ONE_ORDER,
            edges=Edges(
                no_relevant="0",
                missing="0",
                unjudged="never satisfy, unless `unjudged` says otherwise",
                short=_SHORT,
                negatives="never satisfy, unless `negatives` says otherwise",
            ),
        ),
        Family(
            name="RBP",
            title="rank-biased precision",
            reading="Rank-biased precision of {shown} with persistence {p:g} ({rel} is relevant)",
            formula="Σ (1 − p) · p^(i − 1) over the ranks i of relevant documents",
            source="Moffat & Zobel 2008",
            parameters=_BINARY | {"p"},
            words=_OF_ONE_ORDER,
            edges=_binary_edges("0"),
        ),
        Family(
            name="RBPResidual",
            title="uncertainty of RBP from unjudged documents",
            reading="Residual of rank-biased precision of {shown} with persistence {p:g}",
            formula="pⁿ for the ranks after the n documents shown, plus (1 − p) · p^(i − 1) for "
            "each unjudged document among them: RBP lies between its value and its value plus the "
            "residual",
            source="Moffat & Zobel 2008",
            parameters=_ORDERING | {"p"},
            words={"ties": _ONE_ORDER, "average": _MEANS, "rounded": _AT_THE_END},
            edges=Edges(
                no_relevant="does not matter: relevance is not used",
                missing="1, since nothing is known",
                unjudged="counted: this is what it measures",
                short="all missing ranks are unknown",
                negatives="judged, like any grade",
            ),
        ),
        Family(
            name="Bpref",
            title="binary preference",
            reading="Preference of relevant documents ({rel}) over judged non-relevant ones",
            formula="Σ 1 − min(n, R) / min(N, R) over the R relevant documents, where n of the N "
            "documents judged not relevant are ranked above; divided by R",
            source="Buckley & Voorhees 2004; trec_eval 8 and later",
            parameters=_ORDERING | {"rel"},
            aliases=("BPref",),
            cutoff="none",
            words={"ties": _ONE_ORDER, "average": _MEANS, "rounded": _AT_THE_END},
            edges=Edges(
                no_relevant="0",
                missing="0",
                unjudged="ignored",
                short=_NO_CUTOFF,
                negatives="treated as unjudged",
            ),
        ),
        Family(
            name="infAP",
            title="inferred average precision",
            reading="Average precision ({rel} is relevant) inferred from a judged sample of "
            "the pool",
            formula="AP estimated from a judged sample of the pool: above rank i, the share of "
            "relevant documents in the pool is taken to be that among the judged ones",
            source="Yilmaz & Aslam 2006; trec_eval",
            parameters=_BINARY - {"prior"},
            cutoff="none",
            words={
                "ties": _ONE_ORDER,
                "unjudged": ("zero", "condensed"),
                "negatives": ("zero", "unjudged"),
                "average": _MEANS,
                "rounded": _AT_THE_END,
            },
            edges=Edges(
                no_relevant="0",
                missing="0",
                unjudged="outside the pool, so not relevant, unless `unjudged` says otherwise",
                short=_NO_CUTOFF,
                negatives="in the pool, but not judged, unless `negatives` says otherwise",
            ),
        ),
        Family(
            name="Judged",
            title="share of the first k that is judged",
            reading="Share of {shown} that is judged",
            formula="judged documents among the first k, divided by k, or by the number of "
            "returned documents if fewer",
            source="of the returned documents; preset `ir_measures` counts as that tool does",
            parameters=_ORDERING,
            words={"rounded": _AT_THE_END, "queries": _SHOWN_FIRST},
            edges=_JUDGED_EDGES,
            revision=2,  # 1: a query that the run does not answer counted 0
        ),
        Family(
            name="Unjudged",
            title="share of the first k that is not judged",
            reading="Share of {shown} that is not judged",
            formula="unjudged documents among the first k, divided by k, or by the number of "
            "returned documents if fewer",
            source="of the returned documents; preset `ir_measures` counts as that tool does",
            parameters=_ORDERING,
            words={"rounded": _AT_THE_END, "queries": _SHOWN_FIRST},
            edges=_JUDGED_EDGES,
            revision=2,  # 1: a query that the run does not answer counted 0
        ),
        Family(
            name="Coverage",
            title="share of the collection in the first k of any query",
            reading="Share of all {of} that appear in {shown} of any query",
            formula="documents among the first k of any query of the run, divided by all documents "
            "of the collection; with `of='relevant'`, both counts are of relevant documents",
            source="Ge, Delgado-Battenfeld & Jannach 2010 (catalogue coverage)",
            parameters=frozenset({"ties", "scores", "rel", "of"}),
            cutoff="needed",
            words={"ties": _ONE_ORDER},
            per_query=False,
            edges=Edges(
                no_relevant="undefined with `of='relevant'`",
                missing="adds nothing",
                unjudged="counted as shown, not relevant",
                short="fewer documents count",
                negatives="not relevant",
            ),
        ),
    )
}
