"""Which runs and queries an address chooses: the parameters that answers share."""

from typing import Any

from rest_framework import serializers

from evaluation.runs.selection import RunsFilters
from evaluation.set_looks.api import SetParameter
from judgments.lists.queries import HEAD


class RunsParameters(SetParameter):
    """runs: ranker/run, a ranker for its newest run, or an id; separated by commas.

    Without it: the first four of the leaderboard, and the baseline, if one is named. measure: a
    name, else the first that the list shows. version: a number, the name of a release, or head.
    segment: only its queries. set: only those of a saved set; for a held-out one, the request
    counts as a look.
    """

    runs = serializers.CharField(max_length=4000, allow_blank=True, default="")
    measure = serializers.CharField(max_length=500, allow_blank=True, default="")
    version = serializers.SlugField(max_length=64, default=HEAD)
    segment = serializers.CharField(
        max_length=200, allow_blank=True, default="", trim_whitespace=False
    )


def runs_filters(asked: dict[str, Any]) -> RunsFilters:
    """What these parameters ask for."""
    return RunsFilters(runs=run_names(asked.pop("runs")), **asked)


def run_names(runs: str) -> tuple[str, ...]:
    return (runs,) if runs.strip() else ()
