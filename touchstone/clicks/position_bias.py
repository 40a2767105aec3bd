"""Position bias by every estimator side by side, each refusing where it has too little to go by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.clicks.all_pairs import connected
from touchstone.clicks.evidence import Evidence
from touchstone.clicks.interventions import (
    Interventions,
    PositionCurve,
    centred_band,
    find_interventions,
    position_curves,
)
from touchstone.clicks.pbm import ROUNDS, Pbm, fit_pbm, pbm_replicates

PBM: Final = "pbm"


@dataclass(frozen=True)
class PositionBias:
    """curves: by the estimator's name, PBM first. model: the position-based model itself."""

    model: Pbm
    curves: Mapping[str, PositionCurve]
    interventions: Interventions


def position_bias(
    pages: Evidence,
    *,
    resamples: int,
    seed: int,
    rounds: int = ROUNDS,
    pbm_resamples: int | None = None,
) -> PositionBias:
    """The examination of each position, relative to the first.

    pages: of one application, as `Sessions.evidence` counts them.
    pbm_resamples: for PBM's band, which takes most of the time; `resamples` unless given.
    """
    model = fit_pbm(pages, rounds=rounds)
    interventions = find_interventions(pages)
    # where nothing ties a rank to the first, EM still gives a number, out of its pseudo-counts
    tied = np.where(connected(interventions.is_supported), 1.0, np.nan)
    relative = model.examination / model.examination[0]
    own = resamples if pbm_resamples is None else pbm_resamples
    replicates = pbm_replicates(pages, resamples=own, seed=seed, rounds=rounds)
    low, high = centred_band(relative, replicates)
    return PositionBias(
        model=model,
        curves={
            PBM: PositionCurve(relative * tied, low * tied, high * tied),
            **position_curves(interventions, resamples=resamples, seed=seed),
        },
        interventions=interventions,
    )
