"""What to judge next, as values."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.judge_next import queries
from evaluation.runs.selection_api import run_names
from evaluation.set_looks.api import OfSetOutput, SetParameter, of_set
from judgments.lists.queries import get_list
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class JudgeNext(APIView):
    """What to judge next on a list, at its newest version."""

    throttle_scope = "costly"

    class Parameters(SetParameter):
        """runs, measure, segment, set: as in `compare`; without runs, every ranker's newest."""

        runs = serializers.CharField(max_length=4000, allow_blank=True, default="")
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        n = serializers.IntegerField(
            min_value=1, max_value=queries.MOST_PAIRS, default=queries.USUAL_PAIRS
        )

    class Output(OfSetOutput, AnswerSerializer):
        answer = queries.JudgeNext

    @extend_schema(
        operation_id="judge_next", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """List the pairs whose labels could change the comparison of some runs the most."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = queries.get_judge_next(
            access=access,
            judgment_list=get_list(access=access, slug=list_slug),
            asked=queries.NextAsked(runs=run_names(asked.pop("runs")), **asked),
        )
        own = of_set(access, result.sets, SetLook.Page.REST_JUDGE_NEXT)
        return Response(self.Output(result, context=own).data)
