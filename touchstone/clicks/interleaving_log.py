"""Interleaved result pages in UBI's form: which ranker gets the credit for each click.

Impressions, clicks or both say it in `event_attributes.interleaving`, since UBI has no field for
it: `{"team": "A"}`, the ranker that put the document there, or what a click gives to each ranker,
`{"credits": {"A": 0.5, "B": 0.25}}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.records import Record, read_records
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions
from touchstone.errors import DomainError
from touchstone.files.errors import Problems, Rule
from touchstone.files.reading import Progress, Source

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class InterleavingError(DomainError):
    """The log's rankers can't be compared."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_interleaving", message)


@dataclass(frozen=True)
class InterleavingLog:
    """Clicked pages, one entry each. rankers: the two names, in the order of their credits.

    credits: (pages, 2). users: (pages,), codes of client ids; a page without one is a user.
    pages: all that were interleaved, clicked or not. without_credit: clicks that nothing says
    the credit of.
    """

    rankers: tuple[str, str]
    credits: Floats
    users: Ints
    pages: int
    without_credit: int


class InterleavingReader:
    """Takes files of one log. Each click of a page on a document counts once."""

    def __init__(self, actions: Actions = USUAL_ACTIONS) -> None:
        self._kinds = dict.fromkeys(actions.impressions, 0) | dict.fromkeys(actions.clicks, 1)
        self._credits: dict[tuple[int, int], tuple[tuple[str, float], ...]] = {}
        self._known: dict[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]] = {}
        self._clicks: dict[tuple[int, int], None] = {}
        self._pages: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._users: dict[int, str] = {}

    def read(self, source: Source, *, name: str, progress: Progress | None = None) -> None:
        """Add a file. Raises FileRefused with every line that breaks a rule."""
        problems = Problems(name)
        for first, records in read_records(source, problems, progress):
            for line, record in enumerate(records, start=first):
                if record is not None:
                    self._take(line, record, problems)
        problems.raise_if_any()

    def _take(self, line: int, record: Record, problems: Problems) -> None:
        source = record.get("_source")
        event = source if isinstance(source, dict) else record
        action, query_id = event.get("action_name"), event.get("query_id")
        kind = self._kinds.get(action) if isinstance(action, str) else None
        attributes = event.get("event_attributes")
        if kind is None or not isinstance(query_id, str) or not isinstance(attributes, dict):
            return
        shown = attributes.get("object")
        document = shown.get("object_id") if isinstance(shown, dict) else None
        if not isinstance(document, str | int) or isinstance(document, bool):
            return
        page = self._pages.setdefault(query_id, len(self._pages))
        key = (page, self._documents.setdefault(str(document), len(self._documents)))
        said = attributes.get("interleaving")
        if said is not None:
            given = _credits(said)
            if given is None:
                message = "event_attributes.interleaving has neither a team nor credits by ranker."
                problems.add(line, Rule.FIELD, message)
                return
            self._credits[key] = self._known.setdefault(given, given)
        client = event.get("client_id")
        if isinstance(client, str):
            self._users.setdefault(page, client)
        if kind:
            self._clicks[key] = None

    def log(self, rankers: Sequence[str] | None = None) -> InterleavingLog:
        """All that was read. rankers: two names, the first of which delta is about.

        Raises InterleavingError where the log does not have exactly these two, or two.
        """
        names = sorted({ranker for given in self._known for ranker, _ in given})
        chosen = names if rankers is None else list(rankers)
        if len(chosen) != 2 or not set(names) <= set(chosen):
            said = ", ".join(names) or "none"
            raise InterleavingError(f"Two rankers are compared; the log has {said}.")
        totals: dict[int, list[float]] = {}
        without = 0
        for key in self._clicks:
            given = self._credits.get(key)
            if given is None:
                without += 1
                continue
            own = totals.setdefault(key[0], [0.0, 0.0])
            for ranker, credit in given:
                own[chosen.index(ranker)] += credit
        users: dict[str | int, int] = {}
        codes = [users.setdefault(self._users.get(page, page), len(users)) for page in totals]
        return InterleavingLog(
            rankers=(chosen[0], chosen[1]),
            credits=np.array(list(totals.values()), dtype=np.float64).reshape(-1, 2),
            users=np.array(codes, dtype=np.int64),
            pages=len({page for page, _ in self._credits}),
            without_credit=without,
        )


def _credits(said: Any) -> tuple[tuple[str, float], ...] | None:
    """(ranker, credit) of a click, by name; None for what says neither."""
    if not isinstance(said, Mapping):
        return None
    if isinstance(said.get("team"), str):
        return ((said["team"], 1.0),)
    given = said.get("credits")
    if not isinstance(given, Mapping) or not given:
        return None
    for credit in given.values():
        if isinstance(credit, bool) or not isinstance(credit, int | float):
            return None
    return tuple(sorted((str(ranker), float(credit)) for ranker, credit in given.items()))
