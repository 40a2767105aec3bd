"""What is stored of each application of a click log, as plain values of JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

import numpy as np

from touchstone.clicks.evidence import Evidence
from touchstone.clicks.interventions import PositionCurve
from touchstone.clicks.ledger import ApplicationLedger, Outcome
from touchstone.clicks.model_fits import Banded, held_out_fits, sdbn_curve
from touchstone.clicks.page_evidence import PageCounts
from touchstone.clicks.position_bias import position_bias
from touchstone.clicks.sessions import Sessions

RESAMPLES: Final = 200
PBM_RESAMPLES: Final = 100  # they take most of the time
SEED: Final = 0
SDBN: Final = "sdbn"
MOST_PBM_ROWS: Final = 50_000  # of evidence, beyond which PBM's band would take minutes


@dataclass(frozen=True)
class CurvePoint:
    """A position's examination with its band; None where the estimator refuses."""

    position: int
    examination: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ModelFigure:
    """A figure of a click model with its band."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ModelFit:
    """How a click model predicts the half of the pages that it was not fitted to.

    by_rank: perplexity of each position; perplexity: their mean.
    """

    log_likelihood: ModelFigure
    perplexity: ModelFigure
    by_rank: Sequence[float]


@dataclass(frozen=True)
class PositionCounts:
    """A position of an application's result pages."""

    position: int
    impressions: int
    clicks: int

    @property
    def ctr(self) -> float:
        return self.clicks / self.impressions


@dataclass(frozen=True)
class StoredApplication:
    """An application of a log.

    outcomes: how many of its records are in each class. smallest_rank: None without evidence.
    rank_base: the rank of a first result; None where it is unknown: no result pages are found.
    pages, dropped: the result pages, and how many were left out by the reason.
    ranks: the positions of the pages. curves: by the estimator's name.
    interventions: (depth, depth), documents that both positions showed. supported: the pairs of
    positions with enough of them. models: the fits of click models by their names, none where the
    pages are too few; sampled: to how many pages.
    """

    name: str
    outcomes: Mapping[str, int]
    actions: Mapping[str, int]
    smallest_rank: int | None
    rank_base: int | None
    pages: int
    dropped: Mapping[str, int]
    ranks: Sequence[PositionCounts]
    curves: Mapping[str, Sequence[CurvePoint]]
    interventions: Sequence[Sequence[int]]
    supported: Sequence[Sequence[bool]]
    models: Mapping[str, ModelFit] = field(default_factory=dict)
    sampled: int = 0

    @property
    def records(self) -> int:
        return sum(self.outcomes.values())

    @classmethod
    def of(cls, ledger: ApplicationLedger, counts: PageCounts | None, pages: Evidence) -> Self:
        """counts, pages: of the application's result pages; computes its position bias."""
        own = {} if counts is None or not len(pages) else _bias(pages, counts.sample)
        return cls(
            name=ledger.name,
            outcomes={one.key: ledger.outcomes[one] for one in Outcome if one in ledger.outcomes},
            actions=dict(sorted(ledger.actions.items())),
            smallest_rank=ledger.smallest_rank,
            rank_base=None if counts is None else counts.rank_base,
            pages=0 if counts is None else counts.pages,
            dropped={} if counts is None else dict(counts.dropped),
            ranks=_ranks(pages),
            curves=own.get("curves", {}),
            interventions=own.get("interventions", []),
            supported=own.get("supported", []),
            models=own.get("models", {}),
            sampled=0 if counts is None else len(counts.sample),
        )

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        values = dict(vars(self))
        values["ranks"] = [[rank.impressions, rank.clicks] for rank in self.ranks]
        values["curves"] = {
            name: [[point.examination, point.low, point.high] for point in curve]
            for name, curve in self.curves.items()
        }
        values["models"] = {name: asdict(fit) for name, fit in self.models.items()}
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        ranks = [
            PositionCounts(position, *own) for position, own in enumerate(values["ranks"], start=1)
        ]
        curves = {
            name: [CurvePoint(position, *own) for position, own in enumerate(curve, start=1)]
            for name, curve in values["curves"].items()
        }
        models = {
            name: ModelFit(
                ModelFigure(**fit["log_likelihood"]),
                ModelFigure(**fit["perplexity"]),
                fit["by_rank"],
            )
            for name, fit in values.get("models", {}).items()
        }
        return cls(**{**values, "ranks": ranks, "curves": curves, "models": models})


def _ranks(pages: Evidence) -> list[PositionCounts]:
    shown = np.bincount(pages.rank, weights=pages.impressions)[1:].astype(np.int64)
    clicks = np.bincount(pages.rank, weights=pages.clicks)[1:].astype(np.int64)
    both = enumerate(zip(shown.tolist(), clicks.tolist(), strict=True), start=1)
    return [PositionCounts(place, *own) for place, own in both]


def _bias(pages: Evidence, sample: Sessions) -> dict[str, Any]:
    result = position_bias(
        pages,
        resamples=RESAMPLES,
        seed=SEED,
        pbm_resamples=PBM_RESAMPLES if len(pages) <= MOST_PBM_ROWS else 0,
    )
    curves = {**result.curves, SDBN: sdbn_curve(sample, resamples=RESAMPLES, seed=SEED)}
    return {
        "curves": {name: _points(curve) for name, curve in curves.items()},
        "models": {
            name: ModelFit(_figure(fit.log_likelihood), _figure(fit.perplexity), by_rank)
            for name, fit in held_out_fits(sample, resamples=RESAMPLES, seed=SEED).items()
            for by_rank in (fit.perplexity_by_rank.tolist(),)
        },
        "interventions": result.interventions.documents.tolist(),
        "supported": result.interventions.is_supported.tolist(),
    }


def _figure(banded: Banded) -> ModelFigure:
    return ModelFigure(banded.value, banded.low, banded.high)


def _points(curve: PositionCurve) -> list[CurvePoint]:
    rows = zip(curve.examination.tolist(), curve.low.tolist(), curve.high.tolist(), strict=True)
    return [
        CurvePoint(position, *(value if math.isfinite(value) else None for value in row))
        for position, row in enumerate(rows, start=1)
    ]
