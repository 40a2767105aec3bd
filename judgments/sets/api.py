"""Saved sets of queries, to read."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_parameters
from judgments.sets.queries import SetRow, get_set_row, list_set_rows


class SetOutput(AnswerSerializer):
    answer = SetRow
    looks = serializers.IntegerField(source="looks.count")


class Sets(APIView):
    """The saved sets of a collection."""

    @extend_schema(
        operation_id="list_sets", parameters=[PageParameters], responses=page_of(SetOutput)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the saved sets of queries."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        return page_response(request, list_set_rows(access=access, **wish), SetOutput)


class OneSet(APIView):
    """One saved set."""

    class Output(SetOutput):
        """A saved set with the ids of its queries."""

        query_ids = serializers.ListField(child=serializers.CharField())

    @extend_schema(operation_id="get_set", responses=Output)
    def get(self, request: Request, slug: str, set_slug: str) -> Response:
        """Return a saved set with the ids of its queries."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        row, query_ids = get_set_row(access=access, slug=set_slug)
        return Response(SetOutput(row).data | {"query_ids": query_ids})
