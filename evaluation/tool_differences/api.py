"""A run's nDCG, and a list's order of runs, as every public tool has them, as values."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.runs.resources import get_run_of
from evaluation.tool_differences.pages import (
    USUAL_CUTOFF,
    RosettaFilters,
    get_list_rosetta_page,
    get_run_rosetta_page,
)
from judgments.lists.queries import HEAD
from judgments.permissions import NotFound, get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from touchstone.measures.rosetta import MOST_CUTOFF


class RosettaParameters(serializers.Serializer[Any]):
    """version: a number, the name of a release, or head. k: the cutoff of nDCG."""

    version = serializers.SlugField(max_length=64, default=HEAD)
    k = serializers.IntegerField(min_value=1, max_value=MOST_CUTOFF, default=USUAL_CUTOFF)


class DialectOutput(serializers.Serializer[Any]):
    """A tool's number. mean: over `n` queries; null where the tool has none, `problem` says why.

    difference: to the list's own. caveat: where the tool can't be followed.
    """

    preset = serializers.CharField(source="spoken.preset")
    tool = serializers.CharField()
    definition = serializers.CharField(source="measure")
    mean = serializers.FloatField(allow_null=True, source="spoken.mean")
    n = serializers.IntegerField(source="spoken.queries")
    difference = serializers.FloatField(allow_null=True)
    problem = serializers.CharField(source="spoken.problem")
    caveat = serializers.CharField()


class RunRosetta(APIView):
    """A run in every dialect of nDCG."""

    throttle_scope = "costly"

    class Parameters(RosettaParameters):
        """list: the list."""

        list = serializers.SlugField(max_length=64)

    class Output(serializers.Serializer[Any]):
        """mean: of the list's own nDCG. dialects: the highest mean first; none where nothing is
        judged, and where the run is too long to be waited for (is_too_long).
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        mean = serializers.FloatField(allow_null=True)
        n = serializers.IntegerField()
        is_too_long = serializers.BooleanField()
        dialects = DialectOutput(many=True)

    @extend_schema(
        operation_id="get_run_rosetta", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """What every public tool would print as this run's nDCG."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        filters = RosettaFilters(asked["list"], asked["version"], str(asked["k"]))
        page = get_run_rosetta_page(access=access, public_id=run_id, filters=filters)
        if page.view is None or page.own is None:
            raise NotFound("list")
        plain = {
            "version": page.view.version,
            "measure": page.view.own_name,
            "mean": page.own.value,
            "n": page.own.queries,
            "is_too_long": page.is_too_long,
            "dialects": page.rows,
        }
        return Response(self.Output(plain).data)


class OrderOutput(serializers.Serializer[Any]):
    """An order of the runs. presets: the tools that have it. is_own: the list's own is this one."""

    presets = serializers.ListField(child=serializers.CharField())
    is_own = serializers.BooleanField()


class PlacesOutput(serializers.Serializer[Any]):
    """A run. places: in each of the orders, from 1; null where an order does not know it."""

    ranker = serializers.CharField(source="ranker_slug")
    run = serializers.CharField(source="name")
    id = serializers.UUIDField(source="public_id")
    places = serializers.ListField(child=serializers.IntegerField(allow_null=True))


class DisputedOutput(serializers.Serializer[Any]):
    """Two runs whose order depends on the tool; which tools have which of them ahead."""

    first = serializers.UUIDField(source="first.public_id")
    second = serializers.UUIDField(source="second.public_id")
    for_first = serializers.ListField(child=serializers.CharField())
    for_second = serializers.ListField(child=serializers.CharField())


class ListRosetta(APIView):
    """A list's order of runs in every dialect of nDCG."""

    throttle_scope = "costly"

    class Output(serializers.Serializer[Any]):
        """orders: those there are, the list's own first. runs: best first by the list's own.

        computing: runs that are still to come; ask again. left_out: worse runs than the first 60.
        disputed: how many pairs of runs change places; pairs: the first 50 of them.
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        computing = serializers.IntegerField(source="waiting")
        left_out = serializers.IntegerField()
        orders = OrderOutput(many=True)
        runs = PlacesOutput(many=True)
        disputed = serializers.IntegerField()
        pairs = DisputedOutput(many=True)

    @extend_schema(
        operation_id="get_rosetta",
        parameters=[RosettaParameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """The order of a list's runs as each public tool would have it."""
        asked = read_parameters(request, RosettaParameters)
        access = get_access(viewer=request.user, slug=slug)
        filters = RosettaFilters(list_slug, asked["version"], str(asked["k"]))
        page = get_list_rosetta_page(access=access, slug=list_slug, filters=filters)
        plain = {
            "version": page.view.version,
            "measure": page.view.own_name,
            "waiting": page.waiting,
            "left_out": page.left_out,
            "orders": page.orders,
            "runs": page.runs,
            "disputed": page.disputed,
            "pairs": page.pairs,
        }
        return Response(self.Output(plain).data)
