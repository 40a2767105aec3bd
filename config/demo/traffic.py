"""How often the demo's questions are asked: made up, and called simulated wherever it is shown."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from config.demo.queries import DemoQuery
from touchstone.sampling.traffic import TrafficBlock

NAME: Final = "Simulated traffic"
MOST: Final = 24_000  # searches of the most frequent question
EXPONENT: Final = 1.1  # of the rank


def simulated_traffic(queries: Iterable[DemoQuery]) -> TrafficBlock:
    """Searches that fall off with the rank; questions with larger weights come first."""
    ordered = sorted(enumerate(queries), key=lambda one: (-one[1].weight, one[0]))
    texts = [query.text.encode() for _, query in ordered]
    searches = np.round(MOST / np.arange(1, len(texts) + 1) ** EXPONENT).astype(np.int64)
    segments = [query.segment for _, query in ordered]
    return TrafficBlock(range(1, len(texts) + 1), texts, searches, segments)
