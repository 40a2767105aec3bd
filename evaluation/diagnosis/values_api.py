"""A run's value of every query, as values."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.diagnosis import run_values
from evaluation.diagnosis.selection import RunFilters
from evaluation.runs.resources import get_run_of
from evaluation.set_looks.api import OfSetOutput, SetParameter, of_set
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.pages.paging import parted
from judgments.permissions import NotFound, get_access
from judgments.rest.answers import AnswerSerializer, serializer_of
from judgments.rest.paging import PageParameters, page_response
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED

QueryValueOutput = serializer_of(run_values.QueryValue)


class RunValues(APIView):
    """Per-query values of a run on a list."""

    class Parameters(PageParameters, SetParameter):
        """list: the list. measure: a name, or a tool's definition; else the first that the list
        keeps. version: a number, the name of a release, or head. segment, set: only their queries;
        for a held-out set, the request counts as a look.
        """

        list = serializers.SlugField(max_length=64)
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )

    class Output(OfSetOutput, AnswerSerializer):
        answer = run_values.RunValues
        results = QueryValueOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="get_run_values", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """Return the run's value for every judged query, for your own tests and plots."""
        asked = read_parameters(request, self.Parameters)
        cut = parted(asked.pop("after"), asked.pop("limit"))
        filters = RunFilters(list_slug=asked.pop("list"), sort="qid", **asked)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        result = run_values.get_run_values(
            access=access, public_id=run_id, filters=filters, cut=cut
        )
        if result.sets is None:
            raise NotFound("list")
        own = of_set(access, result.sets, SetLook.Page.REST_RUN)
        more = serializer_of(run_values.RunValues)(result).data
        return page_response(request, result.rows, QueryValueOutput, more | own)
