"""What a measure is: its family and every parameter, as one value that prints and parses.

`Measure` is immutable, compares by value and is hashable. `measure.name` is canonical: two
measures are equal exactly when their names are, and `grammar.parse_measure(measure.name)` gives
the measure back. Parameters that have their usual value are left out of the name, and the usual
values are trec_eval's with `-c`: all judged queries count, a missing one as 0; ties by document
id; unjudged documents gain nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from evaluation.measures.errors import MeasureError
from evaluation.measures.families import CHOICES, FAMILIES, Family

__all__ = [
    "CHOICES",
    "FAMILIES",
    "PARAMETERS",
    "USUAL",
    "Family",
    "GainTable",
    "Measure",
    "gain_table",
]

GainTable = tuple[tuple[float, float], ...]

LARGEST_CUTOFF: Final = 1_000_000
MOST_DECIMALS: Final = 15
MOST_DECIMALS_AT_RANKS: Final = 6

EMPTY_WORDS: Final = ("skip", "error")


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure with all its parameters. Raises MeasureError where they make no sense.

    family: a key of FAMILIES.
    cutoff: only ranks 1..cutoff are looked at; None: the whole list.
    rel: a grade counts as relevant when its value is at least this.
    gain: "linear" (the grade's value), "exp2" (2**value - 1), or pairs (value, gain).
    discount: what the gain at rank i is divided by: "log2" log2(i + 1), and the same but for the
        last bits "ln" and "ln/ln2"; "burn-in" 1 up to rank b, then log_b(i); "reciprocal" i;
        "linear" k / (k + 1 - i); "none" 1.
    b: the burn-in's base, and nothing else's.
    ideal: the documents that the best order is made of: "global" all judged; "recall" all
        returned; "local" the first k returned; "max" k documents of the top grade.
    ideal_depth: ranks of the ideal that count: "k"; "returned", min(k, returned); "all".
    ideal_first: only so many returned documents make the ideal="recall"; None: all of them.
    top: the top grade's value, for ideal="max" and ERR; None: the highest of the scale.
    empty: the value of a query whose ideal gain is 0, or that has no relevant document (AP);
        "skip" leaves it out of the mean, "error" refuses.
    negative_ideal: an ideal below 0, as raw negatives can make it, is a divisor like any other
        ("divide"), or "empty" as 0 is.
    unjudged: "zero" gain; "condensed": they are removed and the ranks close up; "prior": those
        that are returned are taken to be judged, with the grade value `prior`.
    prior: that value.
    negatives: grades below 0 gain "zero", or their own "raw" value; are as good as "unjudged"; are
        "removed", so that the ranks close up; or are refused as an "error".
    ties: documents of one score stand by descending "docid" (UTF-8 bytes), by ascending
        "docid_asc", or as "listed"; or the value is "averaged" over all their orders (McSherry &
        Najork 2008).
    scores: the precision in which scores are compared.
    queries: which are in the mean: "judged", all that have a judgment (not returned counts 0);
        "returned", those of them that the run answers; "several", those that it answers with two
        documents or more; "run", all that the run answers; "all", both kinds; "relevant", those of
        "returned" with a document of positive value.
    short: a ranking with fewer than k documents is taken "as_is", or counts "zero".
    arithmetic: which of five ways to the same number, apart in the last bits: "divide" each gain
        by its discount and the sum by the ideal; "multiply" by the inverse of both;
        "multiply_divide" by the inverse of the discount alone; "multiply_each" term by both;
        "cumulative" by differences of summed inverses and a dot product, as scikit-learn does.
    decimals: digits behind the point that values are rounded to; None: they are not.
    rounding: to the "nearest" (as printf), "half_up" (as Java's Math.round), or down ("floor").
    rounded: the "query"'s value alone; the run's value alone, the "mean"; or the query's value and
        what every "rank" adds to either sum.
    denominator: what P divides by: "k", or the documents "returned" where those are fewer; what
        AP divides by: all "relevant" documents, those "returned" among the first k, or as many of
        all ("cutoff") or of all that are returned ("returned_cutoff") as the cutoff has room for.
        Left out: the first of these.
    p: the persistence of RBP.
    average: what the run's value is made of its queries' values: their mean ("macro"); their mean
        "weighted" by the queries' weights; the mean of the means of "segments" of queries, those
        without one being a segment too; or all queries' documents counted together ("micro").
    of: Coverage of all "documents", or of the "relevant" ones.
    """

    family: str
    cutoff: int | None = None
    rel: float = 1.0
    gain: Literal["linear", "exp2"] | GainTable = "linear"
    discount: str = "log2"
    b: float | None = None
    ideal: str = "global"
    ideal_depth: str = "k"
    ideal_first: int | None = None
    top: float | None = None
    empty: float | Literal["skip", "error"] = 0.0
    negative_ideal: str = "divide"
    unjudged: str = "zero"
    prior: float | None = None
    negatives: str = "zero"
    ties: str = "docid"
    scores: str = "float32"
    queries: str = "judged"
    short: str = "as_is"
    arithmetic: str = "divide"
    decimals: int | None = None
    rounding: str = "nearest"
    rounded: str = "query"
    denominator: str = ""
    p: float = 0.8
    average: str = "macro"
    of: str = "documents"
    name: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise MeasureError(f"there is no measure {self.family!r}")
        _check_cutoff(self)
        if "denominator" in self.kind.parameters and not self.denominator:
            object.__setattr__(self, "denominator", self.kind.words["denominator"][0])
        for parameter in PARAMETERS:
            if parameter not in self.kind.parameters and self._is_set(parameter):
                raise MeasureError(f"{self.family} has no parameter {parameter}")
        for parameter in self.kind.parameters & CHOICES.keys():
            _check_word(parameter, getattr(self, parameter), self.kind.words_of(parameter))
        _check_numbers(self)
        _check_combinations(self)
        object.__setattr__(self, "name", self._canonical_name())

    def __str__(self) -> str:
        return self.name

    @property
    def kind(self) -> Family:
        """The measure's family."""
        return FAMILIES[self.family]

    @property
    def revision(self) -> int:
        """Stored beside a value, so that it can say which arithmetic made it."""
        return self.kind.revision

    @property
    def is_mean(self) -> bool:
        """Whether the run's value is a mean of its queries' values."""
        return self.kind.per_query and self.average != "micro"

    @property
    def ordering(self) -> tuple[str, str]:
        """(ties, scores): measures that share it read one and the same order of a run."""
        return self.ties, self.scores

    def parameters(self) -> dict[str, object]:
        """Every parameter of this family with its value, the usual ones included."""
        own = (name for name in PARAMETERS if name in self.kind.parameters)
        return {"cutoff": self.cutoff, **{name: getattr(self, name) for name in own}}

    def _is_set(self, parameter: str) -> bool:
        usual: object = USUAL[parameter]
        if parameter == "denominator" and parameter in self.kind.parameters:
            usual = self.kind.words[parameter][0]
        return bool(getattr(self, parameter) != usual)

    def _canonical_name(self) -> str:
        told = [f"{p}={_printed(getattr(self, p))}" for p in PARAMETERS if self._is_set(p)]
        parameters = f"({','.join(told)})" if told else ""
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.family}{parameters}{cutoff}"


