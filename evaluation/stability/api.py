"""How stable an order of runs is, as values."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.runs.selection_api import RunsParameters, runs_filters
from evaluation.set_looks.api import OfSetOutput, of_set
from evaluation.stability.queries import OrderStability, get_order_stability
from evaluation.stability.services import enqueue
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class Stability(APIView):
    """How stable the order of runs is under resampled queries and labels."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """As in `compare`; without runs, the newest of every ranker."""

    class Output(OfSetOutput, AnswerSerializer):
        answer = OrderStability

    @extend_schema(
        operation_id="get_stability", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return the order of runs under resampled queries and labels."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = get_order_stability(access=access, slug=list_slug, filters=runs_filters(asked))
        enqueue(result)
        own = of_set(access, result.sets, SetLook.Page.REST_COMPARISON)
        return Response(self.Output(result, context=own).data)
