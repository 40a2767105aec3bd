"""Evaluation's part of the REST interface."""

from django.urls import path

from evaluation.canaries import api as canaries
from evaluation.click_estimates import api as click_estimates
from evaluation.comparison import api as comparing
from evaluation.comparison import changes_api as changes
from evaluation.comparison import gating_api as gating
from evaluation.comparison import significance_api as significance
from evaluation.corrected import api as corrected
from evaluation.data_set_canaries import api as data_set_canaries
from evaluation.data_set_comparisons import api as data_set_comparisons
from evaluation.data_sets import api as data_sets
from evaluation.diagnosis import explanations_api as explaining
from evaluation.diagnosis import list_values_api as list_values
from evaluation.diagnosis import values_api as values
from evaluation.judge_next import api as judge_next
from evaluation.leaderboards import api as leaderboards
from evaluation.leaderboards import catalogue_api as catalogue
from evaluation.leaderboards import requested_api as requested
from evaluation.leaderboards import segments_api as segments
from evaluation.live_rankers import api as live
from evaluation.runs import api as runs
from evaluation.samples import api as samples
from evaluation.stability import api as stability
from evaluation.tool_differences import api as rosetta

D = "collections/<slug:slug>/data-sets"
R = "collections/<slug:slug>/rankers"
LIVE = f"{R}/<slug:ranker_slug>"
RUNS = f"{R}/<slug:ranker_slug>/runs"
L = "collections/<slug:slug>/lists/<slug:list_slug>"

