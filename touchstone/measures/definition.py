"""What a measure is: its family and every parameter, as one value that prints and parses.

`Measure` is immutable, compares by value and is hashable. `measure.name` is canonical: two
measures are equal exactly when their names are, and `grammar.parse_measure(measure.name)` gives
the measure back. Parameters that have their usual value are left out of the name, and the usual
values are trec_eval's with `-c`: all judged queries count, a missing one as 0; ties by document
id; unjudged documents gain nothing. `Judged` and `Unjudged` are about what a run shows, so their
mean is over the queries that it answers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from touchstone.measures.errors import MeasureError
from touchstone.measures.families import FAMILIES, Family
from touchstone.measures.parameters import CHOICES, LARGEST_CUTOFF, PARAMETERS, Parameter

__all__ = [
    "CHOICES",
    "DEFAULTS",
    "FAMILIES",
    "PARAMETERS",
    "Family",
    "GainTable",
    "Measure",
    "gain_table",
    "usual_value",
]

GainTable = tuple[tuple[float, float], ...]

MOST_DECIMALS_AT_RANKS: Final = 6

DEFAULTS: Final[Mapping[str, Any]] = {one.name: one.default for one in PARAMETERS.values()}
# Parameters whose default depends on the family: the first of its words.
BY_FAMILY: Final = frozenset(name for name, default in DEFAULTS.items() if default == "")


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One measure with all its parameters. Raises MeasureError where they make no sense.

    family: a key of FAMILIES. cutoff: only ranks 1..cutoff are looked at; None: the whole list.
    What the others mean, and what they can be, is in `parameters.PARAMETERS`, and which of them a
    family takes in its `parameters`; a parameter of other families has its default. A table of
    gains is made with `gain_table`.
    """

    family: str
    cutoff: int | None = None
    rel: float = DEFAULTS["rel"]
    gain: Literal["linear", "exp2"] | GainTable = DEFAULTS["gain"]
    discount: str = DEFAULTS["discount"]
    b: float | None = DEFAULTS["b"]
    ideal: str = DEFAULTS["ideal"]
    ideal_depth: str = DEFAULTS["ideal_depth"]
    ideal_first: int | None = DEFAULTS["ideal_first"]
    top: float | None = DEFAULTS["top"]
    empty: float | Literal["skip", "error"] = DEFAULTS["empty"]
    negative_ideal: str = DEFAULTS["negative_ideal"]
    unjudged: str = DEFAULTS["unjudged"]
    prior: float | None = DEFAULTS["prior"]
    negatives: str = DEFAULTS["negatives"]
    ties: str = DEFAULTS["ties"]
    scores: str = DEFAULTS["scores"]
    queries: str = DEFAULTS["queries"]
    short: str = DEFAULTS["short"]
    arithmetic: str = DEFAULTS["arithmetic"]
    decimals: int | None = DEFAULTS["decimals"]
    rounding: str = DEFAULTS["rounding"]
    rounded: str = DEFAULTS["rounded"]
    denominator: str = DEFAULTS["denominator"]
    p: float = DEFAULTS["p"]
    average: str = DEFAULTS["average"]
    of: str = DEFAULTS["of"]
    name: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise MeasureError(f"unknown measure {self.family!r}")
        _check_cutoff(self)
        for parameter in BY_FAMILY & self.kind.parameters:
            if not getattr(self, parameter):
                object.__setattr__(self, parameter, usual_value(self.kind, parameter))
        for parameter in PARAMETERS:
            if parameter not in self.kind.parameters and self._is_set(parameter):
                raise MeasureError(f"{self.family} has no parameter {parameter}")
        for parameter in (name for name in CHOICES if name in self.kind.parameters):
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
        return bool(getattr(self, parameter) != usual_value(self.kind, parameter))

    def _canonical_name(self) -> str:
        told = [f"{p}={_printed(getattr(self, p))}" for p in PARAMETERS if self._is_set(p)]
        parameters = f"({','.join(told)})" if told else ""
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.family}{parameters}{cutoff}"


def usual_value(family: Family, parameter: str) -> object:
    """What the parameter is in this family where a name does not set it."""
    if parameter in BY_FAMILY and parameter in family.parameters:
        return family.words_of(parameter)[0]
    return DEFAULTS[parameter]


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
            f"{measure.family}@{cutoff}: the cutoff must be a whole number from 1 to "
            f"{LARGEST_CUTOFF}"
        )


