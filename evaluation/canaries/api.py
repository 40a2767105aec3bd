"""Canaries and deployments over REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.canaries.queries import CanariesPage, OpenIncident, get_canaries_page
from evaluation.canaries.services import CanaryRefused, mark_deployment
from evaluation.runs.queries import get_ranker
from judgments.permissions import check_may_upload_runs, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input


class IncidentOutput(AnswerSerializer):
    answer = OpenIncident


class CanaryOutput(serializers.Serializer[Any]):
    """A canary. incidents: those that are open: what, in words, and since when."""

    id = serializers.IntegerField()
    measure = serializers.CharField()
    list = serializers.CharField(source="list_name")
    baseline = serializers.UUIDField(source="baseline_id")
    margin = serializers.FloatField()
    in_a_row = serializers.IntegerField()
    incidents = IncidentOutput(many=True)


class CanariesOutput(serializers.Serializer[Any]):
    """is_ok: no incident is open."""

    is_ok = serializers.SerializerMethodField()
    canaries = CanaryOutput(source="rows", many=True)

    def get_is_ok(self, page: CanariesPage) -> bool:
        """Whether nothing is wrong."""
        return not any(row.incidents for row in page.rows)


class EventOutput(serializers.Serializer[Any]):
    """A mark on a ranker's time line."""

    name = serializers.CharField()
    at = serializers.DateTimeField()


class Canaries(APIView):
    """What is watched of a live ranker."""

    @extend_schema(operation_id="list_canaries", responses=CanariesOutput)
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Return the canaries of a ranker and their open incidents."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(CanariesOutput(get_canaries_page(access=access, slug=ranker_slug)).data)


class Events(APIView):
    """Deployments."""

    class Input(serializers.Serializer[Any]):
        """name: what was deployed, such as a commit."""

        name = serializers.CharField(max_length=200)

    @extend_schema(operation_id="mark_deployment", request=Input, responses={201: EventOutput})
    def post(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Mark a deployment on a ranker's time line; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        ranker = get_ranker(access=access, slug=ranker_slug)
        given = read_input(self.Input, request.data)
        try:
            marked = mark_deployment(access=access, ranker=ranker, at=timezone.now(), **given)
        except CanaryRefused as error:
            raise ValidationError({error.field: error.message}) from error
        return Response(EventOutput(marked).data, status=201)
