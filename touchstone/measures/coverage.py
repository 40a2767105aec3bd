"""How much of the collection a run ever shows: one number for a run, not one for each query."""

import numpy as np

from touchstone.measures.counting import Proportion
from touchstone.measures.rankings import IntArray


def coverage(documents: IntArray, lengths: IntArray, *, cutoff: int, size: int) -> Proportion:
    """Of a collection of `size` documents, how many stand among the first `cutoff` anywhere.

    documents: ids in rank order, ranking after ranking. lengths: how many each ranking has.
    Raises ValueError where more are shown than there are.
    """
    result = len(np.unique(first_ranks(documents, lengths, cutoff)))
    if result > size:
        raise ValueError(f"{result} documents are shown, so the collection has more than {size}")
    return Proportion(result, size)


def relevant_coverage(
    documents: IntArray, lengths: IntArray, *, cutoff: int, relevant: IntArray
) -> Proportion:
    """Of the documents that are relevant to any query, how many are shown, for any query."""
    wanted = np.unique(relevant)
    return Proportion(
        int(np.isin(wanted, first_ranks(documents, lengths, cutoff)).sum()), len(wanted)
    )


def first_ranks(documents: IntArray, lengths: IntArray, cutoff: int) -> IntArray:
    """The documents at ranks 1..cutoff of every ranking."""
    starts = np.cumsum(lengths) - lengths
    ranks = np.arange(len(documents)) - np.repeat(starts, lengths)
    return documents[ranks < cutoff]