def _check_word(parameter: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        known = ", ".join(repr(word) for word in words)
        raise MeasureError(f"{parameter}={_printed(value)}: allowed words are {known}")


def _check_numbers(measure: Measure) -> None:
    for parameter in PARAMETERS.values():
        value = getattr(measure, parameter.name)
        if value is None or parameter.kind == "choice":
            continue
        if parameter.kind == "whole":
            _check_whole(parameter, value)
        elif isinstance(value, str) and parameter.choices:
            _check_word(parameter.name, value, tuple(parameter.choices))
        elif parameter.kind == "gain":
            _check_table(value)
        else:
            _check_number(parameter.name, value)
    if not 0 < measure.p < 1:
        raise MeasureError("p must be between 0 and 1, as in p=0.8")
    if not isinstance(measure.empty, str) and not 0 <= measure.empty <= 1:
        raise MeasureError("empty must be a number from 0 to 1, 'skip' or 'error'")


def _check_table(table: GainTable) -> None:
    for value, gain in table:
        _check_number("gain", value)
        _check_number("gain", gain)
    if not table or len({value for value, _ in table}) != len(table):
        raise MeasureError("gain: a table must have one gain per grade, as in {0:0,1:1,2:3}")
    if any(type(x) is not float for pair in table for x in pair) or list(table) != sorted(table):
        raise MeasureError("gain: make a table with gain_table()")


def _check_number(parameter: str, value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise MeasureError(f"{parameter}={_printed(value)}: must be a finite number")
    if abs(value) > 1e9:
        raise MeasureError(f"{parameter}={_printed(value)}: too large, at most 1e9")


def _check_whole(parameter: Parameter, value: object) -> None:
    lowest, highest = parameter.bounds
    if type(value) is not int or not lowest <= value <= highest:
        raise MeasureError(f"{parameter.name} must be a whole number from {lowest} to {highest}")


def _check_combinations(measure: Measure) -> None:
    _check_discount(measure)
    _check_ideal(measure)
    _check_ties(measure)
    _check_rounding(measure)
    if measure.short == "zero" and measure.cutoff is None:
        raise MeasureError("short='zero' needs a cutoff")
    if (measure.unjudged == "prior") != (measure.prior is not None):
        raise MeasureError("unjudged='prior' and prior must be set together, as in prior=1")
    if measure.denominator in ("cutoff", "returned_cutoff") and measure.cutoff is None:
        raise MeasureError(f"denominator={measure.denominator!r} needs a cutoff")
    if measure.of != "relevant" and measure.family == "Coverage" and measure.rel != 1:
        raise MeasureError("rel: Coverage only uses rel with of='relevant'")


def _check_ideal(measure: Measure) -> None:
    if measure.top is not None and measure.top <= 0:
        raise MeasureError("top must be above 0")
    if measure.family == "nDCG" and measure.top is not None and measure.ideal != "max":
        raise MeasureError("top: nDCG only uses the top grade with ideal='max'")
    if measure.ideal_depth != "k" and measure.ideal not in ("global", "recall"):
        raise MeasureError("ideal_depth can only be set with ideal='global' or ideal='recall'")
    if measure.ideal_first is not None and measure.ideal != "recall":
        raise MeasureError("ideal_first can only be set with ideal='recall'")
    below = measure.negatives == "raw" or not isinstance(measure.gain, str)
    if measure.negative_ideal != "divide" and not below:
        raise MeasureError(
            "negative_ideal can only be set if gains can be below 0: with negatives='raw' or a "
            "table of gains"
        )
    usual = (measure.ideal, measure.ideal_depth, measure.ideal_first, measure.unjudged)
    if measure.arithmetic == "cumulative" and usual != ("recall", "k", None, "zero"):
        raise MeasureError(
            "arithmetic='cumulative' needs ideal='recall', with ideal_depth, ideal_first and "
            "unjudged at their defaults"
        )


def _check_ties(measure: Measure) -> None:
    if measure.ties != "averaged":
        return
    if measure.ideal == "local" or measure.ideal_first is not None:
        raise MeasureError(
            "ties='averaged' needs an ideal that does not depend on the order of ties"
        )


def _check_rounding(measure: Measure) -> None:
    if measure.decimals is None and (measure.rounding, measure.rounded) != ("nearest", "query"):
        raise MeasureError("rounding and rounded need a number of decimals, as in decimals=2")
    if measure.decimals is not None and measure.average == "micro":
        raise MeasureError("decimals can't be set with average='micro': queries have no values")
    if measure.rounded == "rank" and (measure.decimals or 0) > MOST_DECIMALS_AT_RANKS:
        raise MeasureError(f"decimals must be at most {MOST_DECIMALS_AT_RANKS} with rounded='rank'")
    if measure.rounded == "rank" and (
        measure.rounding != "floor" or measure.arithmetic != "divide" or measure.ties == "averaged"
    ):
        raise MeasureError(
            "rounded='rank' needs rounding='floor' and arithmetic='divide', without ties='averaged'"
        )


def _check_discount(measure: Measure) -> None:
    if (measure.discount == "burn-in") != (measure.b is not None):
        raise MeasureError("discount='burn-in' and its base b must be set together, as in b=2")
    if measure.b is not None and measure.b <= 1:
        raise MeasureError("b, the base of the burn-in, must be above 1")
    if measure.discount != "linear":
        return
    if measure.cutoff is None:
        raise MeasureError("discount='linear' decreases to the cutoff, so it needs a cutoff")
    if measure.ideal_depth == "all":
        raise MeasureError("discount='linear' can't be combined with ideal_depth='all'")


def _printed(value: object) -> str:
    """A parameter's value as the grammar reads it back."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_printed(k)}:{_printed(v)}" for k, v in value) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)
