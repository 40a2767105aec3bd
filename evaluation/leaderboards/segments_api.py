"""A leaderboard taken apart by the segments of its queries, as values."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.leaderboards.api import MeasureOutput
from evaluation.leaderboards.segments import (
    SegmentFilters,
    SegmentMean,
    SegmentRow,
    SegmentTable,
    get_segment_table,
)
from judgments.lists.queries import HEAD
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class MeanOutput(AnswerSerializer):
    answer = SegmentMean


class SegmentRowOutput(AnswerSerializer):
    answer = SegmentRow
    every = MeanOutput()
    of_segments = MeanOutput()
    segments = serializers.DictField(child=MeanOutput(), read_only=True)


class Segments(APIView):
    """A list's runs in each segment of queries."""

    class Parameters(serializers.Serializer[Any]):
        """measure: a name, or a tool's definition; without it, the first that the list keeps.

        version: a number, the name of a release, or head.
        """

        measure = serializers.CharField(max_length=2000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)

    class Output(AnswerSerializer):
        answer = SegmentTable
        measure = MeasureOutput()
        runs = SegmentRowOutput(many=True)

    @extend_schema(
        operation_id="get_leaderboard_segments",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return every run's mean of one measure in each segment of queries."""
        filters = SegmentFilters(**read_parameters(request, self.Parameters))
        access = get_access(viewer=request.user, slug=slug)
        result = get_segment_table(access=access, slug=list_slug, filters=filters)
        return Response(self.Output(result).data)
