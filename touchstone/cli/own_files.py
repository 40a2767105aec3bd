"""Runs and qrels that a person evaluates on their own machine: as large as its memory allows."""

from collections.abc import Container, Sequence

from touchstone.files.compiled import expect
from touchstone.files.reading import OWN_LIMITS, size_of
from touchstone.files.trec import QrelsFile, RunToRead, read_qrels


def read_own_qrels(path: str) -> QrelsFile:
    """The qrels of a file. Raises FileRefused."""
    return read_qrels(path, name=path, limits=OWN_LIMITS)


def own_runs(paths: Sequence[str], queries: Container[str] | None = None) -> list[RunToRead]:
    """The runs, to be read one after the other. queries: only these; None for all."""
    expect(sum(map(size_of, paths)))
    return [
        RunToRead(path=path, name=path, limits=OWN_LIMITS, text_after_tag=True, queries=queries)
        for path in paths
    ]
