"""Logs in UBI's form: what each record counts as, and what is refused."""

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.clicks.logs import event, query, read, rows, written
from touchstone.clicks.ledger import DESCRIPTIONS, Outcome
from touchstone.clicks.log import ClickLog, LogBuilder
from touchstone.clicks.ubi import Actions, read_ubi
from touchstone.files.errors import FileRefused


def outcomes(log: ClickLog) -> dict[str, int]:
    """The classes that have records."""
    return {outcome.key: log.ledger[outcome] for outcome in Outcome if log.ledger[outcome]}


def test_impressions_and_clicks_are_counted_by_query_document_and_rank(tmp_path: Path) -> None:
    log = read(
        written(
            tmp_path / "log",
            [
                event(query_id="1"),
                event(query_id="2"),
                event(query_id="2", rank=2),
                event("click", query_id="2"),
                event("click", query_id="3", document="d2"),
                event(query_id="3", query="shirts"),
            ],
        )
    )
    assert rows(log) == {
        ("shoes", "d1", 1): (2, 1),
        ("shoes", "d1", 2): (1, 0),
        ("shoes", "d2", 1): (0, 1),
        ("shirts", "d1", 1): (1, 0),
    }
    assert outcomes(log) == {"impression": 4, "click": 1, "click_without_impression": 1}


RECORDS: dict[str, dict[str, Any]] = {
    "query": query("shoes", "q9"),
    "query_without_text": {"query_id": "q8"},
    "other_action": event("add_to_cart"),
    "no_document": {**event(), "event_attributes": None},
    "no_rank": event(rank=None),
    "rank_too_large": event(rank=10_001),
    "no_query": event(query=None, query_id=None),
    "query_unknown": event(query=None, query_id="unknown"),
    "joinable": event("click", query=None, query_id="q9"),
    "impression": event(),
    "click_without_impression": event("click", document="never shown"),
}


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_record_is_in_its_class(name: str, tmp_path: Path) -> None:
    records = [RECORDS["query"], RECORDS[name]] if name == "joinable" else [RECORDS[name]]
    found = outcomes(read(written(tmp_path / "log", records)))
    assert found == dict.fromkeys({"query", name} if name == "joinable" else {name}, 1)


@given(st.lists(st.sampled_from(sorted(RECORDS)), max_size=40), st.booleans())
def test_the_ledger_has_every_record_exactly_once(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], join: bool
) -> None:
    path = tmp_path_factory.mktemp("logs") / "log"
    log = read(written(path, (RECORDS[name] for name in names)), join=join)
    assert sum(outcomes(log).values()) == log.ledger.records == len(names)
    queries = sum(name.startswith("query_w") or name == "query" for name in names)
    assert log.ledger.events == len(names) - queries
    clicks = {
        "click",
        "click_without_impression",
        "click_joined",
        "click_joined_without_impression",
    }
    assert log.evidence.clicks.sum() == sum(outcomes(log).get(name, 0) for name in clicks)


def test_every_class_is_described() -> None:
    assert set(DESCRIPTIONS) == set(Outcome)


def test_an_event_that_is_there_again_is_a_duplicate(tmp_path: Path) -> None:
    first = event(timestamp="2024-12-10T00:00:00Z", client_id="c", session_id="s", application="a")
    same = {**first, "message": "sent again"}
    others: list[dict[str, Any]] = [
        {**first, "timestamp": "2024-12-10T00:00:01Z"},
        {**first, "client_id": "d"},
        {**first, "session_id": "t"},
        {**first, "action_name": "click"},
        {**first, "user_query": "shirts"},
        {**first, "application": "b"},
        event(timestamp="2024-12-10T00:00:00Z", client_id="c", session_id="s", query_id="q2"),
    ]
    log = read(written(tmp_path / "log", [first, *others, same]))
    assert outcomes(log)["duplicate"] == 1
    assert log.ledger.records == 9


def test_events_without_a_time_are_never_duplicates(tmp_path: Path) -> None:
    log = read(written(tmp_path / "log", [event(), event()]))
    assert outcomes(log) == {"impression": 2}


