"""How stable an order of runs is, as values."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.held_out.api import OfSetOutput, of_set
from evaluation.runs.selection_api import RunsParameters, runs_filters
from evaluation.stability.pages import StabilityPage, get_stability_page
from evaluation.stability.services import announce
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class StableRunOutput(serializers.Serializer[Any]):
    """A run of the order. low, high: the middle 95 % of its means among resamples of the queries;
    highest, lowest: of its places. first: its share of first places; first_labels: with labels
    drawn as well, null where they can't be. above_next: how often it is above the next run.
    """

    run = serializers.CharField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()
    highest = serializers.IntegerField()
    lowest = serializers.IntegerField()
    first = serializers.FloatField()
    first_labels = serializers.FloatField(allow_null=True)
    above_next = serializers.FloatField(allow_null=True)


class Stability(APIView):
    """The order of some runs among other queries and other labels."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """As in `compare`; without runs, the newest of every ranker."""

    class Output(OfSetOutput):
        """computing: a worker was told to compute it; ask again. runs: as they stand; empty while
        there is no order. tau_median, tau_reached: Kendall's, of half of the resamples with the
        order as it is, and of 95 % of them.
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        computing = serializers.BooleanField()
        resamples = serializers.IntegerField()
        queries = serializers.IntegerField()
        tau_median = serializers.FloatField(allow_null=True)
        tau_reached = serializers.FloatField(allow_null=True)
        runs = StableRunOutput(many=True)

    @extend_schema(
        operation_id="get_stability", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Would the runs stand in this order with other queries, and other people's labels?"""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        page = get_stability_page(access=access, slug=list_slug, filters=runs_filters(asked))
        announce(page.stability)
        own = of_set(access, page.sets, SetLook.Page.REST_COMPARISON)
        return Response(self.Output(_plain(page), context=own).data)


def _plain(page: StabilityPage) -> dict[str, Any]:
    found = page.stability.found if page.stability else None
    return {
        "version": page.version,
        "measure": page.asked.canonical,
        "computing": page.stability is not None and page.stability.freshness.is_due,
        "resamples": found.resamples if found else 0,
        "queries": found.queries if found else 0,
        "tau_median": found and found.tau_median,
        "tau_reached": found and found.tau_reached,
        "runs": found.rows if found else (),
    }
