"""The frame: every query that can be drawn, with its stratum and its size."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.sampling.errors import SamplingError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]

CHUNK: Final = 1 << 16  # queries that are Python objects at a time
_DIGEST: Final = np.dtype([("high", ">u8"), ("low", ">u8")])
_RECORD: Final = np.dtype([("query", _DIGEST), ("stratum", "<i4"), ("size", "<f8")])


@dataclass(frozen=True, eq=False)
class QueryTexts:
    """Many texts in UTF-8, one after the other. starts: int64 (n + 1,), where each begins."""

    data: bytes | bytearray
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "QueryTexts":
        """These texts."""
        encoded = [text.encode() for text in texts]
        return cls(b"".join(encoded), starts_of(map(len, encoded)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> str:
        return self.data[self.starts[row] : self.starts[row + 1]].decode()

    def chunks(self) -> Iterator[list[bytes]]:
        """All of them in order, some at a time."""
        for first in range(0, len(self), CHUNK):
            starts = self.starts[first : first + CHUNK + 1].tolist()
            part = bytes(self.data[starts[0] : starts[-1]])
            shift = starts[0]
            yield [part[start - shift : end - shift] for start, end in pairwise(starts)]


class RepeatedQueryError(SamplingError):
    """A query is in a frame twice. first, second: its rows, counted from 0."""

    def __init__(self, query: str, first: int, second: int) -> None:
        super().__init__(f"the query {query!r} is in the frame twice")
        self.first = first
        self.second = second


@dataclass(frozen=True, eq=False)
class Frame:
    """Queries to draw from; an entry each.

    strata: the names, sorted; one empty name where there are no strata.
    stratum: (n,), a place in `strata`. size: float64 (n,), above 0, such as searches in a month.
    digest: `frame_digest` of these.
    """

    queries: QueryTexts
    strata: tuple[str, ...]
    stratum: Ints
    size: Floats
    digest: str

    @classmethod
    def of(
        cls,
        queries: Sequence[str],
        *,
        strata: Sequence[str] | None = None,
        sizes: npt.ArrayLike | None = None,
    ) -> "Frame":
        """The frame of these queries. strata, sizes: one for each; None for one stratum, size 1.

        Raises SamplingError for no query at all, a query twice, and a size that is not above 0.
        """
        n = len(queries)
        given = [""] * n if strata is None else strata
        size = np.ones(n) if sizes is None else np.asarray(sizes, np.float64)
        if not n or len(given) != n or len(size) != n:
            raise SamplingError("a frame has a query at least, and a stratum and size for each")
        if not (np.isfinite(size) & (size > 0)).all():
            raise SamplingError("sizes are above 0: a query of size 0 is never drawn")
        names, codes = np.unique(np.array(given, dtype=str), return_inverse=True)
        texts, found = QueryTexts.of(queries), tuple(map(str, names))
        return cls(texts, found, codes, size, frame_digest(texts, found, codes, size))

    def __len__(self) -> int:
        return len(self.queries)


def frame_digest(queries: QueryTexts, strata: Sequence[str], stratum: Ints, size: Floats) -> str:
    """SHA-256 over the strata and over each query's digest, stratum and size: 64 hex digits.

    It does not depend on the order of the queries: they are ordered by their BLAKE2b of 128 bits.
    Texts are taken as they are, with every blank and capital.
    Raises RepeatedQueryError for a query that appears twice.
    """
    joined = bytearray()
    for texts in queries.chunks():
        joined += text_digests(texts)
    repeated = repeated_rows(joined)
    if repeated is not None:
        raise RepeatedQueryError(queries[repeated[0]], *repeated)
    return digest_of(joined, strata, stratum, size)


def text_digests(texts: Iterable[bytes]) -> bytes:
    """BLAKE2b of 128 bits of each text, joined."""
    return b"".join([blake2b(text, digest_size=16).digest() for text in texts])


def repeated_rows(digests: bytes | bytearray) -> tuple[int, int] | None:
    """The first row whose text is there again, and the row of that; None if all texts differ.

    digests: of all queries in their order, as `text_digests` joins them.
    """
    found = np.frombuffer(digests, _DIGEST)
    order, high = _by_digest(found)
    for place in np.flatnonzero(high[1:] == high[:-1]).tolist():
        first, second = order[place : place + 2].tolist()
        if found[first] == found[second]:
            return first, second
    return None


def digest_of(
    digests: bytes | bytearray, strata: Sequence[str], stratum: Ints, size: npt.NDArray[np.generic]
) -> str:
    """`frame_digest` of queries whose texts are known by their digests alone.

    digests: as for `repeated_rows`. stratum: (n,), a place in strata. size: (n,), of any number
    type.
    """
    found = np.frombuffer(digests, _DIGEST)
    order, _ = _by_digest(found)
    whole = hashlib.sha256(json.dumps(["frame", 1, len(found), *strata]).encode())
    for start in range(0, len(order), CHUNK):
        rows = order[start : start + CHUNK]
        records = np.empty(len(rows), _RECORD)
        records["query"], records["stratum"] = found[rows], stratum[rows]
        records["size"] = size[rows]
        whole.update(records.tobytes())
    return whole.hexdigest()


def _by_digest(
    digests: npt.NDArray[np.void],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """The rows in the order of their digests, and the first half of each digest in that order."""
    high = digests["high"].astype(np.uint64)
    order = np.argsort(high, kind="stable")
    return order, high[order]


def starts_of(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    """Where each of several pieces begins, and where the last ends."""
    return np.concatenate(([0], np.cumsum(np.fromiter(lengths, np.int64))))


def permanent_random_numbers(queries: QueryTexts, seed: int) -> Floats:
    """A number between 0 and 1 for each query, float64 (n,), from the seed and its text alone.

    The first 53 bits of BLAKE2b of 64 bits over the text in UTF-8, keyed with the seed's decimal
    digits, plus a half, times 2⁻⁵³. A query has the same number in every frame, so that samples of
    different months, or of different frames, share as many queries as their chances allow.
    Source: Ohlsson 1995, "Coordination of samples using permanent random numbers".
    """
    return np.concatenate([random_numbers(texts, seed) for texts in queries.chunks()])


def random_numbers(texts: Iterable[bytes], seed: int) -> Floats:
    """`permanent_random_numbers` of texts in UTF-8."""
    begin = blake2b(digest_size=8, key=str(seed).encode()).copy  # the key is mixed in once
    found = []
    for text in texts:
        one = begin()
        one.update(text)
        found.append(one.digest())
    bits = np.frombuffer(b"".join(found), ">u8") >> np.uint64(11)
    return (bits.astype(np.float64) + 0.5) * 2.0**-53
