"""Estimates from samples as values, with what machine judges add; drawing queries for people."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.corrected.drawing import request_draw
from evaluation.corrected.planning import DrawFilters, DrawPage, get_draw_page
from evaluation.corrected.queries import get_estimates_and_corrections
from evaluation.samples.queries import Estimates, SampleFilters
from judgments.permissions import NotFound, check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer, WordsField
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.parsing import check_parameters, read_input, read_parameters
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


class QueriesForPeople(APIView):
    """The queries that people judge to correct a machine judge."""

    class Parameters(serializers.Serializer[DrawFilters]):
        """judge: the `key` of one of the `sources`, else the first. half: of the 95 % interval that
        is wanted, a number between 0 and 1.
        """

        judge = serializers.CharField(max_length=40, allow_blank=True, default="")
        half = serializers.CharField(max_length=40, allow_blank=True, default="")

    class Output(AnswerSerializer):
        answer = DrawPage

    class Input(serializers.Serializer[Any]):
        """n: queries, from 15 to all that the machine judged; or half: of the 95 % interval wanted,
        which takes as many as the answer to GET says. judge: as there. seed: the same draws the
        same.
        """

        judge = serializers.CharField(max_length=40, allow_blank=True, default="")
        n = serializers.IntegerField(min_value=1, allow_null=True, default=None)
        half = serializers.FloatField(allow_null=True, default=None)
        seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1)

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """A number of queries or an interval."""
            if (attrs["n"] is None) == (attrs["half"] is None):
                raise serializers.ValidationError({"n": "Give either n or half."})
            return attrs

    @extend_schema(
        operation_id="plan_queries_for_people",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return how many queries people have to judge for an interval; for leads."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        filters = DrawFilters(key=asked["judge"], half=asked["half"])
        result = get_draw_page(access=access, slug=list_slug, filters=filters)
        return Response(self.Output(result).data)

    @extend_schema(
        operation_id="draw_queries_for_people",
        request=Input,
        responses={202: JobOutput} | REFUSED,
    )
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Draw queries that people judge completely, with equal chances; a worker does it. For
        leads.
        """
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        data = read_input(self.Input, request.data)
        half = "" if data["half"] is None else str(data["half"])
        filters = DrawFilters(key=data["judge"], half=half)
        page = get_draw_page(access=access, slug=list_slug, filters=filters)
        if page.source is None:
            raise NotFound("machine judge")
        job = request_draw(
            access=access,
            judgment_list=page.list,
            key=page.source.key,
            n=data["n"] or page.n or 0,
            seed=data["seed"],
            at=timezone.now(),
        )
        return accepted(access, job)
