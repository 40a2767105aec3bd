"""Samples: drawn, and read as values."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.lists.queries import get_list
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.schema import REFUSED
from judgments.samples.designs import OPTIMAL, PER_QUERY, PER_SEARCH, QUERIES, SEARCHES, Design
from judgments.samples.queries import (
    DrawnRow,
    SamplePage,
    SampleRow,
    get_sample_page,
    list_drawn,
    list_samples,
)
from judgments.samples.services import request_sample
from judgments.traffic.queries import get_frame, parse_cuts


class SampleRowOutput(AnswerSerializer):
    answer = SampleRow


class Samples(APIView):
    """The samples of a list."""

    class Output(serializers.Serializer[Any]):
        """The samples, newest first."""

        results = SampleRowOutput(many=True)

    class Input(serializers.Serializer[Any]):
        """A design. traffic: the number of the log. cuts: of strata, in percent of searches; "" for
        none. n: queries, or budget: labels that the allocation may cost. by_size: probabilities in
        proportion to searches (sequential Poisson); else equal within a stratum. allocation: of n
        to strata. target: the mean that an optimal allocation is for. spreads: standard deviations,
        costs: labels per query; one for all strata, or one each.
        """

        traffic = serializers.IntegerField(min_value=1)
        name = serializers.CharField(max_length=200, allow_blank=True, default="")
        seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1)
        n = serializers.IntegerField(min_value=2, allow_null=True, default=None)
        budget = serializers.FloatField(min_value=1, allow_null=True, default=None)
        cuts = serializers.CharField(max_length=100, allow_blank=True, default="")
        by_size = serializers.BooleanField(default=False)
        allocation = serializers.ChoiceField((SEARCHES, QUERIES, OPTIMAL), default=SEARCHES)
        target = serializers.ChoiceField((PER_SEARCH, PER_QUERY), default=PER_SEARCH)
        spreads = serializers.ListField(
            child=serializers.FloatField(min_value=0), default=list, max_length=8
        )
        costs = serializers.ListField(
            child=serializers.FloatField(min_value=0), default=list, max_length=8
        )

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """A number of queries or a budget."""
            if (attrs["n"] is None) == (attrs["budget"] is None):
                raise serializers.ValidationError({"n": "Give either n or a budget."})
            return attrs

    @extend_schema(operation_id="list_samples", responses=Output)
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """List the samples that are judged on a list, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        result = list_samples(judgment_list=get_list(access=access, slug=list_slug))
        return Response(self.Output({"results": result}).data)

    @extend_schema(operation_id="draw_sample", request=Input, responses={202: JobOutput} | REFUSED)
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Draw a sample of a traffic log; a worker does it. For leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        judgment_list = get_list(access=access, slug=list_slug)
        data = read_input(self.Input, request.data)
        frame = get_frame(access=access, number=data.pop("traffic"))
        name, seed = data.pop("name"), data.pop("seed")
        is_budget = data["budget"] is not None
        design = Design(
            **data
            | {
                "cuts": parse_cuts(data["cuts"]),
                "spreads": tuple(data["spreads"]),
                "costs": tuple(data["costs"]),
                "allocation": OPTIMAL if is_budget else data["allocation"],
            }
        )
        job = request_sample(
            access=access,
            at=timezone.now(),
            frame=frame,
            judgment_list=judgment_list,
            name=name,
            design=design,
            seed=seed,
        )
        return accepted(access, job)


class Sample(APIView):
    """One sample."""

    class Output(AnswerSerializer):
        answer = SamplePage

    @extend_schema(operation_id="get_sample", responses=Output)
    def get(self, request: Request, slug: str, list_slug: str, number: int) -> Response:
        """Return how a sample was drawn, what is judged of it, and what earlier ones share."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        result = get_sample_page(access=access, list_slug=list_slug, number=number, page="")
        return Response(self.Output(result).data)


class SampleQueries(APIView):
    """The queries of a sample."""

    class Output(AnswerSerializer):
        answer = DrawnRow

    @extend_schema(
        operation_id="list_sample_queries", parameters=[PageParameters], responses=page_of(Output)
    )
    def get(self, request: Request, slug: str, list_slug: str, number: int) -> Response:
        """List the drawn queries with their strata and inclusion probabilities."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        part = list_drawn(access=access, list_slug=list_slug, number=number, **wish)
        return page_response(request, part, self.Output)
