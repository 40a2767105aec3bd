"""What the demo asks: questions that programmers really have, in their own words.

Questions that the standard library has no answer to are left out. A description says what a good
answer shows; it is what a judge goes by.
"""

import csv
from pathlib import Path
from typing import Final, NamedTuple

QUERIES_FILE: Final = Path(__file__).with_name("queries.tsv")


class DemoQuery(NamedTuple):
    """One information need. `weight` is how often it is asked, relative to the others."""

    qid: str
    segment: str
    weight: float
    text: str
    description: str


def demo_queries(path: Path = QUERIES_FILE) -> tuple[DemoQuery, ...]:
    """The queries in the file's order. Raises ValueError for a line of another form."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if tuple(rows[0]) != DemoQuery._fields:
        raise ValueError(f"{path.name}:1: the columns are {', '.join(DemoQuery._fields)}")
    return tuple(
        DemoQuery(qid, segment, float(weight), text, description)
        for qid, segment, weight, text, description in rows[1:]
    )


QUERIES: Final = demo_queries()
