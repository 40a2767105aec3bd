"""Failed gates, as CI jobs report them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.comparison.api import DifferenceOutput
from evaluation.comparison.gating import report_gate
from evaluation.comparison.queries import CompareFilters
from judgments.lists.queries import HEAD
from judgments.permissions import get_access
from judgments.rest.parsing import check_parameters, read_input
from touchstone.statistics.non_inferiority import LEVEL


class Gates(APIView):
    """Gates of a list."""

    throttle_scope = "costly"

    class Input(serializers.Serializer[Any]):
        """run, baseline: ranker/run, a ranker for its newest run, or an id. margin, level: as in
        `compare`.
        """

        run = serializers.CharField(max_length=300)
        baseline = serializers.CharField(max_length=300)
        measure = serializers.CharField(max_length=500)
        margin = serializers.FloatField(min_value=0, max_value=1_000_000, default=0.0)
        level = serializers.FloatField(min_value=0.5, max_value=0.9999, default=LEVEL)
        version = serializers.SlugField(max_length=64, default=HEAD)

    @extend_schema(operation_id="report_gate", request=Input, responses=DifferenceOutput)
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Compare a run with a baseline again, and send `gate.failed` to webhooks where it is
        worse; for researchers and leads. `touchstone gate` calls this when it fails.
        """
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        asked = read_input(self.Input, request.data)
        filters = CompareFilters(runs=(f"{asked['baseline']},{asked.pop('run')}",), **asked)
        result = report_gate(access=access, slug=list_slug, filters=filters, at=timezone.now())
        return Response(DifferenceOutput(result).data)
