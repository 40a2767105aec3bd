"""Where a judgment came from, as values."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.adjudication.pairs import History, get_history
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class PairHistory(APIView):
    """A query and a document in a list."""

    class Parameters(serializers.Serializer[Any]):
        """Their ids."""

        query = serializers.CharField(max_length=1000, trim_whitespace=False)
        document = serializers.CharField(max_length=1000, trim_whitespace=False)

    class Output(AnswerSerializer):
        answer = History

    @extend_schema(
        operation_id="get_pair_history", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return a pair's history: labels, adjudications, and its grades by version; for leads."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = get_history(
            access=access, list_slug=list_slug, qid=asked["query"], docid=asked["document"]
        )
        return Response(self.Output(result).data)
