"""Why a run has its value of a query, rank by rank, as values."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.diagnosis.explanations import Definition
from evaluation.diagnosis.run_explained import (
    MeasurePart,
    RankRow,
    RunExplained,
    get_run_explained,
)
from evaluation.diagnosis.selection import RunFilters
from evaluation.runs.resources import get_run_of
from judgments.lists.queries import HEAD
from judgments.pages.paging import parted
from judgments.permissions import NotFound, get_access
from judgments.rest.answers import AnswerSerializer, WordsField
from judgments.rest.paging import PageParameters, page_response
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from touchstone.measures.wording import describe


class ExplainedOutput(AnswerSerializer):
    answer = Definition
    description = WordsField(lambda one: describe(one.asked.measure))


class PartOutput(AnswerSerializer):
    answer = MeasurePart


class RankOutput(AnswerSerializer):
    answer = RankRow
    measures = serializers.DictField(child=PartOutput(), read_only=True)


class RunExplain(APIView):
    """One run's ranking for one query, explained under one definition or several."""

    class Parameters(PageParameters):
        """list: the list. query: its id. measures: up to five, a tool's definition by its preset;
        else the first that the list keeps. version: a number, the name of a release, or head.
        """

        list = serializers.SlugField(max_length=64)
        query = serializers.CharField(max_length=1000, trim_whitespace=False)
        measures = serializers.CharField(max_length=2000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)

    class Above(AnswerSerializer):
        answer = RunExplained
        measures = ExplainedOutput(many=True)

    class Output(Above):
        results = RankOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="explain_run", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """Return what is at each rank, and what it contributes to the query's value."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        result = get_run_explained(
            access=access,
            public_id=run_id,
            qid=asked["query"],
            filters=RunFilters(
                list_slug=asked["list"], version=asked["version"], measure=asked["measures"]
            ),
            cut=lambda _: parted(asked["after"], asked["limit"]),
        )
        if result.selection is None:
            raise NotFound("list")
        return page_response(request, result.rows, RankOutput, self.Above(result).data)
