"""A run's nDCG, and a list's order of runs, as every public tool has them, as values."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.runs.resources import get_run_of
from evaluation.tool_differences.queries import (
    USUAL_CUTOFF,
    ListToolOrders,
    ReversedPair,
    RunPlaces,
    RunToolValues,
    SharedOrder,
    ToolFilters,
    ToolValue,
    get_list_tool_orders,
    get_run_tool_values,
)
from evaluation.tool_differences.services import enqueue
from judgments.lists.queries import HEAD
from judgments.permissions import NotFound, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from touchstone.measures.tool_differences import MOST_CUTOFF


class RosettaParameters(serializers.Serializer[Any]):
    """version: a number, the name of a release, or head. k: the cutoff of nDCG."""

    version = serializers.SlugField(max_length=64, default=HEAD)
    k = serializers.IntegerField(min_value=1, max_value=MOST_CUTOFF, default=USUAL_CUTOFF)


class DialectOutput(AnswerSerializer):
    answer = ToolValue


class RunRosetta(APIView):
    """A run in every dialect of nDCG."""

    throttle_scope = "costly"

    class Parameters(RosettaParameters):
        """list: the list."""

        list = serializers.SlugField(max_length=64)

    class Output(AnswerSerializer):
        answer = RunToolValues
        dialects = DialectOutput(many=True)

    @extend_schema(
        operation_id="get_run_rosetta", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """Return this run's nDCG as each public tool computes it."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        filters = ToolFilters(asked["list"], asked["version"], str(asked["k"]))
        result = get_run_tool_values(access=access, public_id=run_id, filters=filters)
        if result.looked_at is None:
            raise NotFound("list")
        enqueue(result)
        return Response(self.Output(result).data)


class OrderOutput(AnswerSerializer):
    answer = SharedOrder


class PlacesOutput(AnswerSerializer):
    answer = RunPlaces


class DisputedOutput(AnswerSerializer):
    answer = ReversedPair


class ListRosetta(APIView):
    """A list's order of runs in every dialect of nDCG."""

    throttle_scope = "costly"

    class Output(AnswerSerializer):
        answer = ListToolOrders
        orders = OrderOutput(many=True)
        runs = PlacesOutput(many=True)
        pairs = DisputedOutput(many=True)

    @extend_schema(
        operation_id="get_rosetta",
        parameters=[RosettaParameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return the order of a list's runs as each public tool computes it."""
        asked = read_parameters(request, RosettaParameters)
        access = get_access(viewer=request.user, slug=slug)
        filters = ToolFilters(list_slug, asked["version"], str(asked["k"]))
        result = get_list_tool_orders(access=access, slug=list_slug, filters=filters)
        enqueue(result)
        return Response(self.Output(result).data)
