"""The order of a ranking: our order lives in this one module.

As in trec_eval: by score, best first, scores compared as float32; where they tie, by document id,
descending, compared as UTF-8 bytes. A file's own order and its rank column play no part.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from touchstone.files.id_columns import IdColumn

OrderArray = npt.NDArray[np.intp]


class ComparedIds(Protocol):
    """Some ids, to be put in order."""

    def order_words(self) -> npt.NDArray[np.uint64]:
        """Keys (n_keys, n), the most significant first, that order as the ids' UTF-8 bytes do."""


class DocumentIds(Protocol):
    """Document ids of which only those that tie are looked at, as `IdColumn`."""

    def at(self, positions: npt.NDArray[np.integer[Any]]) -> ComparedIds:
        """Those at these places."""


Precision = Literal["float32", "float64"]
Ties = Literal["docid", "docid_asc", "listed"]
_TIES: Final[dict[str, Ties]] = {
    "docid": "docid",
    "docid_asc": "docid_asc",
    "listed": "listed",
    "averaged": "listed",  # in whatever order: the value does not depend on it
}
_PRECISIONS: Final[dict[str, Precision]] = {"float32": "float32", "float64": "float64"}


def rule_of(ordering: tuple[str, str]) -> tuple[Ties, Precision]:
    """How rankings are put in order for a measure with this `Measure.ordering`."""
    return _TIES[ordering[0]], _PRECISIONS[ordering[1]]


def rank_order(
    doc_ids: Sequence[str],
    scores: npt.NDArray[np.float64],
    *,
    ties: Ties = "docid",
    precision: Precision = "float32",
) -> OrderArray:
    """The permutation that puts one query's documents in rank order, best first.

    doc_ids, scores: of the documents, in file order; ids are distinct and scores finite.
    precision: float32 (trec_eval 9, which makes 16777217 and 16777216 tie) or float64.
    ties: by descending "docid", by ascending "docid_asc", or as "listed".
    Raises ValueError where lengths differ or a score is not finite.
    """
    if len(doc_ids) != len(scores):
        raise ValueError(f"{len(doc_ids)} documents cannot have {len(scores)} scores")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite numbers")
    ids, starts = IdColumn.of(doc_ids), np.array([0, len(scores)])
    return rank_orders(ids, starts, scores, ties=ties, precision=precision)


def rank_orders(
    ids: DocumentIds,
    starts: npt.NDArray[np.integer],
    scores: npt.NDArray[np.float64],
    *,
    ties: Ties = "docid",
    precision: Precision = "float32",
) -> OrderArray:
    """`rank_order` of many rankings at once: the places of their documents, ranking by ranking.

    ids, scores: of the documents, in file order; scores are finite.
    starts: where each ranking begins, and where the last ends.
    """
    compared = _compared(scores, precision)
    order = np.arange(len(scores))
    inside = np.ones(max(len(scores) - 1, 0), bool)  # is each, but the first, of the same ranking
    inside[np.asarray(starts[(starts > 0) & (starts < len(scores))]) - 1] = False
    rising = np.flatnonzero((compared[1:] > compared[:-1]) & inside)
    if len(rising):
        unsorted = np.unique(np.searchsorted(starts, rising, "right") - 1)
        _sort_each(order, compared, starts[unsorted], starts[unsorted + 1])
    if ties != "listed":
        ranked = compared[order] if len(rising) else compared
        tied = (ranked[1:] == ranked[:-1]) & inside
        _settle_ties(order, tied, ids, descending=ties == "docid")
    return order


def reordered(
    stored: OrderArray,
    scores: npt.NDArray[np.float64],
    *,
    ties: Ties = "docid",
    precision: Precision = "float32",
) -> OrderArray:
    """`rank_order` without the ids, from the order that it gives where nothing else is said.

    stored: that order, by descending ids and float32 scores. Documents that tie under any rule are
    neighbours there or tie there too, so it knows how their ids compare.
    scores: of the documents, in file order.
    """
    before = {"docid": stored, "docid_asc": stored[::-1], "listed": np.arange(len(stored))}[ties]
    order: OrderArray = before[np.argsort(-_compared(scores, precision)[before], kind="stable")]
    return order


def tie_starts(
    scores: npt.NDArray[np.float64], *, precision: Precision = "float32"
) -> npt.NDArray[np.intp]:
    """For each rank, counted from 0, the first rank of its tie: [0, 1, 1, 3] where two share one.

    scores: in rank order, best first.
    """
    compared = _compared(scores, precision)
    positions = np.arange(len(compared))
    begins = np.append(True, compared[1:] != compared[:-1])[: len(compared)]
    return np.maximum.accumulate(np.where(begins, positions, 0))


def _compared(scores: npt.NDArray[np.float64], precision: Precision) -> npt.NDArray[np.floating]:
    if precision == "float64":
        return scores
    with np.errstate(over="ignore"):  # as in C: what is too large for float32 is infinite, a tie
        return scores.astype(np.float32)


def _sort_each(
    order: OrderArray,
    compared: npt.NDArray[np.floating],
    starts: npt.NDArray[np.integer],
    ends: npt.NDArray[np.integer],
) -> None:
    """Puts each of these rankings in descending order, in place; those of one length together."""
    lengths = ends - starts
    for length in np.unique(lengths).tolist():
        positions = starts[lengths == length][:, None] + np.arange(length)
        best_first = np.argsort(-compared[positions], axis=1, kind="stable")
        order[positions] = np.take_along_axis(positions, best_first, axis=1)


def _settle_ties(
    order: OrderArray, tied: npt.NDArray[np.bool_], ids: DocumentIds, *, descending: bool
) -> None:
    """Puts each chunk of equal scores in the order of the ids' UTF-8 bytes, in place.

    tied: for each rank but the first, whether it ties with the one before.
    """
    if not tied.any():
        return
    of_tie = np.append(tied, False) | np.append(False, tied)
    ranks = np.flatnonzero(of_tie)
    tie = np.cumsum(~np.append(False, tied)[ranks])
    words = ids.at(order[ranks]).order_words()
    keys = [*(~words if descending else words)[::-1], tie]
    order[ranks] = order[ranks][np.lexsort(keys)]
