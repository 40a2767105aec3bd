"""Qrels and runs as they are read from files."""

import io

from touchstone.files.trec import RunFile, read_qrels, read_run
from touchstone.measures.judged_files import JudgedQueries


def judged(text: str) -> JudgedQueries:
    """A qrels file of lines `query document grade`."""
    lines = [line.split() for line in text.strip().splitlines()]
    data = "".join(f"{q} 0 {d} {g}\n" for q, d, g in lines)
    return JudgedQueries(read_qrels(io.BytesIO(data.encode()), name="some.qrels"))


def run(text: str) -> RunFile:
    """A run file of lines `query document score`."""
    lines = [line.split() for line in text.strip().splitlines()]
    data = "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in lines)
    return read_run(io.BytesIO(data.encode()), name="some.run")
