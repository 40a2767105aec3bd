"""Estimates from samples as values, with what machine judges add."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.corrected.queries import get_estimates_and_corrections
from evaluation.samples.queries import Estimates, SampleFilters
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer, WordsField
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.versions.takes import takes_at


class SampleEstimates(APIView):
    """What a sample says of a list's runs."""

    class Parameters(serializers.Serializer[SampleFilters]):
        """sample: its number, else the newest of the list. measure: one that the list keeps, else
        the first of them. post_stratified: weight strata by the newest traffic, not by that of the
        draw.
        """

        sample = serializers.CharField(max_length=20, allow_blank=True, default="")
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        post_stratified = serializers.BooleanField(default=False)

    class Output(AnswerSerializer):
        answer = Estimates
        grades_from = WordsField(lambda one: takes_at(list_id=one.list.pk, version=one.list.head))

    @extend_schema(
        operation_id="get_estimates", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return every run's means per query and per search, and corrected by machine judges."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        filters = SampleFilters(**asked)
        result = get_estimates_and_corrections(access=access, slug=list_slug, filters=filters)
        return Response(self.Output(result).data)
