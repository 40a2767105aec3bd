"""A leaderboard taken apart by the segments of its queries, as values."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.leaderboards.api import MeasureOutput
from evaluation.leaderboards.segments import SegmentFilters, SegmentRow, get_segments_page
from judgments.lists.queries import HEAD
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from touchstone.measures.wording import describe


class MeanOutput(serializers.Serializer[Any]):
    """A mean over `n` queries and its standard error; null where there is none."""

    mean = serializers.FloatField(allow_null=True, source="value")
    standard_error = serializers.FloatField(allow_null=True, source="error")
    n = serializers.IntegerField()


class SegmentOutput(serializers.Serializer[Any]):
    """A segment and how many of its queries are in a mean. name: "" for queries without one."""

    name = serializers.CharField()
    queries = serializers.IntegerField()


class SegmentRowOutput(serializers.Serializer[Any]):
    """A run. every: over all queries; of_segments: the mean of its segments' means.

    segments: the mean in each, by name; none while they are being computed.
    """

    ranker = serializers.CharField(source="ranker_slug")
    run = serializers.CharField(source="run_name")
    id = serializers.UUIDField(source="run_id")
    every = MeanOutput()
    of_segments = MeanOutput(source="of_means")
    segments = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=MeanOutput()))
    def get_segments(self, row: SegmentRow) -> dict[str, Any]:
        """Each segment's mean."""
        return {cell.segment: MeanOutput(cell.average).data for cell in row.cells}


class Segments(APIView):
    """A list's runs in each segment of its queries."""

    class Parameters(serializers.Serializer[Any]):
        """measure: a name, or a tool's definition; without it, the first that the list keeps.

        version: a number, the name of a release, or head.
        """

        measure = serializers.CharField(max_length=2000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)

    class Output(serializers.Serializer[Any]):
        """One measure of every run, segment by segment. version: null on a list without any.

        computing: some runs wait for their values. runs: best first over all queries.
        """

        version = serializers.IntegerField(allow_null=True)
        is_head = serializers.BooleanField()
        computing = serializers.BooleanField()
        measure = MeasureOutput()
        segments = SegmentOutput(many=True)
        runs = SegmentRowOutput(many=True)

    @extend_schema(
        operation_id="get_leaderboard_segments",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Every run's mean of one measure in each segment of the list's queries."""
        filters = SegmentFilters(**read_parameters(request, self.Parameters))
        access = get_access(viewer=request.user, slug=slug)
        page = get_segments_page(access=access, slug=list_slug, filters=filters)
        asked = page.asked
        plain = {
            "version": page.version,
            "is_head": page.is_head,
            "computing": page.waiting > 0,
            "measure": {
                "name": asked.canonical,
                "definition": asked.measure.name,
                "description": describe(asked.measure),
                "preset": asked.preset.name if asked.preset else "",
                "caveat": asked.caveat,
            },
            "segments": page.columns,
            "runs": page.rows,
        }
        return Response(self.Output(plain).data)
