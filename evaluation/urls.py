"""Addresses of the evaluation room. None ends in a slash."""

from django.urls import URLPattern, path

from evaluation.views import leaderboards, measures

C = "c/<slug:slug>"
BOARD = f"{C}/lists/<slug:list_slug>/leaderboard"

urlpatterns: list[URLPattern] = [
    path("measures", measures.measures, name="measures"),
    path(f"{C}/leaderboard", leaderboards.leaderboards, name="leaderboards"),
    path(BOARD, leaderboards.leaderboard, name="leaderboard"),
    path(f"{BOARD}/measures", leaderboards.leaderboard_measures, name="leaderboard-measures"),
]
