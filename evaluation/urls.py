"""Addresses of the evaluation room. None ends in a slash."""

from django.urls import URLPattern, path

from evaluation.views import (
    comparing,
    leaderboards,
    measures,
    moves,
    rankers,
    rosetta,
    runs,
    stability,
)

C = "c/<slug:slug>"
BOARD = f"{C}/lists/<slug:list_slug>/leaderboard"
RUN = f"{C}/runs/<uuid:public_id>"

urlpatterns: list[URLPattern] = [
    path("measures", measures.measures, name="measures"),
    path(f"{C}/leaderboard", leaderboards.leaderboards, name="leaderboards"),
    path(BOARD, leaderboards.leaderboard, name="leaderboard"),
    path(f"{BOARD}/file", leaderboards.leaderboard_file, name="leaderboard-file"),
    path(f"{BOARD}/measures", leaderboards.leaderboard_measures, name="leaderboard-measures"),
    path(f"{C}/lists/<slug:list_slug>/compare", comparing.compare, name="compare"),
    path(f"{C}/lists/<slug:list_slug>/compare/test", comparing.compare_test, name="compare-test"),
    path(f"{C}/lists/<slug:list_slug>/compare/documents", comparing.moved, name="moved"),
    path(f"{C}/lists/<slug:list_slug>/stability", stability.stability, name="stability"),
    path(f"{C}/lists/<slug:list_slug>/judge-next", comparing.judge_next, name="judge-next"),
    path(f"{C}/lists/<slug:list_slug>/unjudged", comparing.unjudged, name="unjudged"),
    path(f"{BOARD}/segments", leaderboards.leaderboard_segments, name="leaderboard-segments"),
    path(
        f"{C}/lists/<slug:list_slug>/versions/<str:before>..<str:after>/effect",
        moves.effect,
        name="effect",
    ),
    path(f"{C}/lists/<slug:list_slug>/rosetta", rosetta.list_rosetta, name="list-rosetta"),
    path(f"{C}/rankers", rankers.rankers, name="rankers"),
    path(f"{C}/rankers/new", rankers.ranker_create, name="ranker-create"),
    path(f"{C}/ranker/<slug:ranker_slug>", rankers.ranker, name="ranker"),
    path(f"{C}/ranker/<slug:ranker_slug>/tags", rankers.ranker_tags, name="ranker-tags"),
    path(f"{C}/results/<path:qid>", runs.query_results, name="query-results"),
    path(f"{C}/runs/upload", runs.run_upload, name="run-upload"),
    path(RUN, runs.run, name="run"),
    path(f"{RUN}/moves", moves.run_moves, name="run-moves"),
    path(f"{RUN}/file", runs.run_file, name="run-file"),
    path(f"{RUN}/withdraw", runs.run_withdraw, name="run-withdraw"),
    path(f"{RUN}/rosetta", rosetta.run_rosetta, name="run-rosetta"),
    path(f"{RUN}/query/<path:qid>", runs.run_query, name="run-query"),
]