PARAMETERS: Final = tuple(
    f.name for f in fields(Measure) if f.name not in {"family", "cutoff", "name"}
)
USUAL: Final[Mapping[str, object]] = {
    f.name: f.default for f in fields(Measure) if f.name in PARAMETERS
}


def gain_table(gains: Mapping[float, float]) -> GainTable:
    """A table of gains as `Measure.gain` wants it: pairs (grade value, gain), ascending."""
    return tuple(sorted((float(value), float(gain)) for value, gain in gains.items()))


def _check_cutoff(measure: Measure) -> None:
    cutoff = measure.cutoff
    if cutoff is not None and measure.kind.cutoff == "none":
        raise MeasureError(f"{measure.family} has no cutoff")
    if cutoff is None:
        if measure.kind.needs_cutoff:
            raise MeasureError(f"{measure.family} needs a cutoff, as in {measure.family}@10")
        return
    if type(cutoff) is not int or not 1 <= cutoff <= LARGEST_CUTOFF:
        raise MeasureError(
            f"{measure.family}@{cutoff}: a cutoff is a whole number from 1 to {LARGEST_CUTOFF}"
        )


def _check_word(parameter: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        known = ", ".join(repr(word) for word in words)
        raise MeasureError(f"{parameter}={_printed(value)}: it can be {known}")


def _check_numbers(measure: Measure) -> None:
    for parameter in ("rel", "b", "top", "prior", "p"):
        value = getattr(measure, parameter)
        if value is not None:
            _check_number(parameter, value)
    if not 0 < measure.p < 1:
        raise MeasureError("p: it can be a number between 0 and 1, as in p=0.8")
    _check_whole("ideal_first", measure.ideal_first, 1, LARGEST_CUTOFF)
    _check_whole("decimals", measure.decimals, 0, MOST_DECIMALS)
    if isinstance(measure.empty, str):
        _check_word("empty", measure.empty, EMPTY_WORDS)
    elif not 0 <= _check_number("empty", measure.empty) <= 1:
        raise MeasureError("empty: it can be a number from 0 to 1, 'skip' or 'error'")
    if isinstance(measure.gain, str):
        _check_word("gain", measure.gain, ("linear", "exp2"))
    else:
        _check_table(measure.gain)


def _check_table(table: GainTable) -> None:
    for value, gain in table:
        _check_number("gain", value)
        _check_number("gain", gain)
    if not table or len({value for value, _ in table}) != len(table):
        raise MeasureError("gain: a table gives every grade one gain, as in {0:0,1:1,2:3}")
    if any(type(x) is not float for pair in table for x in pair) or list(table) != sorted(table):
        raise MeasureError("gain: make a table with gain_table()")


def _check_number(parameter: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise MeasureError(f"{parameter}={_printed(value)}: it must be a finite number")
    if abs(value) > 1e9:
        raise MeasureError(f"{parameter}={_printed(value)}: that is too large")
    return value


def _check_whole(parameter: str, value: int | None, lowest: int, highest: int) -> None:
    if value is not None and (type(value) is not int or not lowest <= value <= highest):
        raise MeasureError(f"{parameter}: it can be a whole number from {lowest} to {highest}")


def _check_combinations(measure: Measure) -> None:
    _check_discount(measure)
    _check_ideal(measure)
    _check_ties(measure)
    _check_rounding(measure)
    if measure.short == "zero" and measure.cutoff is None:
        raise MeasureError("short='zero' is about rankings shorter than the cutoff: it needs one")
    if (measure.unjudged == "prior") != (measure.prior is not None):
        raise MeasureError("unjudged='prior' and its value go together: prior=1, for example")
    if measure.denominator in ("cutoff", "returned_cutoff") and measure.cutoff is None:
        raise MeasureError(f"denominator={measure.denominator!r} needs a cutoff")
    if measure.of != "relevant" and measure.family == "Coverage" and measure.rel != 1:
        raise MeasureError("rel: Coverage asks what is relevant with of='relevant'")


def _check_ideal(measure: Measure) -> None:
    if measure.top is not None and measure.top <= 0:
        raise MeasureError("top: the top grade is above 0")
    if measure.family == "nDCG" and measure.top is not None and measure.ideal != "max":
        raise MeasureError("top: nDCG uses the top grade with ideal='max' alone")
    if measure.ideal_depth != "k" and measure.ideal not in ("global", "recall"):
        raise MeasureError("ideal_depth: it can differ from k with a global or recall ideal")
    if measure.ideal_first is not None and measure.ideal != "recall":
        raise MeasureError("ideal_first: it is about what is returned, so about ideal='recall'")
    below = measure.negatives == "raw" or not isinstance(measure.gain, str)
    if measure.negative_ideal != "divide" and not below:
        raise MeasureError("negative_ideal: gains are below 0 with negatives='raw' or a table")
    usual = (measure.ideal, measure.ideal_depth, measure.ideal_first, measure.unjudged)
    if measure.arithmetic == "cumulative" and usual != ("recall", "k", None, "zero"):
        raise MeasureError("arithmetic='cumulative' goes with ideal='recall', cut at k")


def _check_ties(measure: Measure) -> None:
    if measure.ties != "averaged":
        return
    if measure.ideal == "local" or measure.ideal_first is not None:
        raise MeasureError("ties='averaged' needs an ideal that the order of ties does not change")


def _check_rounding(measure: Measure) -> None:
    if measure.decimals is None and (measure.rounding, measure.rounded) != ("nearest", "query"):
        raise MeasureError("rounding, rounded: say how many decimals, as in decimals=2")
    if measure.decimals is not None and measure.average == "micro":
        raise MeasureError("decimals: with average='micro' there is no query's value to round")
    if measure.rounded == "rank" and (measure.decimals or 0) > MOST_DECIMALS_AT_RANKS:
        raise MeasureError(f"decimals: at every rank it can be up to {MOST_DECIMALS_AT_RANKS}")
    if measure.rounded == "rank" and (
        measure.rounding != "floor" or measure.arithmetic != "divide" or measure.ties == "averaged"
    ):
        raise MeasureError("rounded='rank' goes with rounding='floor' and arithmetic='divide'")


def _check_discount(measure: Measure) -> None:
    if (measure.discount == "burn-in") != (measure.b is not None):
        raise MeasureError("discount='burn-in' and its base b go together: b=2, for example")
    if measure.b is not None and measure.b <= 1:
        raise MeasureError("b: the base of the burn-in must be above 1")
    if measure.discount != "linear":
        return
    if measure.cutoff is None:
        raise MeasureError("discount='linear' falls to nothing behind the cutoff: it needs one")
    if measure.ideal_depth == "all":
        raise MeasureError("discount='linear' has no value behind the cutoff, ideal_depth='all'")


def _printed(value: object) -> str:
    """A parameter's value as the grammar reads it back."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_printed(k)}:{_printed(v)}" for k, v in value) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)
