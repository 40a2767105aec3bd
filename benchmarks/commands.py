"""`touchstone evaluate` and other tools' commands: whole processes, from the shell's point of view.

    python -m benchmarks.commands [--queries 50] [--documents 100] [--times 15]

A qrels file and a run of so many queries with so many documents each are made up. Each tool then
prints nDCG@10 and RR@10 of them, cases in turns, after a first round that is not counted and
fills the caches of bytecode. What is printed must agree to four decimals before anything is
said. Medians of wall-clock and CPU time, and the most memory of any round. pytrec_eval has no
command: its case is the program that its README shows.
"""

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
PYTREC_EVAL: Final = """
import sys, pytrec_eval
qrels, run = (open(name) for name in sys.argv[1:])
measures = {"ndcg_cut.10", "recip_rank"}
evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), measures)
found = evaluator.evaluate(pytrec_eval.parse_run(run))
for name in ("ndcg_cut_10", "recip_rank"):
    print(name, sum(own[name] for own in found.values()) / len(found))
"""


class Spent(NamedTuple):
    """What a process took. memory: MiB, at most."""

    wall: float
    cpu: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--times", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as name:
        folder = Path(name)
        qrels, run = _make_files(folder, options.queries, options.documents)
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        cases = _cases(str(qrels), str(run))
        printed = {case: _run(words, environment)[1] for case, words in cases.items()}
        if len({tuple(values) for values in printed.values()}) != 1:
            sys.exit(f"they do not agree: {printed}")
        spent: dict[str, list[Spent]] = {case: [] for case in cases}
        for _ in range(options.times):
            for case, words in cases.items():
                spent[case].append(_run(words, environment)[0])
    for case, rounds in spent.items():
        wall, cpu = (statistics.median(one[place] for one in rounds) for place in (0, 1))
        memory = max(one.memory for one in rounds)
        print(f"{case:<20} {wall:.3f} s, {cpu:.3f} s of CPU time, {memory:.0f} MiB")


def _make_files(folder: Path, queries: int, documents: int) -> tuple[Path, Path]:
    dice = random.Random(1)
    qrels, run = folder / "made.qrels", folder / "made.run"
    with qrels.open("w") as judged, run.open("w") as ranked:
        for query in range(queries):
            for rank in range(1, documents + 1):
                judged.write(f"{query} 0 d{rank} {dice.choice((0, 0, 0, 1, 2))}\n")
                ranked.write(
                    f"{query} Q0 d{rank} {rank} {documents - rank + dice.random():.6f} made\n"
                )
    return qrels, run


def _cases(qrels: str, run: str) -> Mapping[str, Sequence[str]]:
    measures = "nDCG@10 RR"
    files = ("--qrels", qrels, "--run", run, "--measures", measures, "--format", "trec")
    return {
        "touchstone evaluate": (sys.executable, "-m", "touchstone", "evaluate", *files),
        "manage.py evaluate": (sys.executable, str(ROOT / "manage.py"), "evaluate", *files),
        "ir_measures": (str(Path(sys.executable).with_name("ir_measures")), qrels, run, measures),
        "pytrec_eval": (sys.executable, "-c", PYTREC_EVAL, qrels, run),
    }


def _run(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Spent, list[str]]:
    """What a process took, and the numbers that end its lines, to four decimals."""
    began = time.perf_counter()
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{' '.join(words)}: exit status {process.returncode}")
    values = [f"{float(found):.4f}" for found in re.findall(r"([0-9.]+)$", output, re.MULTILINE)]
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024), values


if __name__ == "__main__":
    main()