urlpatterns = [
    path("measures", catalogue.Measures.as_view(), name="api-measures"),
    path("presets", catalogue.Presets.as_view(), name="api-presets"),
    path(
        "collections/<slug:slug>/clicks/<int:number>/rankers",
        click_estimates.ClickRankers.as_view(),
        name="api-click-rankers",
    ),
    path(f"{D}/", data_sets.DataSets.as_view(), name="api-data-sets"),
    path(f"{D}/<slug:data_set_slug>", data_sets.OneDataSet.as_view(), name="api-data-set"),
    path(
        f"{D}/<slug:data_set_slug>/schedule",
        data_sets.DataSetSchedule.as_view(),
        name="api-data-set-schedule",
    ),
    path(
        f"{D}/<slug:data_set_slug>/canaries/",
        data_set_canaries.DataSetCanaries.as_view(),
        name="api-data-set-canaries",
    ),
    path(
        f"{D}/<slug:data_set_slug>/canaries/<int:canary_id>",
        data_set_canaries.OneDataSetCanary.as_view(),
        name="api-data-set-canary",
    ),
    path(
        f"{D}/<slug:data_set_slug>/comparisons/",
        data_set_comparisons.DataSetComparisons.as_view(),
        name="api-data-set-comparisons",
    ),
    path(
        f"{D}/<slug:data_set_slug>/comparisons/<uuid:comparison_id>",
        data_set_comparisons.OneDataSetComparison.as_view(),
        name="api-data-set-comparison",
    ),
    path(
        f"{D}/<slug:data_set_slug>/comparisons/<uuid:comparison_id>/stop",
        data_set_comparisons.StopDataSetComparison.as_view(),
        name="api-data-set-comparison-stop",
    ),
    path(
        f"{D}/<slug:data_set_slug>/evaluations/",
        data_sets.DataSetEvaluations.as_view(),
        name="api-data-set-evaluations",
    ),
    path(
        f"{D}/<slug:data_set_slug>/evaluations/<uuid:evaluation_id>",
        data_sets.OneDataSetEvaluation.as_view(),
        name="api-data-set-evaluation",
    ),
    path(
        f"{D}/<slug:data_set_slug>/evaluations/<uuid:evaluation_id>/stop",
        data_sets.StopDataSetEvaluation.as_view(),
        name="api-data-set-stop",
    ),
    path(f"{R}/", runs.Rankers.as_view(), name="api-rankers"),
    path(f"{R}/<slug:ranker_slug>", runs.Ranker.as_view(), name="api-ranker"),
    path(f"{LIVE}/live", live.LiveRanker.as_view(), name="api-live"),
    path(f"{LIVE}/snapshots/", live.Snapshots.as_view(), name="api-snapshots"),
    path(f"{LIVE}/snapshots/<uuid:snapshot_id>", live.OneSnapshot.as_view(), name="api-snapshot"),
    path(
        f"{LIVE}/snapshots/<uuid:snapshot_id>/answers",
        live.Answers.as_view(),
        name="api-snapshot-answers",
    ),
    path(
        f"{LIVE}/snapshots/<uuid:snapshot_id>/stop", live.Stop.as_view(), name="api-snapshot-stop"
    ),
    path(f"{LIVE}/live/vectors", live.Vectors.as_view(), name="api-live-vectors"),
    path(f"{LIVE}/live/schedule", live.Schedule.as_view(), name="api-live-schedule"),
    path(f"{LIVE}/canaries/<int:canary_id>", canaries.OneCanary.as_view(), name="api-canary"),
    path(f"{LIVE}/canaries/", canaries.Canaries.as_view(), name="api-canaries"),
    path(f"{LIVE}/events", canaries.Events.as_view(), name="api-ranker-events"),
    path(f"{RUNS}/", runs.Runs.as_view(), name="api-runs"),
    path(f"{RUNS}/<uuid:run_id>", runs.Run.as_view(), name="api-run"),
    path(f"{RUNS}/<uuid:run_id>/file", runs.RunFile.as_view(), name="api-run-file"),
    path(f"{RUNS}/<uuid:run_id>/withdraw", runs.Withdrawal.as_view(), name="api-run-withdraw"),
    path(f"{RUNS}/<uuid:run_id>/values", values.RunValues.as_view(), name="api-run-values"),
    path(f"{RUNS}/<uuid:run_id>/moves", changes.RunMoves.as_view(), name="api-run-moves"),
    path(f"{RUNS}/<uuid:run_id>/explain", explaining.RunExplain.as_view(), name="api-run-explain"),
    path(f"{RUNS}/<uuid:run_id>/rosetta", rosetta.RunRosetta.as_view(), name="api-run-rosetta"),
    path(f"{L}/rosetta", rosetta.ListRosetta.as_view(), name="api-rosetta"),
    path(f"{L}/values", list_values.ListValues.as_view(), name="api-values"),
    path(f"{L}/compare", comparing.Comparison.as_view(), name="api-compare"),
    path(f"{L}/gates", gating.Gates.as_view(), name="api-gates"),
    path(f"{L}/compare/groups", significance.Groups.as_view(), name="api-groups"),
    path(f"{L}/compare/documents", changes.MovedDocuments.as_view(), name="api-moved"),
    path(
        f"{L}/versions/<slug:before>..<slug:after>/effect",
        changes.Effect.as_view(),
        name="api-effect",
    ),
    path(f"{L}/estimates", corrected.SampleEstimates.as_view(), name="api-estimates"),
    path(
        f"{L}/estimates/people",
        corrected.QueriesForPeople.as_view(),
        name="api-draw-for-people",
    ),
    path(f"{L}/estimates/plan", samples.SamplePlanning.as_view(), name="api-plan-sample"),
    path(
        f"{L}/samples/<int:number>/without-results",
        samples.ZeroResults.as_view(),
        name="api-zero-results",
    ),
    path(f"{L}/stability", stability.Stability.as_view(), name="api-stability"),
    path(f"{L}/judge-next", judge_next.JudgeNext.as_view(), name="api-judge-next"),
    path(f"{L}/unjudged", comparing.OpenValues.as_view(), name="api-unjudged"),
    path(f"{L}/leaderboard", leaderboards.Leaderboard.as_view(), name="api-leaderboard"),
    path(f"{L}/measures", requested.ListMeasures.as_view(), name="api-list-measures"),
    path(f"{L}/leaderboard/segments", segments.Segments.as_view(), name="api-segments"),
]
