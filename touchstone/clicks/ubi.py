"""User Behavior Insights (UBI 1.3.0): events and query records as NDJSON, or in bulk form.

Source: the schemas `event` and `query.request` of o19s/ubi.
"""

import json
import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeGuard

import numpy as np

from touchstone.clicks.events import APPLICATION, IS_CLICK, WIDTH
from touchstone.clicks.ledger import MOST_RANK, Outcome
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.records import Record, read_records
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.reading import Progress, Source

# Numbers of events (of WIDTH each) after which they are counted.
BLOCK: Final = WIDTH << 17
LATEST: Final = 253_402_300_799_999  # milliseconds, the end of the year 9999
# Lines of OpenSearch's bulk form: whether the next one is then a record that is new.
BULK_ACTIONS: Final = {"index": True, "create": True, "update": False, "delete": False}


@dataclass(frozen=True)
class Actions:
    """The names of the two events that are evidence, as an application may call them."""

    impressions: tuple[str, ...] = ("impression",)
    clicks: tuple[str, ...] = ("click",)


USUAL_ACTIONS: Final = Actions()


def read_ubi(
    sources: Sequence[tuple[Source, str]],
    builder: LogBuilder,
    *,
    actions: Actions = USUAL_ACTIONS,
    progress: Progress | None = None,
) -> None:
    """Add the records of files, gzipped or not, to a builder.

    sources: each with the name that problems are reported under.
    Raises FileRefused with every line of a file that breaks a rule.
    """
    for source, name in sources:
        problems = Problems(name)
        reader = _Reader(builder, actions, problems)
        for first, records in read_records(source, problems, progress):
            reader.take(first, records)
        reader.flush()
        problems.raise_if_any()


class _Reader:
    """Turns the records of one file into the builder's integers."""

    def __init__(self, builder: LogBuilder, actions: Actions, problems: Problems) -> None:
        self.builder = builder
        self.problems = problems
        self.names = (*actions.impressions, *actions.clicks)
        self.is_click = np.array([0] * len(actions.impressions) + [1] * len(actions.clicks))
        self.actions = {name: code for code, name in enumerate(self.names)}
        self.events = array("q")

    def take(self, first: int, records: Sequence[Record | None]) -> None:
        """The records on the lines from `first` on.

        Usual events, which are nearly all, go through this one loop; `_unusual` looks closely at
        the others.
        """
        actions, applications = self.actions, self.builder.applications
        queries, documents = self.builder.queries, self.builder.documents
        extend = self.events.extend
        for number, record in enumerate(records, start=first):
            if record is None:
                continue
            try:
                action = actions[record["action_name"]]
                attributes = record["event_attributes"]
                document = attributes["object"]["object_id"]
                rank = attributes["position"]["ordinal"]
                application = applications[record["application"]]
                query = queries[record["user_query"]]
                query_id, time = record["query_id"], record["timestamp"]
                code = documents[document]
                get = record.get
                page = (get("client_id"), get("session_id"), query_id, time)
                identity = hash((action, application, query, code, rank, page))
            except (KeyError, TypeError):
                self._unusual(number, record)
                continue
            if type(rank) is int and 0 <= rank <= MOST_RANK and type(query_id) is str:
                extend((action, application, query, code, rank, hash(query_id), identity, 0))
            else:
                self._unusual(number, record)
        if len(self.events) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        """Hand over what was read."""
        # a copy: while an array's memory is looked at, it can't grow
        events = np.array(self.events, dtype=np.int64).reshape(-1, WIDTH)
        del self.events[:]
        for action, name in enumerate(self.names):
            owners = np.bincount(events[events[:, IS_CLICK] == action, APPLICATION])
            for application in np.flatnonzero(owners).tolist():
                self.builder.count_action(application, name, int(owners[application]))
        events[:, IS_CLICK] = self.is_click[events[:, IS_CLICK]]
        self.builder.add(events)

    def _unusual(self, number: int, record: Record) -> None:
        """A record that is new in some way, or wrong, or no impression or click."""
        source = record.get("_source")
        if isinstance(source, dict):  # a search hit
            self.take(number, [source])
        elif "action_name" in record:
            self._checked(number, self._event, record)
        elif len(record) == 1 and next(iter(record)) in BULK_ACTIONS:
            if not BULK_ACTIONS[next(iter(record))]:
                message = "a bulk request that changes or deletes; only index and create are read."
                self.problems.add(number, Rule.FIELD, message)
        else:
            self._checked(number, self._query, record)

    def _checked(self, number: int, read: Callable[[Record], None], record: Record) -> None:
        try:
            read(record)
        except _BadFieldError as bad:
            self.problems.add(number, Rule.FIELD, str(bad))

    def _query(self, record: Record) -> None:
        if "query_id" not in record:
            raise _BadFieldError("neither an event (action_name) nor a query (query_id).")
        application = self._application(record)
        query_id, text = _text(record, "query_id"), _text(record, "user_query")
        if not query_id or text is None:
            self.builder.count(application, Outcome.QUERY_WITHOUT_TEXT)
            return
        queries = self.builder.queries
        self.builder.query_records.add(
            hash(query_id),
            queries.setdefault(text, len(queries)),
            milliseconds(record.get("timestamp")),
            application,
        )

    def _event(self, record: Record) -> None:
        name, application = _text(record, "action_name"), self._application(record)
        if name is None:
            raise _BadFieldError("the action_name is null.")
        action = self.actions.get(name)
        if action is None:
            self.builder.count(application, Outcome.OTHER_ACTION)
            self.builder.count_action(application, name)
            return
        attributes = _object(record, "event_attributes")
        document = _text(_object(attributes, "object"), "object_id")
        rank = _rank(_object(attributes, "position"))
        text, query_id = _text(record, "user_query"), _text(record, "query_id")
        time = record.get("timestamp")
        moment = milliseconds(time)
        lack = _lack(document, rank)
        if lack is not None or document is None or rank is None:
            self.builder.count(application, lack or Outcome.NO_DOCUMENT)
            self.builder.count_action(application, name)
            return
        queries, documents = self.builder.queries, self.builder.documents
        query = -1 if text is None else queries.setdefault(text, len(queries))
        code = documents.setdefault(document, len(documents))
        identity = 0
        if time is not None:
            page = (record.get("client_id"), record.get("session_id"), query_id, time)
            identity = hash((action, application, query, code, rank, page))
        key = hash(query_id) if query_id else 0
        self.events.extend((action, application, query, code, rank, key, identity, moment))

    def _application(self, record: Record) -> int:
        applications = self.builder.applications
        return applications.setdefault(_text(record, "application") or "", len(applications))


