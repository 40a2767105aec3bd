"""Evaluation's part of the REST interface."""

from django.urls import path

from evaluation.api import (
    catalogue,
    changes,
    comparing,
    explaining,
    leaderboards,
    rosetta,
    runs,
    segments,
    stability,
    values,
)

R = "collections/<slug:slug>/rankers"
RUNS = f"{R}/<slug:ranker_slug>/runs"
L = "collections/<slug:slug>/lists/<slug:list_slug>"

urlpatterns = [
    path("measures", catalogue.Measures.as_view(), name="api-measures"),
    path("presets", catalogue.Presets.as_view(), name="api-presets"),
    path(f"{R}/", runs.Rankers.as_view(), name="api-rankers"),
    path(f"{R}/<slug:ranker_slug>", runs.Ranker.as_view(), name="api-ranker"),
    path(f"{RUNS}/", runs.Runs.as_view(), name="api-runs"),
    path(f"{RUNS}/<uuid:run_id>", runs.Run.as_view(), name="api-run"),
    path(f"{RUNS}/<uuid:run_id>/file", runs.RunFile.as_view(), name="api-run-file"),
    path(f"{RUNS}/<uuid:run_id>/withdraw", runs.Withdrawal.as_view(), name="api-run-withdraw"),
    path(f"{RUNS}/<uuid:run_id>/values", values.RunValues.as_view(), name="api-run-values"),
    path(f"{RUNS}/<uuid:run_id>/moves", changes.RunMoves.as_view(), name="api-run-moves"),
    path(f"{RUNS}/<uuid:run_id>/explain", explaining.RunExplain.as_view(), name="api-run-explain"),
    path(f"{RUNS}/<uuid:run_id>/rosetta", rosetta.RunRosetta.as_view(), name="api-run-rosetta"),
    path(f"{L}/rosetta", rosetta.ListRosetta.as_view(), name="api-rosetta"),
    path(f"{L}/compare", comparing.Comparison.as_view(), name="api-compare"),
    path(f"{L}/compare/documents", changes.MovedDocuments.as_view(), name="api-moved"),
    path(
        f"{L}/versions/<slug:before>..<slug:after>/effect",
        changes.Effect.as_view(),
        name="api-effect",
    ),
    path(f"{L}/stability", stability.Stability.as_view(), name="api-stability"),
    path(f"{L}/judge-next", comparing.JudgeNext.as_view(), name="api-judge-next"),
    path(f"{L}/unjudged", comparing.OpenValues.as_view(), name="api-unjudged"),
    path(f"{L}/leaderboard", leaderboards.Leaderboard.as_view(), name="api-leaderboard"),
    path(f"{L}/leaderboard/segments", segments.Segments.as_view(), name="api-segments"),
]
