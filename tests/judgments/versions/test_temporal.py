"""The laws of versions, on plain values."""

from hypothesis import given
from hypothesis import strategies as st

from judgments.versions.temporal import (
    Current,
    Difference,
    Span,
    Wanted,
    apply,
    differences,
    plan_commit,
)

PAIRS = st.tuples(st.integers(1, 4), st.integers(1, 4))
GRADES = st.integers(-2, 4)
STATES = st.dictionaries(PAIRS, GRADES)


def replay(states: list[dict[tuple[int, int], int]]) -> list[Span]:
    """The rows of a list whose versions 1, 2, … are these states."""
    rows: dict[int, Span] = {}
    for number, state in enumerate(states, start=1):
        current = {
            (row.query_id, row.document_id): Current(row_id, row.grade, {})
            for row_id, row in rows.items()
            if row.until is None
        }
        wanted = {pair: Wanted(state.get(pair), {}) for pair in state.keys() | current.keys()}
        plan = plan_commit(wanted, current)
        for row_id in plan.closed:
            rows[row_id] = rows[row_id]._replace(until=number)
        for query, document, grade, _ in plan.opened:
            rows[len(rows)] = Span(query, document, grade, number, None)
    return list(rows.values())


@given(st.lists(STATES, min_size=1, max_size=6), st.data())
def test_the_differences_of_two_versions_applied_to_one_give_the_other(states, data):
    spans = replay(states)
    history = [{}, *states]
    a = data.draw(st.integers(0, len(states)))
    b = data.draw(st.integers(0, len(states)))
    assert apply(history[a], differences(spans, before=a, after=b)) == history[b]


@given(st.lists(STATES, min_size=1, max_size=6), st.data())
def test_rows_that_neither_begin_nor_end_between_two_versions_change_nothing(states, data):
    spans = replay(states)
    a = data.draw(st.integers(0, len(states)))
    b = data.draw(st.integers(a, len(states)))
    between = [
        span
        for span in spans
        if a < span.since <= b or (span.until is not None and a < span.until <= b)
    ]
    assert differences(between, before=a, after=b) == differences(spans, before=a, after=b)


@given(STATES, STATES)
def test_differences_backwards_are_the_differences_turned_around(one, other):
    spans = replay([one, other])
    forth = differences(spans, before=1, after=2)
    back = differences(spans, before=2, after=1)
    assert back == [Difference(q, d, after, before) for q, d, before, after in forth]


def test_a_plan_that_changes_nothing_is_empty():
    current = {(1, 1): Current(7, 3, {"votes": {"3": 2}})}
    assert plan_commit({(1, 1): Wanted(3, None), (1, 2): Wanted(None, {})}, current).is_empty
