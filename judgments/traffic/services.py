"""Importing a traffic log as a frame."""

import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, Final

import numpy as np
from django.db import transaction
from django.utils import timezone

from judgments.audit import services as audit
from judgments.collections.logs import create_log
from judgments.jobs.kinds import Work
from judgments.models import Collection, JudgmentList, TrafficBlock, TrafficFrame, User
from judgments.permissions import Access, check_may_lead
from judgments.traffic.packing import BLOCK, pack_histogram, pack_numbers, pack_texts
from touchstone.errors import DomainError
from touchstone.files.errors import Problems, Rule
from touchstone.sampling.frames import digest_of, repeated_rows, text_digests
from touchstone.sampling.traffic import Concentration, Int64s, read_traffic
from touchstone.sampling.traffic import TrafficBlock as ReadBlock

MOST_SEGMENTS: Final = 10_000


class TrafficRefused(DomainError):
    """The traffic can't be stored like this."""


@dataclass(frozen=True)
class _Packed:
    """A block in the temporary file: how many bytes each part has."""

    texts: int
    searches: int
    segments: int


class _FrameBuilder:
    """Packs the queries of a log into blocks, in a file; keeps 30 bytes a query besides."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.problems = Problems(name)
        self.file = file
        self.packed: list[_Packed] = []
        self.digests = bytearray()
        self.searches = array("q")
        self.codes: dict[str, int] = {}
        self.segments = array("H")
        self.texts: list[bytes] = []  # of the block that is not yet full
        self.lines: list[Sequence[int]] = []
        self.firsts: list[int] = []  # the first row of each part that was read

    def add(self, block: ReadBlock) -> None:
        self.firsts.append(len(self.searches))
        self.lines.append(block.lines)
        self.digests += text_digests(block.texts)
        self.searches.frombytes(block.searches.tobytes())
        self._add_segments(block)
        self.texts += block.texts
        while len(self.texts) >= BLOCK:
            self._write()

    def _add_segments(self, block: ReadBlock) -> None:
        for segment in sorted(set(block.segments) - self.codes.keys()):
            if len(segment) > 200 or len(self.codes) == MOST_SEGMENTS:
                message = f"at most {MOST_SEGMENTS:,} segments of up to 200 characters are allowed"
                raise self.problems.stop(block.lines[0], Rule.TOO_MUCH, f"{message}.")
            self.codes[segment] = len(self.codes)
        self.segments.extend(map(self.codes.__getitem__, block.segments))

    def _write(self) -> None:
        start = len(self.packed) * BLOCK
        own, self.texts = self.texts[:BLOCK], self.texts[BLOCK:]
        searches = np.frombuffer(self.searches[start : start + len(own)], np.int64)
        segments = np.frombuffer(self.segments[start : start + len(own)], np.uint16)
        parts = (
            pack_texts(own),
            pack_numbers(searches, "<i8"),
            pack_numbers(segments, "<u2") if len(segments) else b"",
        )
        for part in parts:
            self.file.write(part)
        self.packed.append(_Packed(*map(len, parts)))

    def finish(self) -> None:
        """Pack the last block. Raises FileRefused for a query that appears twice."""
        if self.texts:
            self._write()
        repeated = repeated_rows(self.digests)
        if repeated is not None:
            first, second = map(self._line, repeated)
            message = f"the query is already on line {first}."
            raise self.problems.stop(second, Rule.DUPLICATE, message)

    def _line(self, row: int) -> int:
        block = bisect_right(self.firsts, row) - 1
        return self.lines[block][row - self.firsts[block]]

    def values(self) -> dict[str, Any]:
        """Of the frame's row."""
        searches: Int64s = np.frombuffer(self.searches, np.int64)
        names = sorted(self.codes) or [""]
        place = np.zeros(len(names), np.uint16)
        if self.codes:
            place[[self.codes[name] for name in names]] = np.arange(len(names))
        segments = (
            place[np.frombuffer(self.segments, np.uint16)]
            if self.codes
            else np.zeros(len(searches), np.uint16)
        )
        concentration = Concentration.of(searches)
        return {
            "queries": concentration.total_queries,
            "searches": concentration.total_searches,
            "segments": list(self.codes) or [""],
            "histogram": pack_histogram(concentration),
            "digest": digest_of(self.digests, names, segments, searches),
        }

    def blocks(self, frame: TrafficFrame) -> Iterator[TrafficBlock]:
        self.file.seek(0)
        for position, one in enumerate(self.packed):
            yield TrafficBlock(
                frame=frame,
                position=position,
                texts=self.file.read(one.texts),
                searches=self.file.read(one.searches),
                segments=self.file.read(one.segments),
            )


def store_frame(
    *,
    collection: Collection,
    name: str,
    blocks: Iterable[ReadBlock],
    file_name: str,
    by: User | None,
    at: datetime,
    is_simulated: bool = False,
    of_list: JudgmentList | None = None,
    work: Work | None = None,
) -> TrafficFrame:
    """Store a log as the collection's next frame; all or nothing.

    blocks: as `read_traffic` reads them; they are packed outside of the transaction, which then
    only writes. of_list: whose queries these are, where they are no traffic. work: the job that
    this ends. Raises FileRefused for what is wrong in the file, TrafficRefused for the same traffic
    again.
    """
    with tempfile.TemporaryFile() as file:
        builder = _FrameBuilder(file_name, file)
        for block in blocks:
            builder.add(block)
        builder.finish()
        values = builder.values()
        with transaction.atomic():
            frame = create_log(
                TrafficFrame,
                collection=collection,
                name=name,
                known=lambda name: TrafficRefused(
                    "traffic_known", f"This traffic is already uploaded as “{name}”."
                ),
                by=by,
                at=at,
                is_simulated=is_simulated,
                of_list=of_list,
                **values,
            )
            for one in builder.blocks(frame):
                one.save(force_insert=True)
            audit.record(
                collection=collection,
                actor=by,
                at=at,
                action="traffic.imported",
                subject=frame.name,
                after={"queries": frame.queries, "searches": frame.searches},
            )
            if work is not None:
                work.finish(
                    {
                        "queries": frame.queries,
                        "searches": frame.searches,
                        "next_page": ["traffic-frame", collection.slug, frame.number],
                    }
                )
    return frame


def delete_queries(*, access: Access, frame: TrafficFrame, at: datetime) -> None:
    """Delete what users searched for; for leads. Totals, digest and samples stay.

    No further sample can be drawn, and those that were can't be drawn again to check them.
    """
    check_may_lead(access)
    with transaction.atomic():
        deleted, _ = frame.blocks.all().delete()
        if not deleted:
            raise TrafficRefused("no_queries", "The queries of this log are deleted already.")
        audit.record_by(access, at, "traffic.queries_deleted", frame.name)


def work_on_traffic(work: Work) -> None:
    """The job kind `import_traffic`. params: name, columns (as for `read_traffic`)."""
    collection = Collection.objects.get(pk=work.collection_id)
    author = work.created_by_id
    columns = {str(name): str(part) for name, part in work.params.get("columns", {}).items()}
    with work.open() as file:
        store_frame(
            collection=collection,
            name=str(work.params["name"]),
            blocks=read_traffic(file, name=work.file_name, columns=columns, progress=work.progress),
            file_name=work.file_name,
            by=None if author is None else User.objects.get(pk=author),
            at=timezone.now(),
            work=work,
        )
