"""What is compared (rankers, runs, rankings), what was computed of it, and live rankers."""

from evaluation.models.canaries import Canary, CanaryLook, Deployment, Incident
from evaluation.models.data_sets import (
    DataSet,
    DataSetEvaluation,
    DataSetFigures,
    DataSetPortion,
)
from evaluation.models.live import (
    LiveRevision,
    LiveSource,
    QueryVector,
    QueryVectors,
    Snapshot,
    SnapshotAnswer,
)
from evaluation.models.runs import (
    CorrectedEvaluation,
    Evaluation,
    Leaderboard,
    MeasureSet,
    Ranker,
    Ranking,
    RefreshAttempt,
    Run,
    RunAlias,
    SampleEvaluation,
    StabilityReport,
    ToolValues,
    no_parameters,
    no_tags,
)

__all__ = [
    "Canary",
    "CanaryLook",
    "CorrectedEvaluation",
    "DataSet",
    "DataSetEvaluation",
    "DataSetFigures",
    "DataSetPortion",
    "Deployment",
    "Evaluation",
    "Incident",
    "Leaderboard",
    "LiveRevision",
    "LiveSource",
    "MeasureSet",
    "QueryVector",
    "QueryVectors",
    "Ranker",
    "Ranking",
    "RefreshAttempt",
    "Run",
    "RunAlias",
    "SampleEvaluation",
    "Snapshot",
    "SnapshotAnswer",
    "StabilityReport",
    "ToolValues",
    "no_parameters",
    "no_tags",
]
