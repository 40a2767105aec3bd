"""The values of many runs of a list in one answer."""

from itertools import chain
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.diagnosis.list_values import COLUMNS, as_objects, get_list_values
from evaluation.runs.selection_api import run_names
from judgments.lists.queries import HEAD
from judgments.pages.downloads import as_download, stream_text
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.rest.tables import CSV, FORMATS, PARQUET, media_type_of, tables_of
from touchstone.files.csv_lines import csv_lines
from touchstone.files.parquet import parquet_bytes


class ListValueOutput(serializers.Serializer[Any]):
    """A query's value in a run; null if it is not in the mean."""

    run = serializers.CharField()
    query_id = serializers.CharField()
    measure = serializers.CharField()
    value = serializers.FloatField(allow_null=True)


class ListValues(APIView):
    """Per-query values of every run on a list."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """measures: names, separated by spaces or commas; without it, those that the list shows.

        runs: ranker/run, a ranker for its newest run, or an id; separated by commas, at most a
        hundred; without it, the newest of every ranker. version: a number, the name of a release,
        or head. format: json, csv or parquet; without it, what `Accept` prefers.
        """

        measures = serializers.CharField(max_length=2000, allow_blank=True, default="")
        runs = serializers.CharField(max_length=8000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)
        format = serializers.ChoiceField(choices=list(FORMATS), required=False)

    class Output(serializers.Serializer[Any]):
        """version: 0 if the list has none. runs, measures: named as in `results`."""

        version = serializers.IntegerField()
        runs = serializers.ListField(child=serializers.CharField())
        measures = serializers.ListField(child=serializers.CharField())
        results = ListValueOutput(many=True)

    @extend_schema(
        operation_id="get_list_values",
        parameters=[Parameters],
        responses=tables_of(Output) | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> HttpResponseBase:
        """Return every run's value for every judged query, at most a million values."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        media_type = media_type_of(request, named=asked.pop("format", None))
        asked["runs"] = run_names(asked["runs"])
        result = get_list_values(access=access, slug=list_slug, **asked)
        name = f"{slug}-{list_slug}-{result.version}-values"
        if media_type == CSV:
            lines = csv_lines(chain([COLUMNS], result.rows()))
            return stream_text(lines, media_type=CSV, file_name=f"{name}.csv")
        if media_type == PARQUET:
            content = parquet_bytes(
                COLUMNS, result.rows(), title=f"{slug}/{list_slug}, version {result.version}"
            )
            return as_download(content, media_type=PARQUET, file_name=f"{name}.parquet")
        # no serializer: it would take longer than all the values
        body = {"version": result.version, "runs": result.runs, "measures": result.measures}
        return Response(body | {"results": as_objects(result)})
