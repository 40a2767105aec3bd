"""Rules about single queries, as people write them; functions of plain values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

MOST: Final = 50
_TOP: Final = re.compile(r"(?P<query>\S+):\s+(?P<document>\S+)\s+in\s+top\s+(?P<top>[0-9]{1,4})")
_AT_LEAST: Final = re.compile(r"(?P<query>\S+):\s+at\s+least\s+(?P<value>[0-9.]{1,12})")


class RuleRefused(ValueError):
    """A line that is no rule; says which."""


@dataclass(frozen=True)
class QueryRule:
    """A document must be among the first `top` results of a query, or, without a document, the
    measure's value of the query must be at least `at_least`.
    """

    query_id: str
    document: str = ""
    top: int = 0
    at_least: float = 0.0

    def __str__(self) -> str:
        if self.document:
            return f"{self.query_id}: {self.document} in top {self.top}"
        return f"{self.query_id}: at least {self.at_least:g}"


@dataclass(frozen=True)
class Checked:
    """A rule, and what was found. is_kept: None where nothing can be said of the query."""

    rule: str
    found: str
    is_kept: bool | None


def read_rules(lines: Sequence[str]) -> tuple[QueryRule, ...]:
    """The rules in lines such as `q1: d12 in top 3` and `q1: at least 0.8`; empty ones are skipped.

    Raises RuleRefused for a line of another form, and for more than MOST rules.
    """
    rules = [_read(line.strip()) for line in lines if line.strip()]
    if len(rules) > MOST:
        raise RuleRefused(f"At most {MOST} rules.")
    return tuple(rules)


def _read(line: str) -> QueryRule:
    if match := _TOP.fullmatch(line):
        rule = QueryRule(match["query"], match["document"], int(match["top"]))
        if rule.top:
            return rule
    elif match := _AT_LEAST.fullmatch(line):
        try:
            value = float(match["value"])
        except ValueError:
            value = float("nan")
        if isfinite(value):
            return QueryRule(match["query"], at_least=value)
    raise RuleRefused(
        f"“{line[:80]}” is not a rule. Use “QUERY: DOCUMENT in top 3” or “QUERY: at least 0.8”."
    )


def check_rule(rule: QueryRule, *, rank: int | None, value: float | None) -> Checked:
    """What a snapshot says of a rule about a query that the engine answered.

    rank: of the document, from 1; None where it is not among the results. value: the measure's of
    the query; None where it is not in the mean.
    """
    if rule.document:
        result = "not found" if rank is None else f"rank {rank}"
        return Checked(str(rule), result, rank is not None and rank <= rule.top)
    if value is None:
        return Checked(str(rule), "not judged", None)
    return Checked(str(rule), f"{value:.4f}", value >= rule.at_least)


def not_answered(rule: QueryRule) -> Checked:
    """What is said of a rule whose query was not answered."""
    return Checked(str(rule), "not answered", None)
