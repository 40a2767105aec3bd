"""Significance groups of a whole leaderboard as values."""

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.comparison.significance import (
    CORRECTIONS,
    GroupedRun,
    SignificanceGroups,
    get_significance_groups,
)
from evaluation.comparison.significance_files import as_csv, as_parquet
from evaluation.runs.selection import RunsFilters
from evaluation.set_looks.api import OfSetOutput, SetParameter, of_set
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.pages.downloads import as_download
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.rest.tables import CSV, FORMATS, PARQUET, media_type_of, tables_of


class GroupedRunOutput(AnswerSerializer):
    answer = GroupedRun


class Groups(APIView):
    """Significance groups of the runs on a leaderboard."""

    throttle_scope = "costly"

    class Parameters(SetParameter):
        """measure: a name, else the first that the list shows. correction: for all pairs of runs.

        version: a number, the name of a release, or head. segment: only its queries. set: only
        those of a saved set; for a held-out one, the request counts as a look. format: json, csv
        or parquet; without it, what `Accept` prefers.
        """

        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        correction = serializers.ChoiceField(choices=list(CORRECTIONS), default="tukey")
        version = serializers.SlugField(max_length=64, default=HEAD)
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        format = serializers.ChoiceField(choices=list(FORMATS), required=False)

    class Output(OfSetOutput, AnswerSerializer):
        """Runs that share a letter do not differ significantly, at a family-wise level of 5 %.

        version: 0 if the list has none. rows: best first; empty with fewer than two runs or six
        queries. queries: those in the mean of every run. left_out: runs of the leaderboard beyond
        the first two hundred, or without a value. looks: at a held-out set, including this one;
        else null.
        """

        answer = SignificanceGroups
        measure = serializers.CharField(source="chosen.asked.canonical")
        version = serializers.IntegerField()
        rows = GroupedRunOutput(many=True)

    @extend_schema(
        operation_id="get_significance_groups",
        parameters=[Parameters],
        responses=tables_of(Output) | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> HttpResponseBase:
        """Return the significance groups (letters) of all runs on the leaderboard, at most two
        hundred.
        """
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        media_type = media_type_of(request, named=asked.pop("format", None))
        correction = asked.pop("correction")
        result = get_significance_groups(
            access=access, slug=list_slug, filters=RunsFilters(**asked), correction=correction
        )
        own = of_set(access, result.sets, SetLook.Page.REST_COMPARISON)
        name = f"{slug}-{list_slug}-{result.version}-groups"
        if media_type == CSV:
            return as_download(as_csv(result), media_type=CSV, file_name=f"{name}.csv")
        if media_type == PARQUET:
            content = as_parquet(result)
            return as_download(content, media_type=PARQUET, file_name=f"{name}.parquet")
        return Response(self.Output(result, context=own).data)
