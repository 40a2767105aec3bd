"""Result pages of a log that does not fit into memory, counted for each pair and position."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.clicks.events import APPLICATION
from touchstone.clicks.evidence import Evidence, EvidenceBuilder
from touchstone.clicks.log import ClickLog
from touchstone.clicks.sessions import FEWEST_RESULTS, MOST_RESULTS, Sessions, pages

MOST_SAMPLED: Final = 100_000


@dataclass(frozen=True)
class PageCounts:
    """An application's result pages. rank_base: the rank of a first result.

    dropped: how many were left out, by the reason. sample: the pages, or about MOST_SAMPLED of
    them, by a hash of their query ids.
    """

    pages: int
    rank_base: int
    dropped: Mapping[str, int]
    sample: Sessions


def count_pages(
    log: ClickLog,
    bases: Mapping[int, int],
    *,
    fewest: int = FEWEST_RESULTS,
    most: int = MOST_RESULTS,
) -> tuple[Evidence, dict[int, PageCounts]]:
    """What `find_sessions` would find of each application, as `Sessions.evidence` counts it.

    bases: the rank of a first result, by the application's code; others have no pages.
    """
    sizes = (len(log.applications), len(log.queries), len(log.documents), most + 1)
    builder = EvidenceBuilder(sizes)
    numbers: Counter[int] = Counter()
    sampled: dict[int, list[Sessions]] = {code: [] for code in bases}
    dropped: dict[int, Counter[str]] = {code: Counter() for code in bases}
    for part in log.events:
        for code, base in bases.items():
            own = part[part[:, APPLICATION] == code]
            sessions, left_out = pages(own, base, fewest=fewest, most=most)
            key = (
                np.full_like(sessions.query, code),
                sessions.query,
                sessions.document,
                sessions.position,
            )
            builder.add(key, np.ones_like(sessions.query), sessions.click.astype(np.int64))
            if numbers[code] < MOST_SAMPLED:
                sampled[code].append(sessions)
            numbers[code] += len(sessions)
            dropped[code].update(left_out)
    found = {
        code: PageCounts(numbers[code], base, dict(dropped[code]), Sessions.joined(sampled[code]))
        for code, base in bases.items()
    }
    return builder.table(), found
