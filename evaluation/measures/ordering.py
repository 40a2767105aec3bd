"""The order of a ranking: our order lives in this one module.

As in trec_eval: by score, best first, scores compared as float32; where they tie, by document id,
descending, compared as UTF-8 bytes. A file's own order and its rank column play no part.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

OrderArray = npt.NDArray[np.intp]
Precision = Literal["float32", "float64"]
Ties = Literal["docid", "docid_asc", "listed"]


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
    compared = _compared(scores, precision)
    order = np.argsort(-compared, kind="stable")
    if ties != "listed":
        _settle_ties(order, compared, doc_ids, descending=ties == "docid")
    return order


def tie_starts(
    scores: npt.NDArray[np.float64], *, precision: Precision = "float32"
) -> npt.NDArray[np.intp]:
    """For each rank, counted from 0, the first rank of its tie: [0, 1, 1, 3] where two share one.

    scores: in rank order, best first.
    """
    compared = _compared(scores, precision)
    places = np.arange(len(compared))
    begins = np.append(True, compared[1:] != compared[:-1])[: len(compared)]
    return np.maximum.accumulate(np.where(begins, places, 0))


def _compared(scores: npt.NDArray[np.float64], precision: Precision) -> npt.NDArray[np.float64]:
    if precision == "float64":
        return scores
    with np.errstate(over="ignore"):  # as in C: what is too large for float32 is infinite, a tie
        return scores.astype(np.float32).astype(np.float64)


def _settle_ties(
    order: OrderArray,
    compared: npt.NDArray[np.float64],
    doc_ids: Sequence[str],
    *,
    descending: bool,
) -> None:
    """Puts each stretch of equal scores in the order of the ids' UTF-8 bytes, in place."""
    ranked = compared[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    ends = np.append(starts[1:], len(ranked))
    tied = ends - starts > 1
    for start, end in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
        places = order[start:end].tolist()
        places.sort(key=lambda place: doc_ids[place].encode(), reverse=descending)
        order[start:end] = places
