"""Frames and loops that the tests of sampling share."""

from itertools import product
from math import sqrt

import numpy as np
import numpy.typing as npt

from touchstone.sampling.frames import Frame

Floats = npt.NDArray[np.float64]


def traffic(n: int = 400, *, seed: int = 3) -> Frame:
    """n queries in three bands, with searches that fall off as one over the rank."""
    rng = np.random.default_rng(seed)
    sizes = np.floor(1 + 20 * n / (1 + rng.permutation(n)))
    bands = ["head" if size > 400 else "torso" if size > 60 else "tail" for size in sizes.tolist()]
    return Frame.of([f"query {i}" for i in range(n)], strata=bands, sizes=sizes)


def loop_horvitz_thompson(y: Floats, pi: Floats, joint: Floats) -> float:
    whole = 0.0
    for i, j in product(range(len(y)), repeat=2):
        whole += (1 - pi[i] * pi[j] / joint[i, j]) * (y[i] / pi[i]) * (y[j] / pi[j])
    return whole


def loop_yates_grundy(y: Floats, pi: Floats, joint: Floats) -> float:
    whole = 0.0
    for i, j in product(range(len(y)), repeat=2):
        whole += (pi[i] * pi[j] / joint[i, j] - 1) * (y[i] / pi[i] - y[j] / pi[j]) ** 2
    return whole / 2


def loop_stratified(y: Floats, stratum: npt.NDArray[np.integer], counts: Floats) -> float:
    whole = 0.0
    for h, count in enumerate(counts):
        own = [value for value, code in zip(y, stratum, strict=True) if code == h]
        n, mean = len(own), sum(own) / len(own)
        variance = sum((value - mean) ** 2 for value in own) / (n - 1)
        whole += count**2 * (1 - n / count) * variance / n
    return whole


def joint_of_stratified(stratum: npt.NDArray[np.integer], counts: Floats) -> Floats:
    """The joint chances of simple random samples of each stratum."""
    n = np.bincount(stratum)
    joint = np.empty((len(stratum), len(stratum)))
    for i, j in product(range(len(stratum)), repeat=2):
        a, b = stratum[i], stratum[j]
        if i == j:
            joint[i, j] = n[a] / counts[a]
        elif a == b:
            joint[i, j] = n[a] * (n[a] - 1) / (counts[a] * (counts[a] - 1))
        else:
            joint[i, j] = n[a] / counts[a] * n[b] / counts[b]
    return joint


def deviation(values: Floats) -> float:
    """The standard deviation with n − 1, by a loop."""
    mean = sum(values) / len(values)
    return sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
