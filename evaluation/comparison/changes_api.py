"""Why numbers changed, as values: by another version of a list, or from one run to another."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.comparison import rank_changes, version_impact
from evaluation.runs.resources import get_run_of
from evaluation.runs.selection_api import RunsParameters, runs_filters
from evaluation.set_looks.api import OfSetOutput, SetParameter, of_set
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.pages.paging import parted
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer, serializer_of
from judgments.rest.paging import PageParameters, page_response
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED

QueryMoveOutput = serializer_of(version_impact.QueryMove)
ChangedQueryOutput = serializer_of(rank_changes.ChangedQuery)


class Effect(APIView):
    """The effect of a version change on all runs of a list."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """measure: a name; without it, the first that the list keeps."""

        measure = serializers.CharField(max_length=500, allow_blank=True, default="")

    class Output(AnswerSerializer):
        """before, after: version numbers. runs: largest change first."""

        answer = version_impact.Effect

    @extend_schema(
        operation_id="get_effect", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str, before: str, after: str) -> Response:
        """Return how every run's mean changed from one version to another, in either direction.

        Each version is named by its number, by a release's name, or as `head`; 0 is the empty list.
        """
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = version_impact.get_effect(
            access=access, slug=list_slug, before=before, after=after, **asked
        )
        return Response(self.Output(result).data)


class RunMoves(APIView):
    """Why a run's mean changed."""

    throttle_scope = "costly"

    class Parameters(PageParameters, SetParameter):
        """list: the list. since, version: from which of its versions to which. measure: a name,
        else the first that the list keeps. set: only the queries of a saved set, or, with `side`
        outside, only the others; the means are of the set either way. If it is held out, asking
        is a look.
        """

        list = serializers.SlugField(max_length=64)
        since = serializers.SlugField(max_length=64)
        version = serializers.SlugField(max_length=64, default=HEAD)
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        side = serializers.ChoiceField(choices=["inside", version_impact.OUTSIDE], default="inside")

    class Output(OfSetOutput, AnswerSerializer):
        """since, version: version numbers. mean_before, mean_after: null if no query is in the
        mean.

        inside, outside: number of changed queries inside and outside the set.
        """

        answer = version_impact.RunMoves
        results = QueryMoveOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="get_run_moves", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """List the queries of a run whose values differ between two versions, with the changed
        grades.
        """
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        result = version_impact.get_run_moves(
            access=access,
            public_id=run_id,
            slug=asked["list"],
            before=asked["since"],
            after=asked["version"],
            measure=asked["measure"],
            saved_set=asked["set"],
            side=asked["side"],
            cut=parted(asked["after"], asked["limit"]),
        )
        own = of_set(access, result.sets, SetLook.Page.REST_MOVES)
        more = serializer_of(version_impact.RunMoves)(result).data
        return page_response(request, result.rows, QueryMoveOutput, more | own)


class MovedDocuments(APIView):
    """The documents that moved between two runs."""

    throttle_scope = "costly"

    class Parameters(PageParameters, RunsParameters):
        """runs: two of them; the rest as in `compare`."""

    class Output(OfSetOutput, AnswerSerializer):
        """depth: number of ranks compared. queries: number of queries in both means."""

        answer = rank_changes.MovedDocuments
        results = ChangedQueryOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="get_moved_documents",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """List, by query, the documents that entered or left the top ranks, rose or fell."""
        asked = read_parameters(request, self.Parameters)
        cut = parted(asked.pop("after"), asked.pop("limit"))
        access = get_access(viewer=request.user, slug=slug)
        result = rank_changes.get_moved_documents(
            access=access, slug=list_slug, filters=runs_filters(asked), cut=cut
        )
        own = of_set(access, result.sets, SetLook.Page.REST_DOCUMENTS)
        more = serializer_of(rank_changes.MovedDocuments)(result).data
        return page_response(request, result.rows, ChangedQueryOutput, more | own)