def test_reading_a_log_twice_adds_duplicates_and_no_evidence(tmp_path: Path) -> None:
    rng = random.Random(3)
    records = [
        event(
            rng.choice(("impression", "click")),
            query=rng.choice(("a", "b", None)),
            rank=rng.randrange(3),
            query_id=f"q{rng.randrange(9)}",
            timestamp=number,
        )
        for number in range(500)
    ]
    path = written(tmp_path / "log", [query("c", "q1", at=0), *records])
    once, twice = read(path, join=True), read(path, join=True, times=2)
    assert rows(once) == rows(twice)
    assert twice.ledger[Outcome.DUPLICATE] == 500
    assert twice.ledger[Outcome.QUERY_REPEATED] == 1


def test_a_text_is_joined_as_it_was_when_the_event_came(tmp_path: Path) -> None:
    records = [
        event(query=None, query_id="q", timestamp="2024-01-01T00:00:05Z", document="before"),
        query("sho", "q", at="2024-01-01T00:00:10Z"),
        query("shoes", "q", at="2024-01-01T01:00:20+01:00"),
        event(query=None, query_id="q", timestamp=1704067215000, document="between"),
        event(query=None, query_id="q", timestamp="2024-01-01T00:00:20.000Z", document="then"),
        event("click", query=None, query_id="q", timestamp="2025-01-01T00:00:00", document="then"),
        event("click", query=None, query_id="q", timestamp="2025-01-01", document="other"),
    ]
    path = written(tmp_path / "log", records)
    log = read(path, join=True)
    assert rows(log) == {
        ("sho", "before", 1): (1, 0),
        ("sho", "between", 1): (1, 0),
        ("shoes", "then", 1): (1, 1),
        ("shoes", "other", 1): (0, 1),
    }
    assert outcomes(log) == {
        "query": 1,
        "query_repeated": 1,
        "impression_joined": 3,
        "click_joined": 1,
        "click_joined_without_impression": 1,
    }
    assert len(read(path).evidence) == 0


def test_bulk_form_search_hits_and_gzip_are_read(tmp_path: Path) -> None:
    records = [event(query_id=f"q{number}", timestamp=number) for number in range(5)]
    plain = written(tmp_path / "plain", records)
    lines = [({"index": {"_index": "ubi_events", "_id": str(n)}}, r) for n, r in enumerate(records)]
    bulk = written(tmp_path / "bulk", [line for pair in lines for line in pair])
    hits = written(tmp_path / "hits", [{"_index": "i", "_id": "1", "_source": r} for r in records])
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(bulk.read_bytes()))
    expected = rows(read(plain))
    for path in (bulk, hits, packed):
        assert rows(read(path)) == expected
        assert read(path).ledger.records == 5


def test_numbers_may_be_ids_and_whole_floats_may_be_ranks(tmp_path: Path) -> None:
    log = read(written(tmp_path / "log", [event(document=7, rank=2.0, query_id="1")]))
    assert rows(log) == {("shoes", "7", 2): (1, 0)}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (event(rank="3"), 'field: position.ordinal is “"3"”, not a whole number.'),
        (event(rank=-1), "field: position.ordinal is “-1”, less than 0."),
        (event(rank=1.5), "field: position.ordinal is “1.5”, not a whole number."),
        (event(rank=True), "field: position.ordinal is “true”, not a whole number."),
        (event(document=["d"]), 'field: object_id is “["d"]”, not a text.'),
        (event(timestamp=10**18), "field: timestamp is “1000000000000000000”, not a time"),
        (event(timestamp="yesterday"), 'field: timestamp is “"yesterday"”, not a time'),
        ({"action_name": None}, "field: the action_name is null."),
        ({"action_name": []}, "field: action_name is “[]”, not a text."),
        ({"message": "?"}, "field: neither an event (action_name) nor a query (query_id)."),
        ({"delete": {}}, "field: a bulk request that changes or deletes"),
        ({**event(), "user_query": 1.5}, "field: user_query is “1.5”, not a text."),
        ({**event(), "event_attributes": 3}, "field: event_attributes is “3”, not an object."),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_rule(
    record: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "some.ndjson", [event(query_id="a"), record, event(query_id="b")])
    with pytest.raises(FileRefused) as refused:
        read(path)
    assert str(refused.value).startswith(f"some.ndjson:2: {message}")


