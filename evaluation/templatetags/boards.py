"""How the pages about a list's runs write what answers hold."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from evaluation.comparison.queries import Difference
from evaluation.comparison.rank_changes import MovedDocument
from evaluation.comparison.words import judging_warning, verdict_of
from evaluation.diagnosis.run_values import RunValues
from evaluation.diagnosis.selection import BEST_FIRST, RunSelection
from evaluation.leaderboards.board import Column, Row
from evaluation.runs import names
from evaluation.runs.selection import RunMean
from judgments.pages.words import p_value
from judgments.templatetags.touchstone import parameters
from touchstone.measures.definition import Measure
from touchstone.measures.wording import answers_words, describe, tie_words
from touchstone.statistics import groups
from touchstone.statistics.named_tests import TESTS, Test

register = template.Library()
register.filter("p_value", p_value)

VIEWS = (
    ("leaderboard", "Leaderboard", "Every run and its values"),
    ("compare", "Compare", "Differences, their uncertainty, and the queries behind them"),
    ("estimates", "Estimates", "Means over all queries and all searches, from a sample"),
    ("stability", "Stability", "The order under resampled queries and labels"),
    ("judge-next", "Judge next", "The labels that could change the order"),
    ("list-rosetta", "Dialects", "Other tools’ definitions of nDCG, and the runs they reorder"),
    ("leaderboard-segments", "Segments", "Values of each run by segment"),
)
ORDERS = {
    BEST_FIRST: "best first",
    "value": "worst first",
    "qid": "by id",
    "-qid": "by id, backwards",
    "judged": "least judged first",
}
WITH_BASELINE = frozenset({"leaderboard", "compare"})
OF_SETS = frozenset({"leaderboard", "compare", "stability", "judge-next"})


register.filter("letter_ranges", groups.letter_ranges)


@register.inclusion_tag("evaluation/_views.html")
def views(
    slug: str,
    list_slug: str,
    current: str,
    *,
    version: int | None = None,
    is_head: bool = True,
    saved_set: str = "",
    baseline: str = "",
) -> dict[str, Any]:
    """The ways to look at a list's runs, each of the same version, saved set and baseline where it
    can be.

    What to judge next is a question about the newest version alone.
    """
    rows = []
    for name, label, title in VIEWS:
        asked = {}
        if saved_set and name in OF_SETS:
            asked["set"] = saved_set
        if version and not is_head and name != "judge-next":
            asked["version"] = str(version)
        if baseline and name in WITH_BASELINE:
            asked["baseline"] = baseline
        address = reverse(name, args=[slug, list_slug])
        rows.append((f"{address}?{urlencode(asked)}" if asked else address, label, title, name))
    return {"rows": rows, "current": current}


@register.simple_tag
def selected(
    selection: RunSelection, *names: str, without: str = "", sort: str = "", newest: bool = False
) -> str:
    """The parameters of a page of a run about the same list, version, definitions and queries.

    names: these definitions instead. without: all but one. sort: in this order instead. newest:
    at the newest version, now and later.
    """
    chosen = tuple(dict.fromkeys(names or selection.names))
    chosen = tuple(name for name in chosen if name != without)
    sort = sort or selection.sort
    return parameters(
        list=selection.judgment_list.slug,
        version=None if newest else selection.version,
        measure=chosen[0] if len(chosen) == 1 else "",
        measures=" ".join(chosen) if len(chosen) > 1 else "",
        segment=selection.segment,
        set=selection.sets.slug,
        sort="" if sort == BEST_FIRST else sort,
    )


@register.filter
def order_name(sort: str) -> str:
    """An order of queries in words."""
    return ORDERS.get(sort, "most judged first")


@register.filter
def ties(measure: Measure) -> str:
    """What a measure does with documents of one score."""
    return tie_words(measure)


@register.filter
def answers(run: RunMean | Row | RunValues[Any]) -> str:
    """How many queries a run answers; "" where it answers all, or that is unknown."""
    if run.answered is None or run.queries is None:
        return ""
    return answers_words(run.answered, run.queries)


@register.filter
def computing_runs(waiting: int) -> str:
    """How many runs wait for their values."""
    return f"computing {waiting} runs"


@register.filter
def stale(version: int) -> str:
    """That a run's values are of an older version."""
    return f"stale (version {version})"


@register.filter
def heading(column: Column) -> str:
    """A measure's name in words that a line can be broken between: "nDCG@10 gain='exp2'"."""
    plain = column.asked.plain
    family, bracket, rest = plain.name.partition("(")
    detail, _, cutoff = rest.rpartition(")")
    name = f"{family}{cutoff} {detail}" if bracket else plain.name
    return f"{name} {column.preset}".strip()


@register.filter
def title(column: Column) -> str:
    """A measure in plain words, and where a tool can't be followed."""
    return f"{describe(column.asked.measure)} {column.caveat}".strip()


@register.simple_tag
def run_below(ranker: str, slug: str, run: str) -> str:
    """A run's name where its ranker's stands beside it: "run 1" for bm25-1 of BM25."""
    return names.run_below(ranker, f"{slug}/{run}")


@register.filter
def described(measure: Measure) -> str:
    """A measure in plain words."""
    return describe(measure)


@register.filter
def of_queries(number: int) -> str:
    """What a count of queries is out of."""
    return f"of {number:,} queries"


@register.filter
def of_shown_pairs(number: int) -> str:
    """What a count of pairs is out of."""
    return f"of {number:,} pairs that the runs show"


@register.filter
def wrong_order(labels: Sequence[str]) -> str:
    """What a chance is of, for the two runs whose order is least certain."""
    return f"chance that {' and '.join(labels)} are in the wrong order"


@register.filter
def test_name(test: Test) -> str:
    """A test of differences in words."""
    return TESTS[test]


@register.filter
def verdict(one: Difference) -> str:
    """What a difference comes to."""
    return verdict_of(one)


@register.filter
def warning_beside(other: RunMean, baseline: RunMean) -> str:
    """Why the difference of two runs may be about judging; "" where they are judged alike."""
    return judging_warning(baseline, other)


@register.filter
def way(document: MovedDocument) -> str:
    """Where a document went: in, out, up or down by so many ranks."""
    if document.before is None:
        return "in"
    if document.after is None:
        return "out"
    ranks = document.before - document.after
    return f"up {ranks}" if ranks > 0 else f"down {-ranks}"
