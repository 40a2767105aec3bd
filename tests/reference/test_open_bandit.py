"""Open Bandit's quickstart: the Bernoulli TS policy's value, from the random policy's log.

Published in obp 0.4.1 (`obp/ope/meta.py` and its README): 0.004553, relative 1.198126.
"""

import json

import numpy as np
import pytest

from tests.reference.record_open_bandit import RECORDED
from touchstone.clicks.counterfactual import counterfactual


def test_the_published_value_is_met_to_all_its_digits() -> None:
    recorded = json.loads(RECORDED.read_text())
    rows = np.array(recorded["shown_clicked_simulated"])
    shown, clicked, simulated = rows.T
    target = np.repeat(simulated / recorded["simulations"], shown)
    rewards = np.concatenate(
        [
            np.repeat([1.0, 0.0], [clicks, views - clicks])
            for views, clicks in zip(shown, clicked, strict=True)
        ]
    )
    logging = np.full(len(rewards), recorded["logging"])
    found = counterfactual(rewards, logging, target)
    assert found.n == 10_000
    assert f"{found.ips.value:.6f}" == "0.004553"
    assert f"{found.ips.value / rewards.mean():.10f}".startswith("1.198126")
    # both estimate the same value; the self-normalised one knows the mean weight
    assert found.snips.value == pytest.approx(found.ips.value / (target / logging).mean())