INFINITE = (
    '{{"action_name": "click", "query_id": "a", "timestamp": {time},'
    ' "event_attributes": {{"position": {{"ordinal": {rank}}}, "object": {{"object_id": "d"}}}}}}'
)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("{", "json"),
        ("[1]", "json"),
        ('{"a": 1}, {"b": 2}', "json"),
        ('{"a": NaN}', "number"),
        (INFINITE.format(rank="1e400", time="1"), "field"),
        (INFINITE.format(rank="1", time="1e400"), "field"),
        (INFINITE.format(rank="1", time="1e300"), "field"),
        ('{"action_name": "\\u0000"}', "nul"),
        ('{"action_name": "\\ud800"}', "surrogate"),
        ("{" * 5000, "depth"),
        ('{"a":' * 30 + "1" + "}" * 30, "field"),
    ],
)
def test_a_line_that_is_no_object_is_refused(line: str, rule: str, tmp_path: Path) -> None:
    path = tmp_path / "some.ndjson"
    path.write_text(f"{json.dumps(event())}\n\n{line}\n")
    with pytest.raises(FileRefused) as refused:
        read(path)
    assert [(one.line, one.rule) for one in refused.value.problems] == [(3, rule)]


def test_objects_split_over_lines_are_not_put_together(tmp_path: Path) -> None:
    path = tmp_path / "some.ndjson"
    path.write_text('{"a": [{}\n{}]}\n{}, {}\n')
    with pytest.raises(FileRefused) as refused:
        read(path)
    assert {one.line for one in refused.value.problems} == {1, 2, 3}


def test_the_smallest_rank_of_each_application_says_where_it_counts_from(tmp_path: Path) -> None:
    records = [
        event(application="zero", rank=0),
        event(application="one", rank=1),
        event(application="late", rank=4),
        event("search", application="none"),
        event(),
    ]
    ledger = read(written(tmp_path / "log", records)).ledger
    assert {one.name: (one.smallest_rank, one.rank_base) for one in ledger.applications} == {
        "zero": (0, 0),
        "one": (1, 1),
        "late": (4, None),
        "none": (None, None),
        "": (1, 1),
    }


def test_other_names_can_be_impressions_and_clicks(tmp_path: Path) -> None:
    names = ("view", "item_view", "tap", "search")
    path = written(tmp_path / "log", [event(name, query_id=name) for name in names])
    builder = LogBuilder()
    read_ubi([(path, "log")], builder, actions=Actions(("view", "item_view"), ("tap",)))
    log = builder.log(join=False)
    assert rows(log) == {("shoes", "d1", 1): (2, 1)}
    assert log.ledger.applications[0].actions == dict.fromkeys(names, 1)


def test_many_blocks_count_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    records = [
        event(
            rng.choice(("impression", "click")),
            document=f"d{rng.randrange(20)}",
            rank=rng.randrange(4),
            timestamp=rng.randrange(200),
        )
        for _ in range(3000)
    ]
    keys = {
        (
            one["action_name"],
            one["event_attributes"]["object"]["object_id"],
            one["event_attributes"]["position"]["ordinal"],
            one["timestamp"],
        )
        for one in records
    }
    expected = Counter(key[:3] for key in keys)
    monkeypatch.setattr("touchstone.clicks.ubi.BLOCK", 8 * 50)
    monkeypatch.setattr("touchstone.clicks.evidence.FEWEST_BUFFERED", 16)
    monkeypatch.setattr("touchstone.files.reading.BLOCK", 4096)
    log = read(written(tmp_path / "log", records))
    assert log.ledger[Outcome.DUPLICATE] == 3000 - len(keys)
    assert rows(log) == {
        ("shoes", document, rank): (
            expected["impression", document, rank],
            expected["click", document, rank],
        )
        for _, document, rank in expected
    }
