"""What a sample takes, as values; drawn queries without results."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.samples.planning import PlanFilters, SamplePlanned, get_plan_page
from evaluation.samples.services import count_as_without_results
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_parameters
from judgments.rest.schema import REFUSED
from judgments.samples.designs import PER_SEARCH
from judgments.samples.queries import get_plan
from touchstone.sampling.errors import SamplingError


class ZeroResults(APIView):
    """The drawn queries for which no run has a document."""

    class Output(serializers.Serializer[None]):
        """queries: how many count as without results now that did not before."""

        queries = serializers.IntegerField()

    @extend_schema(operation_id="count_without_results", request=None, responses=Output)
    def post(self, request: Request, slug: str, list_slug: str, number: int) -> Response:
        """Count the drawn queries for which no run has a document as empty rankings; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        plan = get_plan(access=access, list_slug=list_slug, number=number)
        count = count_as_without_results(access=access, plan=plan, at=timezone.now())
        return Response({"queries": count})


class SamplePlanning(APIView):
    """Planning a sample."""

    class Parameters(serializers.Serializer[PlanFilters]):
        """traffic: its number, else the newest. cuts: of strata, in percent of searches. runs: two
        whose past differences show the spread, the baseline first, separated by commas. target:
        `search` or `query`. cost: labels per query, one or one per stratum. price: of a label, in
        the currency. difference or labels: the goal; without one, leads get what the collection's
        budgets leave.
        """

        traffic = serializers.CharField(max_length=20, allow_blank=True, default="")
        cuts = serializers.CharField(max_length=100, allow_blank=True, default=None)
        runs = serializers.CharField(max_length=1000, allow_blank=True, default="")
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        target = serializers.CharField(max_length=20, default=PER_SEARCH)
        cost = serializers.CharField(max_length=200, allow_blank=True, default="")
        price = serializers.CharField(max_length=40, allow_blank=True, default="")
        difference = serializers.CharField(max_length=40, allow_blank=True, default="")
        labels = serializers.CharField(max_length=40, allow_blank=True, default="")

    class Output(AnswerSerializer):
        answer = SamplePlanned

    throttle_scope = "costly"

    @extend_schema(
        operation_id="plan_sample", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return the allocation, cost and expected precision of a sample, before it is drawn."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        filters = PlanFilters(
            frame=asked.pop("traffic"),
            runs=tuple(one for one in asked.pop("runs").split(",") if one.strip()),
            **asked,
        )
        page = get_plan_page(access=access, slug=list_slug, filters=filters, now=timezone.now())
        if page.planned is None:
            raise SamplingError(page.problem or "there is no traffic, or no goal")
        return Response(self.Output(page.planned).data)
