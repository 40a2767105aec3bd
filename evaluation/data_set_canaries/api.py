"""Canaries of data sets over REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.canaries.api import IncidentOutput
from evaluation.canaries.rules import MOST as MOST_RULES
from evaluation.canaries.services import CanaryRefused
from evaluation.data_set_canaries.queries import get_data_set_canaries, get_data_set_canary
from evaluation.data_set_canaries.services import (
    create_data_set_canary,
    retire_data_set_canary,
)
from judgments.permissions import check_may_upload_runs, get_access
from judgments.rest.parsing import check_parameters, read_input


class DataSetCanaryOutput(serializers.Serializer[Any]):
    """A canary of a data set. days: before it, that are the baseline. incidents: that are open."""

    id = serializers.IntegerField()
    rules = serializers.ListField(child=serializers.CharField())
    segment = serializers.CharField()
    by_segment = serializers.BooleanField(source="is_by_segment")
    days = serializers.IntegerField()
    fewest_queries = serializers.IntegerField(source="fewest")
    in_a_row = serializers.IntegerField()
    incidents = IncidentOutput(many=True)


class DataSetCanariesOutput(serializers.Serializer[Any]):
    """is_ok: no incident is open."""

    is_ok = serializers.BooleanField()
    canaries = DataSetCanaryOutput(source="rows", many=True)


class DataSetCanaries(APIView):
    """What is watched of a data set."""

    class Input(serializers.Serializer[Any]):
        """rules: such as "board: nDCG@10 at least 0.5" and "board: every measure at most 0.02
        below baseline". segment: whose queries count; by_segment: each segment must keep the rules.
        days: how many days, or evaluations, before it are the baseline.
        """

        rules = serializers.ListField(
            child=serializers.CharField(max_length=500), min_length=1, max_length=MOST_RULES
        )
        segment = serializers.CharField(max_length=200, allow_blank=True, default="")
        by_segment = serializers.BooleanField(source="is_by_segment", default=False)
        days = serializers.IntegerField(min_value=1, max_value=90, default=1)
        fewest_queries = serializers.IntegerField(
            source="fewest", min_value=2, max_value=1_000_000_000, default=100
        )
        in_a_row = serializers.IntegerField(min_value=1, max_value=20, default=1)

    @extend_schema(operation_id="list_data_set_canaries", responses=DataSetCanariesOutput)
    def get(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Return the canaries of a data set and their open incidents."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        page = get_data_set_canaries(access=access, slug=data_set_slug)
        return Response(DataSetCanariesOutput(page).data)

    @extend_schema(
        operation_id="create_data_set_canary", request=Input, responses={201: DataSetCanaryOutput}
    )
    def post(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Watch a data set from its next evaluation on; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        page = get_data_set_canaries(access=access, slug=data_set_slug)
        given = read_input(self.Input, request.data)
        try:
            made = create_data_set_canary(
                access=access, data_set=page.data_set, at=timezone.now(), **given
            )
        except CanaryRefused as error:
            raise ValidationError({error.field: error.message}) from error
        rows = get_data_set_canaries(access=access, slug=data_set_slug).rows
        row = next(one for one in rows if one.id == made.pk)
        return Response(DataSetCanaryOutput(row).data, status=201)


class OneDataSetCanary(APIView):
    """One canary of a data set."""

    @extend_schema(operation_id="retire_data_set_canary", responses={204: None})
    def delete(self, request: Request, slug: str, data_set_slug: str, canary_id: int) -> Response:
        """Watch no more; for researchers and leads. 422 where it is retired already."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        canary = get_data_set_canary(access=access, slug=data_set_slug, canary_id=canary_id)
        retire_data_set_canary(access=access, canary=canary, at=timezone.now())
        return Response(status=204)
