"""Runs by the clicks of a log, as values."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.click_estimates.queries import (
    MOST_K,
    USUAL_K,
    ClickEstimates,
    get_click_estimates,
)
from judgments.permissions import get_access
from judgments.rate_limits import costly
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


@costly
class ClickRankers(APIView):
    """Runs by the clicks of a log."""

    class Parameters(serializers.Serializer[Any]):
        """k: cutoff of DCG. runs: ranker/run, a ranker for its newest run, or an id, several apart
        by commas; default: the newest of every ranker.
        """

        k = serializers.IntegerField(min_value=1, max_value=MOST_K, default=USUAL_K)
        runs = serializers.CharField(max_length=8000, default="")

    class Output(AnswerSerializer):
        answer = ClickEstimates

    @extend_schema(
        operation_id="estimate_runs_by_clicks",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return counterfactual estimates of runs from a click log: IPS, clipped and SNIPS."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        names = [asked["runs"]] if asked["runs"] else []
        result = get_click_estimates(access=access, number=number, k=asked["k"], names=names)
        return Response(self.Output(result).data)
