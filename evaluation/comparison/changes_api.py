"""Why numbers changed, as values: by another version of a list, or from one run to another."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.comparison.rank_changes import get_moved_page
from evaluation.comparison.version_impact import OUTSIDE, get_effect, get_moves_page
from evaluation.held_out.api import OfSetOutput, SetParameter, of_set
from evaluation.runs.resources import get_run_of
from evaluation.runs.selection_api import RunMeanOutput, RunsParameters, mean_values, runs_filters
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.pages.paging import parted
from judgments.permissions import get_access
from judgments.rest.paging import PageParameters, page_response
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class RunEffectOutput(serializers.Serializer[Any]):
    """A run's mean at both versions, null where it has none. change: after less before."""

    ranker = serializers.CharField(source="ranker_slug")
    run = serializers.CharField(source="run_name")
    id = serializers.UUIDField(source="run_id")
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    change = serializers.FloatField(allow_null=True)


class Effect(APIView):
    """What another version of a list did to its runs."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """measure: a name; without it, the first that the list keeps."""

        measure = serializers.CharField(max_length=500, allow_blank=True, default="")

    class Output(serializers.Serializer[Any]):
        """before, after: the numbers of the versions. runs: the most moved first."""

        before = serializers.IntegerField()
        after = serializers.IntegerField()
        measure = serializers.CharField()
        runs = RunEffectOutput(many=True, source="rows")

    @extend_schema(
        operation_id="get_effect", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str, before: str, after: str) -> Response:
        """How far every run's mean moved from one version to another, in either direction.

        Each is named by its number, by a release's name, or as `head`; 0 is the empty list.
        """
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        page = get_effect(access=access, slug=list_slug, before=before, after=after, **asked)
        return Response(self.Output(page).data)


class GradeChangeOutput(serializers.Serializer[Any]):
    """A document whose grade differs, null where it has none. rank: in the run, null if nowhere."""

    doc_id = serializers.CharField(source="docid")
    rank = serializers.IntegerField(allow_null=True)
    before = serializers.IntegerField(allow_null=True, source="before.code", default=None)
    after = serializers.IntegerField(allow_null=True, source="after.code", default=None)


class QueryMoveOutput(serializers.Serializer[Any]):
    """A query whose value differs; null where it is not in the mean.

    documents: whose grades differ, those first that the run shows; more: how many are left out.
    """

    query_id = serializers.CharField(source="qid")
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    change = serializers.FloatField()
    documents = GradeChangeOutput(many=True, source="pairs")
    more = serializers.IntegerField()


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
        side = serializers.ChoiceField(choices=["inside", OUTSIDE], default="inside")

    class Output(OfSetOutput):
        """since, version: the numbers. mean_before, mean_after: null where no query is in one.

        inside, outside: how many queries moved in the set, and not.
        """

        since = serializers.IntegerField()
        version = serializers.IntegerField()
        measure = serializers.CharField()
        mean_before = serializers.FloatField(allow_null=True)
        mean_after = serializers.FloatField(allow_null=True)
        inside = serializers.IntegerField()
        outside = serializers.IntegerField()
        results = QueryMoveOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="get_run_moves", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """The queries of a run whose values differ between two versions, and the grades behind."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        page = get_moves_page(
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
        plain = {
            "since": page.before,
            "version": page.after,
            "measure": page.measure,
            "mean_before": page.means[0],
            "mean_after": page.means[1],
            "inside": page.inside,
            "outside": page.outside,
        }
        own = of_set(access, page.sets, SetLook.Page.REST_MOVES)
        return page_response(request, page.rows, QueryMoveOutput, plain | own)


class MovedDocumentOutput(serializers.Serializer[Any]):
    """A document's rank in both runs; null: not among the first. grade: null where unjudged."""

    doc_id = serializers.CharField(source="docid")
    before = serializers.IntegerField(allow_null=True)
    after = serializers.IntegerField(allow_null=True)
    grade = serializers.IntegerField(allow_null=True, source="grade.code", default=None)


class ChangedQueryOutput(serializers.Serializer[Any]):
    """A query on which the first ranks differ, and its value in each run.

    stayed: how many documents kept their ranks.
    """

    query_id = serializers.CharField(source="qid")
    first = serializers.FloatField()
    second = serializers.FloatField()
    difference = serializers.FloatField()
    stayed = serializers.IntegerField(source="same")
    documents = MovedDocumentOutput(many=True)


class MovedDocuments(APIView):
    """The documents that moved between two runs."""

    throttle_scope = "costly"

    class Parameters(PageParameters, RunsParameters):
        """runs: two of them; the rest as in `compare`."""

    class Output(OfSetOutput):
        """depth: so many first ranks are held against each other. queries: in both means."""

        version = serializers.IntegerField()
        measure = serializers.CharField()
        depth = serializers.IntegerField()
        queries = serializers.IntegerField()
        first = RunMeanOutput()
        second = RunMeanOutput()
        results = ChangedQueryOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="get_moved_documents",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Which documents came into the first ranks, left them, rose or fell, query by query."""
        asked = read_parameters(request, self.Parameters)
        cut = parted(asked.pop("after"), asked.pop("limit"))
        access = get_access(viewer=request.user, slug=slug)
        page = get_moved_page(access=access, slug=list_slug, filters=runs_filters(asked), cut=cut)
        plain = {
            "version": page.chosen.version,
            "measure": page.chosen.asked.canonical,
            "depth": page.chosen.depth,
            "queries": page.queries,
            "first": mean_values(page.first),
            "second": mean_values(page.second),
        }
        own = of_set(access, page.sets, SetLook.Page.REST_DOCUMENTS)
        return page_response(request, page.rows, ChangedQueryOutput, plain | own)
