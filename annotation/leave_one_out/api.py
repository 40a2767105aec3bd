"""Comparisons without the labels of each annotator, as values."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.leave_one_out.queries import WithoutEach, get_without_each
from evaluation.public import RunsFilters, count_look
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class LooksField(serializers.IntegerField):
    """Looks at the set, including this one; from the serializer's context, not the answer."""

    def get_attribute(self, instance: object) -> Any:
        return self.context["looks"]


class ComparisonWithout(APIView):
    """Compare runs without each annotator's labels in turn."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """As in `compare`."""

        runs = serializers.CharField(max_length=4000, allow_blank=True, default="")
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        set = serializers.SlugField(max_length=64, allow_blank=True, default="")

    class Output(AnswerSerializer):
        answer = WithoutEach
        set = serializers.CharField(source="chosen.sets.slug")
        looks = LooksField(allow_null=True)

    @extend_schema(
        operation_id="compare_without", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return the order of runs with each annotator's labels left out in turn."""
        asked = read_parameters(request, self.Parameters)
        runs = asked.pop("runs")
        filters = RunsFilters(runs=(runs,) if runs.strip() else (), **asked)
        access = get_access(viewer=request.user, slug=slug)
        result = get_without_each(access=access, slug=list_slug, filters=filters)
        look = SetLook.Page.REST_COMPARISON
        looks = count_look(access=access, sets=result.chosen.sets, page=look, at=timezone.now())
        own = {"looks": looks and looks.count}
        return Response(self.Output(result, context=own).data)
