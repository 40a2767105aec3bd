"""`touchstone evaluate` and other tools' commands: whole processes, from the shell's point of view.

    python -m benchmarks.commands [--shape small a b c] [--share 0.1] [--times 5] [--trec-eval PATH]

Each tool prints nDCG@1, 3, 5, 10 and 20 of a run's file, or of several: `small` has 50 queries with
100 documents each; (a), (b) and (c) are those of `benchmarks.measures`. A first round is not
counted: it fills the caches of bytecode and of compiled loops, and its means must agree to four
decimals. Then come the cases in turns. "The first time" is with an empty cache of compiled loops,
as on a new machine. Medians of wall-clock and CPU time, and the most memory of any round.
pytrec_eval has no command: its case is the program that its README shows. ir_measures and
`manage.py` are left out of the larger shapes.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measures import CUTOFFS, SHAPES, made, write_files

ROOT: Final = Path(__file__).resolve().parent.parent
PYTREC_EVAL: Final = """
import sys, pytrec_eval
qrels, *runs = map(open, sys.argv[2:])
evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {sys.argv[1]})
for run in runs:
    found = evaluator.evaluate(pytrec_eval.parse_run(run)).values()
    for name in next(iter(found)):
        print(name, sum(own[name] for own in found) / len(found))
"""
FIRST: Final = "touchstone evaluate, the first time"


class Spent(NamedTuple):
    """What a process, or one after the other, took. memory: MiB, at most."""

    wall: float
    cpu: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--shape", choices=["small", *SHAPES], nargs="+", default=["small"])
    parser.add_argument("--share", type=float, default=1.0, help="of the queries of a, b and c")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--trec-eval", help="the program, where it has been built")
    options = parser.parse_args()
    for shape in options.shape:
        with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as name:
            folder = Path(name)
            share = 1.0 if shape == "small" else options.share
            qrels, runs = write_files(made(shape, share), folder)
            size = sum(file.stat().st_size for file in (qrels, *runs)) / 2**20
            print(f"{shape}, {len(runs)} run(s), {size:,.0f} MiB", flush=True)
            cases = _cases(shape, str(qrels), [str(run) for run in runs], options.trec_eval)
            _compare(cases, folder, options.times)


def _cases(
    shape: str, qrels: str, runs: Sequence[str], trec_eval: str | None
) -> Mapping[str, Sequence[Sequence[str]]]:
    """The processes of each case, one after the other."""
    measures = " ".join(f"nDCG@{cutoff}" for cutoff in CUTOFFS)
    theirs = "ndcg_cut_" + ",".join(map(str, CUTOFFS))
    files = ("--qrels", qrels, "--run", *runs, "--measures", measures, "--format", "trec")
    ours = (sys.executable, "-m", "touchstone", "evaluate", *files)
    cases: dict[str, Sequence[Sequence[str]]] = {"touchstone evaluate": [ours]}
    if shape == "small":
        manage = (sys.executable, str(ROOT / "manage.py"), "evaluate", *files)
        program = str(Path(sys.executable).with_name("ir_measures"))
        cases |= {
            "manage.py evaluate": [manage],
            "ir_measures": [(program, qrels, *runs, measures)],
        }
    else:
        cases[FIRST] = [ours]
    asked = theirs.replace("cut_", "cut.")
    cases["pytrec_eval"] = [(sys.executable, "-c", PYTREC_EVAL, asked, qrels, *runs)]
    if trec_eval is not None:
        cases["trec_eval"] = [(trec_eval, "-m", asked, qrels, run) for run in runs]
    return cases


def _compare(cases: Mapping[str, Sequence[Sequence[str]]], folder: Path, times: int) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "NUMBA_CACHE_DIR": str(folder / "loops"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    printed = {case: _run(words, environment)[1] for case, words in cases.items()}
    if len({tuple(values) for values in printed.values()}) != 1:
        sys.exit(f"they do not agree: {printed}")
    spent: dict[str, list[Spent]] = {case: [] for case in cases}
    for number in range(times):
        fresh = {**environment, "NUMBA_CACHE_DIR": str(folder / f"loops-{number}")}
        for case, words in cases.items():
            spent[case].append(_run(words, fresh if case == FIRST else environment)[0])
    for case, rounds in spent.items():
        wall, cpu = (statistics.median(one[place] for one in rounds) for place in (0, 1))
        memory = max(one.memory for one in rounds)
        print(f"  {case:<36} {wall:.3f} s, {cpu:.3f} s of CPU time, {memory:,.0f} MiB", flush=True)


def _run(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str]
) -> tuple[Spent, list[str]]:
    """What processes took, and the numbers that end their lines, to four decimals."""
    cpu = memory = 0.0
    output = ""
    began = time.perf_counter()
    for words in commands:
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            output += process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(words)}: exit status {process.returncode}")
        cpu += used.ru_utime + used.ru_stime
        memory = max(memory, used.ru_maxrss / 1024)
    wall = time.perf_counter() - began
    values = [f"{float(found):.4f}" for found in re.findall(r"([0-9.]+)$", output, re.MULTILINE)]
    return Spent(wall, cpu, memory), values


if __name__ == "__main__":
    main()
