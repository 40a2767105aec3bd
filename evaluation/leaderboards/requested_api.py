"""Measures on demand: asked for once, computed by a worker, then read from the leaderboard."""

from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.leaderboards.requested import RequestedMeasures, enqueue, get_requested
from judgments.lists.queries import HEAD
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.schema import REFUSED


class ListMeasures(APIView):
    """Measures that a list's leaderboard does not store."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """measures: names, separated by spaces or commas. version: a number, a release, or head."""

        measures = serializers.CharField(max_length=2000)
        version = serializers.SlugField(max_length=64, default=HEAD)

    class Output(AnswerSerializer):
        answer = RequestedMeasures

    @extend_schema(
        operation_id="request_measures",
        request=Parameters,
        responses={200: Output, 202: Output},
    )
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Have a worker compute measures of every run; for researchers and leads.

        202 with the URL of the state in `Location`; 200 if all values are already computed.
        """
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        result = get_requested(
            access=access, slug=list_slug, **read_input(self.Parameters, request.data)
        )
        enqueue(result)
        query = urlencode([("measures", ",".join(result.measures)), ("version", result.version)])
        location = f"{reverse('api-list-measures', args=[slug, list_slug])}?{query}"
        status = 200 if result.state == "ready" else 202
        return Response(self.Output(result).data, status=status, headers={"Location": location})

    @extend_schema(
        operation_id="get_requested_measures",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return the progress. When done, the leaderboard of these measures is complete."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = get_requested(access=access, slug=list_slug, **asked)
        enqueue(result)
        return Response(self.Output(result).data)
