"""Rules about single queries and whole boards, as people write them; functions of plain values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Final

from touchstone.measures.errors import MeasureError
from touchstone.measures.grammar import parse_measure

MOST: Final = 50
EVERY: Final = "every measure"
_TOP: Final = re.compile(r"(?P<query>\S+):\s+(?P<document>\S+)\s+in\s+top\s+(?P<top>[0-9]{1,4})")
_LEAST: Final = r"at\s+least\s+(?P<least>[0-9.]{1,12})"
_BELOW: Final = r"at\s+most\s+(?P<below>[0-9.]{1,12})\s+below\s+baseline"
_OF_QUERY: Final = re.compile(rf"(?P<query>\S+):\s+(?:{_LEAST}|{_BELOW})")
_OF_BOARD: Final = re.compile(rf"board:\s+(?P<measure>every\s+measure|\S+)\s+(?:{_LEAST}|{_BELOW})")


class RuleRefused(ValueError):
    """A line that is no rule; says which."""


@dataclass(frozen=True)
class QueryRule:
    """A document must be among the first `top` results of a query, or the measure's value of the
    query must be at least `at_least`, or at most `below` less than the baseline's.
    """

    query_id: str
    document: str = ""
    top: int = 0
    at_least: float | None = None
    below: float | None = None

    def __str__(self) -> str:
        if self.document:
            return f"{self.query_id}: {self.document} in top {self.top}"
        return f"{self.query_id}: {_condition(self.at_least, self.below)}"


@dataclass(frozen=True)
class BoardRule:
    """The mean of a measure, or of every measure of the list's leaderboard ("") must be at least
    `at_least`, or at most `below` less than the baseline's.
    """

    measure: str
    at_least: float | None = None
    below: float | None = None

    def __str__(self) -> str:
        return f"board: {self.measure or EVERY} {_condition(self.at_least, self.below)}"


Rule = QueryRule | BoardRule


def _condition(at_least: float | None, below: float | None) -> str:
    return f"at least {at_least:g}" if below is None else f"at most {below:g} below baseline"


@dataclass(frozen=True)
class Checked:
    """A rule, and what was found. is_kept: None where nothing can be said of the query."""

    rule: str
    found: str
    is_kept: bool | None


@dataclass(frozen=True)
class BoardChecked:
    """A rule about a board for one measure, and what was found. finding: a `Finding`; None where
    nothing can be said.
    """

    rule: str
    found: str
    finding: str | None


def read_rules(lines: Sequence[str]) -> tuple[Rule, ...]:
    """The rules in lines such as `q1: d12 in top 3`, `q1: at least 0.8`, `q1: at most 0.1 below
    baseline` and `board: nDCG@10 at least 0.5`; empty ones are skipped.

    Raises RuleRefused for a line of another form, and for more than MOST rules.
    """
    rules = [_read(line.strip()) for line in lines if line.strip()]
    if len(rules) > MOST:
        raise RuleRefused(f"At most {MOST} rules.")
    return tuple(rules)


def _read(line: str) -> Rule:
    if (match := _TOP.fullmatch(line)) and int(match["top"]):
        return QueryRule(match["query"], match["document"], int(match["top"]))
    if match := _OF_QUERY.fullmatch(line) or _OF_BOARD.fullmatch(line):
        at_least, below = _number(match["least"]), _number(match["below"])
        if at_least is not None or below is not None:
            if match.re is _OF_QUERY:
                return QueryRule(match["query"], at_least=at_least, below=below)
            return BoardRule(_measure(match["measure"]), at_least, below)
    raise RuleRefused(
        f"“{line[:80]}” is not a rule. Use “QUERY: DOCUMENT in top 3”, “QUERY: at least 0.8”, "
        "“QUERY: at most 0.1 below baseline”, or “board: nDCG@10” with the same conditions."
    )


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return value if isfinite(value) else None


def _measure(name: str) -> str:
    """Its canonical name; "" for every measure."""
    if name.split() == EVERY.split():
        return ""
    try:
        return parse_measure(name).name
    except MeasureError as error:
        raise RuleRefused(str(error)) from error


def of_queries(rules: Sequence[Rule]) -> list[QueryRule]:
    """Those about single queries."""
    return [rule for rule in rules if isinstance(rule, QueryRule)]


def of_boards(rules: Sequence[Rule], measures: Sequence[str]) -> list[BoardRule]:
    """Those about boards, one for each measure. measures: of the list's leaderboard."""
    return [
        replace(rule, measure=measure)
        for rule in rules
        if isinstance(rule, BoardRule)
        for measure in ([rule.measure] if rule.measure else measures)
    ]


@dataclass(frozen=True)
class QueryValue:
    """A measure's value of a query, and the share of what is shown that is judged."""

    value: float
    judged: float


def check_rule(
    rule: QueryRule, *, rank: int | None, values: Sequence[QueryValue | None]
) -> Checked:
    """What a snapshot says of a rule about a query that the engine answered.

    rank: of the document, from 1; None where it is not among the results. values: of the snapshot
    and of the baseline, and, where the measure can, both with unjudged documents left out; None
    where the query is not in the mean.
    """
    if rule.document:
        result = "not found" if rank is None else f"rank {rank}"
        return Checked(str(rule), result, rank is not None and rank <= rule.top)
    now, base, *alone = values
    if now is None or (base is None and rule.below is not None):
        return Checked(str(rule), "not judged", None)
    found = f"{now.value:.4f}"
    if rule.below is not None and base is not None:
        found = f"{found}, baseline {base.value:.4f}"
    if _holds(rule, now, base):
        return Checked(str(rule), found, True)
    if alone and alone[0] and base and now.judged < base.judged and _holds(rule, *alone):
        return Checked(str(rule), f"{found}, unjudged documents", None)
    return Checked(str(rule), found, False)


def _holds(rule: QueryRule, now: QueryValue | None, base: QueryValue | None) -> bool:
    if now is None:
        return False
    if rule.below is None:
        return now.value >= (rule.at_least or 0.0)
    return base is not None and now.value >= base.value - rule.below


def not_answered(rule: QueryRule) -> Checked:
    """What is said of a rule whose query was not answered."""
    return Checked(str(rule), "not answered", None)
