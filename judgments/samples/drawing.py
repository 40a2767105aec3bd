"""Drawing queries from the blocks of a frame: the same from the same seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgments.models import SampledQuery, SamplePlan, TrafficFrame
from judgments.samples.designs import sample_digest, strata_of
from judgments.traffic.packing import BLOCK, unpack_searches, unpack_segments, unpack_texts
from touchstone.files.reading import Progress
from touchstone.sampling.designs import Rows, draw
from touchstone.sampling.estimation import Floats
from touchstone.sampling.frames import random_numbers, text_digests
from touchstone.sampling.traffic import Int64s


@dataclass(frozen=True, eq=False)
class Drawn:
    """Queries, in the order of their texts. rows: in the frame; stratum: a place in the design's.

    texts: in UTF-8. segments: by name.
    """

    rows: Rows
    stratum: Rows
    pi: Floats
    searches: Int64s
    texts: list[bytes]
    segments: list[str]

    def digest(self, *, frame: str, seed: int, design: Mapping[str, Any]) -> str:
        """`sample_digest` of these."""
        return sample_digest(
            frame=frame,
            seed=seed,
            design=design,
            texts=text_digests(self.texts),
            strata=self.stratum,
            pi=self.pi,
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """Of every query of a frame, in its order: random numbers by a seed, and searches."""

    random: Floats
    searches: Int64s


def read_numbers(frame: TrafficFrame, seed: int, progress: Progress | None = None) -> Numbers:
    """Read a frame a block at a time. progress: called with the number of queries read so far."""
    random, searches = np.empty(frame.queries), np.empty(frame.queries, np.int64)
    for position, texts, counts in (
        frame.blocks.order_by("position")
        .values_list("position", "texts", "searches")
        .iterator(chunk_size=1)
    ):
        own = slice(position * BLOCK, (position + 1) * BLOCK)
        random[own] = random_numbers(unpack_texts(bytes(texts)), seed)
        searches[own] = unpack_searches(bytes(counts))
        if progress is not None:
            progress(position * BLOCK)
    return Numbers(random, searches)


def draw_queries(frame: TrafficFrame, design: Mapping[str, Any], numbers: Numbers) -> Drawn:
    """What a seed draws. design: as `Allocated.as_json` has it. numbers: of the frame by the seed.

    Reads the texts of the blocks that have a drawn query.
    """
    random, searches = numbers.random, numbers.searches
    stratum = strata_of(design).codes(searches)
    n = np.array([row["n"] for row in design["strata"]])
    sizes = searches.astype(np.float64) if design["by_size"] else None
    rows, pi = draw(random, stratum, n, sizes=sizes)
    texts_of, segments_of = _read_rows(frame, np.sort(rows))
    by_text = sorted(range(len(rows)), key=lambda place: texts_of[int(rows[place])])
    rows, pi = rows[by_text], pi[by_text]
    return Drawn(
        rows,
        stratum[rows].astype(np.int64),
        pi,
        searches[rows],
        [texts_of[row] for row in rows.tolist()],
        [segments_of[row] for row in rows.tolist()],
    )


def _read_rows(frame: TrafficFrame, rows: Rows) -> tuple[dict[int, bytes], dict[int, str]]:
    """The text and the segment of each of these rows, which rise."""
    texts, segments = {}, {}
    wanted = np.unique(rows // BLOCK).tolist()
    blocks = frame.blocks.filter(position__in=wanted).order_by("position")
    for position, packed, codes in blocks.values_list("position", "texts", "segments").iterator(
        chunk_size=1
    ):
        held = unpack_texts(bytes(packed))
        own = unpack_segments(bytes(codes), len(held))
        for row in rows[rows // BLOCK == position].tolist():
            texts[row] = held[row - position * BLOCK]
            segments[row] = frame.segments[int(own[row - position * BLOCK])]
    return texts, segments


def is_reproduced(plan: SamplePlan) -> bool:
    """Whether the seed draws the stored queries, with the stored probabilities, to the last bit."""
    drawn = draw_queries(plan.frame, plan.design, read_numbers(plan.frame, plan.seed))
    stored = SampledQuery.objects.filter(plan=plan).order_by("pk")
    rows = list(stored.values_list("row", "stratum", "pi", "searches"))
    again = zip(
        drawn.rows.tolist(),
        drawn.stratum.tolist(),
        drawn.pi.tolist(),
        drawn.searches.tolist(),
        strict=True,
    )
    digest = drawn.digest(frame=plan.frame.digest, seed=plan.seed, design=plan.design)
    return rows == list(again) and digest == plan.digest