class _BadFieldError(Exception):
    """A field is not what it must be; the message is a sentence."""


def _lack(document: str | None, rank: int | None) -> Outcome | None:
    """Why an event is no evidence."""
    if not document:
        return Outcome.NO_DOCUMENT
    if rank is None:
        return Outcome.NO_RANK
    return Outcome.RANK_TOO_LARGE if rank > MOST_RANK else None


def _object(record: Record, key: str) -> Record:
    result = record.get(key)
    if result is None:
        return {}
    if not isinstance(result, dict):
        raise _BadFieldError(f"{key} is {_shown(result)}, not an object.")
    return result


def _text(record: Record, key: str) -> str | None:
    """A string, or a whole number as one; None where there is none."""
    result = record.get(key)
    if isinstance(result, int) and not isinstance(result, bool):
        return str(result)
    if result is not None and not isinstance(result, str):
        raise _BadFieldError(f"{key} is {_shown(result)}, not a text.")
    return result


def _rank(position: Record) -> int | None:
    result = position.get("ordinal")
    if result is None:
        return None
    if not _is_finite(result) or result != int(result):
        raise _BadFieldError(f"position.ordinal is {_shown(result)}, not a whole number.")
    if result < 0:
        raise _BadFieldError(f"position.ordinal is {_shown(result)}, less than 0.")
    return int(result)


def _is_finite(value: object) -> TypeGuard[int | float]:
    """Whether it is a number; 1e400 is read as infinity."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def milliseconds(time: object) -> int:
    """The moment of a timestamp: ISO 8601 (UTC unless it says otherwise) or milliseconds; 0: none.

    Raises _BadFieldError for anything else.
    """
    if time is None:
        return 0
    if _is_finite(time) and abs(time) <= LATEST:
        return int(time)
    try:
        moment = datetime.fromisoformat(str(time))
    except ValueError:
        raise _BadFieldError(f"timestamp is {_shown(time)}, not a time in ISO 8601.") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def _shown(value: object) -> str:
    return quoted(json.dumps(value, ensure_ascii=False))
