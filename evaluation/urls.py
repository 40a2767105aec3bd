"""Addresses of the evaluation app. None ends in a slash."""

from django.urls import URLPattern, path

from evaluation.canaries import views as canaries
from evaluation.click_estimates import views as click_estimates
from evaluation.comparison import version_impact_views as version_impact
from evaluation.comparison import views as comparison
from evaluation.corrected import views as corrected
from evaluation.data_set_canaries import views as data_set_canaries
from evaluation.data_set_comparisons import views as data_set_comparisons
from evaluation.data_sets import views as data_sets
from evaluation.diagnosis import views as diagnosis
from evaluation.judge_next import views as judge_next
from evaluation.leaderboards import measures_views as measures
from evaluation.leaderboards import views as leaderboards
from evaluation.live_rankers import views as live
from evaluation.runs import ranker_views as rankers
from evaluation.runs import views as runs
from evaluation.samples import views as samples
from evaluation.stability import views as stability
from evaluation.tool_differences import views as tool_differences

C = "c/<slug:slug>"
BOARD = f"{C}/lists/<slug:list_slug>/leaderboard"
DATA_SET = f"{C}/data-set/<slug:data_set_slug>"
LIVE = f"{C}/ranker/<slug:ranker_slug>/live"
RUN = f"{C}/runs/<uuid:public_id>"

urlpatterns: list[URLPattern] = [
    path("measures", measures.measures, name="measures"),
    path(f"{C}/leaderboard", leaderboards.leaderboards, name="leaderboards"),
    path(BOARD, leaderboards.leaderboard, name="leaderboard"),
    path(f"{BOARD}/file", leaderboards.leaderboard_file, name="leaderboard-file"),
    path(f"{BOARD}/measures", leaderboards.leaderboard_measures, name="leaderboard-measures"),
    path(f"{C}/lists/<slug:list_slug>/compare", comparison.compare, name="compare"),
    path(f"{C}/lists/<slug:list_slug>/compare/groups", comparison.groups, name="compare-groups"),
    path(
        f"{C}/lists/<slug:list_slug>/compare/groups/file",
        comparison.groups_file,
        name="compare-groups-file",
    ),
    path(f"{C}/lists/<slug:list_slug>/compare/test", comparison.compare_test, name="compare-test"),
    path(f"{C}/lists/<slug:list_slug>/compare/documents", comparison.moved, name="moved"),
    path(f"{C}/lists/<slug:list_slug>/estimates", corrected.estimates, name="estimates"),
    path(
        f"{C}/lists/<slug:list_slug>/estimates/people",
        corrected.draw_for_people,
        name="draw-for-people",
    ),
    path(f"{C}/lists/<slug:list_slug>/estimates/plan", samples.plan_sample, name="plan-sample"),
    path(
        f"{C}/lists/<slug:list_slug>/estimates/<int:number>/without-results",
        samples.sample_zero_results,
        name="sample-zero-results",
    ),
    path(f"{C}/lists/<slug:list_slug>/stability", stability.stability, name="stability"),
    path(f"{C}/lists/<slug:list_slug>/judge-next", judge_next.judge_next, name="judge-next"),
    path(f"{C}/lists/<slug:list_slug>/unjudged", comparison.unjudged, name="unjudged"),
    path(f"{BOARD}/parameters", leaderboards.leaderboard_parameters, name="leaderboard-parameters"),
    path(f"{BOARD}/segments", leaderboards.leaderboard_segments, name="leaderboard-segments"),
    path(
        f"{C}/lists/<slug:list_slug>/versions/<str:before>..<str:after>/effect",
        version_impact.effect,
        name="effect",
    ),
    path(f"{C}/lists/<slug:list_slug>/rosetta", tool_differences.list_rosetta, name="list-rosetta"),
    path(f"{C}/clicks/<int:number>/rankers", click_estimates.click_rankers, name="click-rankers"),
    path(f"{C}/rankers", rankers.rankers, name="rankers"),
    path(f"{C}/rankers/new", rankers.ranker_create, name="ranker-create"),
    path(f"{C}/ranker/<slug:ranker_slug>", rankers.ranker, name="ranker"),
    path(f"{C}/ranker/<slug:ranker_slug>/tags", rankers.ranker_tags, name="ranker-tags"),
    path(LIVE, live.live_ranker, name="live"),
    path(f"{LIVE}/edit", live.live_edit, name="live-edit"),
    path(f"{LIVE}/schedule", live.live_schedule, name="live-schedule"),
    path(f"{LIVE}/vectors", live.vectors_upload, name="live-vectors"),
    path(f"{LIVE}/secret/remove", live.secret_remove, name="live-secret-remove"),
    path(f"{LIVE}/snapshots", live.snapshot_start, name="snapshot-start"),
    path(f"{LIVE}/snapshots/<uuid:public_id>", live.snapshot, name="snapshot"),
    path(f"{LIVE}/snapshots/<uuid:public_id>/stop", live.snapshot_stop, name="snapshot-stop"),
    path(f"{LIVE}/canaries", canaries.canaries, name="canaries"),
    path(f"{LIVE}/canaries/<int:canary_id>/retire", canaries.canary_retire, name="canary-retire"),
    path(f"{C}/data-sets", data_sets.data_sets, name="data-sets"),
    path(f"{C}/data-sets/new", data_sets.data_set_new, name="data-set-new"),
    path(DATA_SET, data_sets.data_set, name="data-set"),
    path(f"{DATA_SET}/evaluate", data_sets.data_set_evaluate, name="data-set-evaluate"),
    path(f"{DATA_SET}/schedule", data_sets.data_set_schedule, name="data-set-schedule"),
    path(f"{DATA_SET}/canaries", data_set_canaries.data_set_canaries, name="data-set-canaries"),
    path(
        f"{DATA_SET}/canaries/<int:canary_id>/retire",
        data_set_canaries.data_set_canary_retire,
        name="data-set-canary-retire",
    ),
    path(
        f"{DATA_SET}/comparisons",
        data_set_comparisons.data_set_comparisons,
        name="data-set-comparisons",
    ),
    path(
        f"{DATA_SET}/comparisons/<uuid:public_id>",
        data_set_comparisons.data_set_comparison,
        name="data-set-comparison",
    ),
    path(
        f"{DATA_SET}/comparisons/<uuid:public_id>/stop",
        data_set_comparisons.data_set_comparison_stop,
        name="data-set-comparison-stop",
    ),
    path(f"{DATA_SET}/retire", data_sets.data_set_retire, name="data-set-retire"),
    path(
        f"{DATA_SET}/evaluations/<uuid:public_id>/stop",
        data_sets.data_set_stop,
        name="data-set-stop",
    ),
    path(f"{C}/results/<path:qid>", diagnosis.query_results, name="query-results"),
    path(f"{C}/runs/upload", runs.run_upload, name="run-upload"),
    path(RUN, diagnosis.run, name="run"),
    path(f"{RUN}/moves", version_impact.run_moves, name="run-moves"),
    path(f"{RUN}/file", runs.run_file, name="run-file"),
    path(f"{RUN}/withdraw", runs.run_withdraw, name="run-withdraw"),
    path(f"{RUN}/rosetta", tool_differences.run_rosetta, name="run-rosetta"),
    path(f"{RUN}/query/<path:qid>", diagnosis.run_query, name="run-query"),
]
