"""From TREC files to nDCG@1,3,5,10,20 by Touchstone and by others, each in a process of its own.

What `benchmarks.measures` times end to end. Each tool is given the qrels, the runs, and where
trec_eval is, and answers with CPU seconds and values, (rankings, cutoffs).
"""

import io
import multiprocessing
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.usage import peak
from touchstone import compiled
from touchstone.files import compiled as reading
from touchstone.files.trec import RunToRead, read_qrels, read_run
from touchstone.measures import compiled as evaluating
from touchstone.measures.definition import Measure
from touchstone.measures.files import evaluate_file
from touchstone.measures.judged_files import JudgedQueries

Floats = npt.NDArray[np.float64]

CUTOFFS: Final = (1, 3, 5, 10, 20)
GLOBAL: Final = tuple(Measure(family="nDCG", cutoff=k) for k in CUTOFFS)
ASKED: Final = "ndcg_cut." + ",".join(map(str, CUTOFFS))  # as trec_eval and pytrec_eval call it


def ours_on_files(qrels: Path, runs: list[Path], _: Path | None) -> tuple[float, Floats]:
    """What `evaluate` does."""
    start = time.process_time()
    judged = JudgedQueries(read_qrels(qrels, name="qrels"))
    values = [
        evaluate_file(judged, RunToRead(path=run, name="run", text_after_tag=True), GLOBAL).values
        for run in runs
    ]
    return time.process_time() - start, np.concatenate(values)


def ours_loaded_on_files(
    qrels: Path, runs: list[Path], program: Path | None
) -> tuple[float, Floats]:
    """The same where compiled loops are at hand, as in a process that has read large files."""
    for module in (reading.LOOPS, evaluating.LOOPS):
        compiled.loops_after(module, compiled.COMPILING)
    judged = JudgedQueries(read_qrels(io.BytesIO(b"q 0 d 1\n"), name="qrels"))
    run = read_run(io.BytesIO(b"q Q0 d 1 1 tag\n"), name="run", text_after_tag=True)
    evaluate_file(judged, run, GLOBAL)
    return ours_on_files(qrels, runs, program)


def pytrec_eval_on_files(qrels: Path, runs: list[Path], _: Path | None) -> tuple[float, Floats]:
    """Its own readers and its evaluation."""
    import pytrec_eval

    start = time.process_time()
    with qrels.open() as file:
        judged = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {ASKED})
    found = []
    for run in runs:
        with run.open() as file:
            found.append(evaluator.evaluate(pytrec_eval.parse_run(file)))
    seconds = time.process_time() - start
    # it answers in its own order
    rows = [[own[query] for query in judged] for own in found]
    values = [[one[f"ndcg_cut_{k}"] for k in CUTOFFS] for own in rows for one in own]
    return seconds, np.array(values)


def trec_eval_on_files(qrels: Path, runs: list[Path], program: Path | None) -> tuple[float, Floats]:
    """The program, once a run."""
    asked = [str(program), "-q", "-m", ASKED, str(qrels)]
    outputs = [
        subprocess.run([*asked, str(run)], check=True, capture_output=True, text=True).stdout
        for run in runs
    ]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = []
    for output in outputs:
        lines = [line.split() for line in output.splitlines()]
        values = {(name, query): float(value) for name, query, value in lines}
        queries = dict.fromkeys(query for _, query, _ in lines if query != "all")
        ordered = sorted(queries, key=int)
        found += [[values[f"ndcg_cut_{k}", query] for k in CUTOFFS] for query in ordered]
    return used.ru_utime + used.ru_stime, np.array(found)


def apart(
    work: Callable[..., tuple[float, Floats]], *arguments: object
) -> tuple[float, float, Floats]:
    """Seconds, the most memory in MiB, and values, of work in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, *arguments))


def _measured(
    work: Callable[..., tuple[float, Floats]], *arguments: object
) -> tuple[float, float, Floats]:
    seconds, values = work(*arguments)
    if work is trec_eval_on_files:
        return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, values
    return seconds, peak(), values
