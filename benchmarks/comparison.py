"""How long it takes to compare two runs: every test, with intervals, over many queries.

    python -m benchmarks.comparison [--queries 50 1000 10000] [--resamples 10000]

Made-up differences, skewed as those of nDCG are. What is timed is what the page does once the
queries' values are known: BCa interval, p-value, effect, smallest difference that can be detected.
CPU and wall-clock seconds of one process, the median of three; aim: below 2 s at 10,000 queries.
"""

import argparse
import statistics
import time

import numpy as np

from touchstone.statistics.named_tests import TESTS
from touchstone.statistics.paired import compare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, nargs="+", default=[50, 1_000, 10_000])
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    for n in options.queries:
        dice = np.random.default_rng(n)
        differences = dice.beta(2, 3, n) - dice.beta(2, 3.2, n)
        for test in TESTS:
            walls, cpus = [], []
            for _ in range(3):
                wall, cpu = time.perf_counter(), time.process_time()
                compare(differences, test=test, resamples=options.resamples)
                walls.append(time.perf_counter() - wall)
                cpus.append(time.process_time() - cpu)
            print(
                f"{n:>6,} queries, {test}: {statistics.median(walls):.2f} s, "
                f"CPU {statistics.median(cpus):.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
