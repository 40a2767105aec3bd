"""Where events wait: a log is the same from files as from memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.touchstone.clicks.logs import event, query, rows, written
from touchstone.clicks import events
from touchstone.clicks.events import WIDTH, EventBuckets, EventStore, MemoryEvents
from touchstone.clicks.log import ClickLog, LogBuilder
from touchstone.clicks.ubi import read_ubi


def log_of(path: Path, store: EventStore, *, join: bool) -> ClickLog:
    builder = LogBuilder(store)
    read_ubi([(path, "log")], builder)
    return builder.log(join=join)


RECORDS = st.lists(
    st.builds(
        event,
        st.sampled_from(["impression", "click"]),
        query=st.sampled_from(["shoes", "lamps", None]),
        document=st.sampled_from(["d1", "d2"]),
        rank=st.integers(1, 2),
        query_id=st.sampled_from(["a", "b", "c", None]),
        timestamp=st.sampled_from([1, 2, None]),
    ),
    max_size=40,
)


@contextmanager
def few_buckets() -> Iterator[EventBuckets]:
    """A fiftieth of the files, which are most of what a short log costs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "BUCKETS", 5)
        with EventBuckets() as buckets:
            yield buckets


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=RECORDS, join=st.booleans())
def test_a_log_from_files_is_the_one_from_memory(
    tmp_path: Path, records: list[dict[str, object]], *, join: bool
) -> None:
    path = written(tmp_path / "log", [*records, query("shoes", "a", at=1), query("hats", "b")])
    with few_buckets() as buckets:
        log, other = (log_of(path, store, join=join) for store in (buckets, MemoryEvents()))
        assert log.ledger == other.ledger
        assert rows(log) == rows(other)
        own, others = (sorted(np.concatenate(list(one.events)).tolist()) for one in (log, other))
        assert own == others
    assert log.ledger.records == len(records) + 2


def test_events_of_a_query_id_stay_together_and_in_their_order() -> None:
    rng = np.random.default_rng(1)
    own = rng.integers(0, 100, size=(2000, WIDTH))
    own[:, 5] -= 50  # query ids are hashes, below 0 too
    own[:, 7] = np.arange(2000)
    with EventBuckets() as buckets:
        buckets.append(own[:700])
        buckets.append(own[700:])
        parts = [part for part in buckets if len(part)]
    assert len(parts) > 50
    assert sum(map(len, parts)) == 2000
    found = [set(part[part[:, 5] != 0, 5].tolist()) for part in parts]
    assert sum(map(len, found)) == len(set.union(*found))
    for part in parts:
        assert (np.diff(part[:, 7]) > 0).all()
        assert np.array_equal(part, own[part[:, 7]])
