"""Records what ppi_py says of small samples: run it by hand, where ppi-python is installed.

python tests/reference/record_ppi.py
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from ppi_py.ppi import _calc_lam_glm

RECORDED = Path(__file__).parent / "recorded" / "ppi.json"


def main() -> None:
    """Writes recorded/ppi.json."""
    rng = np.random.default_rng(2311)
    cases = []
    for n, n_others, noise in ((20, 300, 0.1), (50, 60, 0.3), (16, 400, 2.0), (200, 300, 0.02)):
        truth = rng.beta(2, 1.5, n + n_others).round(6)
        machine = np.clip(0.8 * truth + 0.2 + rng.normal(0, noise, len(truth)), 0, 1).round(6)
        human, judge, others = truth[:n], machine[:n], machine[n:]
        start = ppi_mean_pointestimate(human, judge, others, lam=1)
        lam = _calc_lam_glm(
            human - start, judge - start, others - start, np.eye(1), coord=None, clip=True
        )
        low, high = ppi_mean_ci(human, judge, others, alpha=0.05)
        estimate = ppi_mean_pointestimate(human, judge, others)
        cases.append(
            {
                "human": human.tolist(),
                "judge": judge.tolist(),
                "others": others.tolist(),
                "lambda": float(lam),
                "estimate": float(estimate[0]),
                "z95": [float(low[0]), float(high[0])],
            }
        )
    recorded = {"tool": "ppi-python " + version("ppi-python"), "cases": cases}
    RECORDED.write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
