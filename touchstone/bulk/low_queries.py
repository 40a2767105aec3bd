"""The queries with the lowest values, as plain values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LowDocument:
    """A document of a ranking. grade: None where it is not judged."""

    doc_id: str
    grade: float | None


@dataclass(frozen=True)
class LowQuery:
    """A query and its value of one measure. ranked: how many documents it has; the first follow."""

    query: str
    segment: str
    value: float
    ranked: int
    documents: tuple[LowDocument, ...]


@dataclass(frozen=True)
class Lowest:
    """The lowest values of a measure among `queries` queries that are in its mean."""

    measure: str
    queries: int
    lowest: tuple[LowQuery, ...]
