"""Canaries and deployments over REST."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.canaries.queries import (
    CanariesPage,
    OpenIncident,
    get_canaries_page,
    get_canary,
)
from evaluation.canaries.rules import MOST as MOST_RULES
from evaluation.canaries.services import (
    CanaryRefused,
    create_canary,
    mark_deployment,
    retire_canary,
)
from evaluation.runs.names import list_named_runs
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
    floor = serializers.FloatField(allow_null=True)
    rules = serializers.ListField(child=serializers.CharField())
    coverage_margin = serializers.FloatField()
    latency_limit = serializers.FloatField(allow_null=True)
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


class CanaryInput(serializers.Serializer[Any]):
    """list, set: short names; without a set all judged queries count. baseline: ranker/run, or an
    id. margin, coverage_margin: the largest fall of the mean, and of the share of judged documents.
    latency_limit: seconds of the 95th percentile. floor: the lowest mean. rules: such as
    "q1: d12 in top 3", "q1: at least 0.8", "q1: at most 0.1 below baseline", "board: nDCG@10 at
    least 0.5" and "board: every measure at most 0.02 below baseline".
    """

    # above the field `list`, which hides the type
    rules = serializers.ListField(
        child=serializers.CharField(max_length=500), max_length=MOST_RULES, default=list
    )
    list = serializers.SlugField(max_length=64)
    measure = serializers.CharField(max_length=200, default="nDCG@10")
    set = serializers.SlugField(max_length=64, allow_blank=True, default="")
    baseline = serializers.CharField(max_length=300)
    margin = serializers.FloatField(min_value=0, max_value=1e6, default=0.02)
    coverage_margin = serializers.FloatField(min_value=0, max_value=1, default=0.1)
    latency_limit = serializers.FloatField(
        min_value=0.001, max_value=60, allow_null=True, default=None
    )
    floor = serializers.FloatField(allow_null=True, default=None)
    in_a_row = serializers.IntegerField(min_value=1, max_value=20, default=2)


class Canaries(APIView):
    """What is watched of a live ranker."""

    @extend_schema(operation_id="list_canaries", responses=CanariesOutput)
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Return the canaries of a ranker and their open incidents."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(CanariesOutput(get_canaries_page(access=access, slug=ranker_slug)).data)

    @extend_schema(operation_id="create_canary", request=CanaryInput, responses={201: CanaryOutput})
    def post(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Watch a live ranker from its next snapshot on; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        page = get_canaries_page(access=access, slug=ranker_slug)
        given = read_input(CanaryInput, request.data)
        chosen = {
            "judgment_list": _named(page.lists, given.pop("list"), "list"),
            "saved_set": _named(page.sets, name, "set") if (name := given.pop("set")) else None,
        }
        (baseline,) = list_named_runs(access=access, names=[given.pop("baseline")])
        try:
            made = create_canary(
                access=access,
                ranker=page.ranker,
                baseline=baseline,
                at=timezone.now(),
                **chosen,
                **given,
            )
        except CanaryRefused as error:
            field = {"judgment_list": "list", "saved_set": "set"}.get(error.field, error.field)
            raise ValidationError({field: error.message}) from error
        rows = get_canaries_page(access=access, slug=ranker_slug).rows
        row = next(one for one in rows if one.id == made.pk)
        return Response(CanaryOutput(row).data, status=201)


class OneCanary(APIView):
    """One canary."""

    @extend_schema(operation_id="retire_canary", responses={204: None})
    def delete(self, request: Request, slug: str, ranker_slug: str, canary_id: int) -> Response:
        """Watch no more; for researchers and leads. 422 where it is retired already."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        canary = get_canary(access=access, slug=ranker_slug, canary_id=canary_id)
        retire_canary(access=access, canary=canary, at=timezone.now())
        return Response(status=204)


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


def _named(choices: Sequence[Any], slug: str, field: str) -> Any:
    """Which of some lists or sets is meant."""
    result = next((one for one in choices if one.slug == slug), None)
    if result is None:
        raise ValidationError({field: f"No {field} named {slug}."})
    return result
