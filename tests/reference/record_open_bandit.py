"""Record what Open Bandit's quickstart needs of its sample: `python record_open_bandit.py FOLDER`.

FOLDER is the unpacked wheel of `obp` 0.4.1 (Apache-2.0; the data, of ZOZO, Inc., is CC BY 4.0,
Saito et al. 2020). Needs NumPy and PyYAML. What is recorded are counts: for each item and position
of the random policy's log, how often it was shown and clicked, and in how many of 100,000
simulations the Bernoulli TS policy shows it there, as `BernoulliTS.compute_batch_action_dist` does.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import yaml

RECORDED = Path(__file__).parent / "recorded" / "open_bandit.json"
SIMULATIONS, POSITIONS, SEED = 100_000, 3, 12345


def main(folder: str) -> None:
    """Write recorded/open_bandit.json."""
    data = Path(folder) / "obp" / "dataset" / "obd" / "random" / "all" / "all.csv"
    shown, clicked, chances = Counter[tuple[int, int]](), Counter[tuple[int, int]](), set[str]()
    with data.open(newline="") as file:
        for row in csv.DictReader(file):
            key = (int(row["item_id"]), int(row["position"]) - 1)
            shown[key] += 1
            clicked[key] += int(row["click"])
            chances.add(row["propensity_score"])
    prior = yaml.safe_load(
        (Path(folder) / "obp" / "policy" / "conf" / "prior_bts.yaml").read_text()
    )["all"]
    random = np.random.RandomState(SEED)
    alpha, beta = np.array(prior["alpha"]), np.array(prior["beta"])
    simulated = np.zeros((len(alpha), POSITIONS), dtype=int)
    for _ in range(SIMULATIONS):
        chosen = random.beta(a=alpha, b=beta).argsort()[::-1][:POSITIONS]
        simulated[chosen, np.arange(POSITIONS)] += 1
    (chance,) = chances
    rows = [[shown[key], clicked[key], int(simulated[key])] for key in sorted(shown)]
    found = {"logging": float(chance), "simulations": SIMULATIONS, "shown_clicked_simulated": rows}
    RECORDED.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
