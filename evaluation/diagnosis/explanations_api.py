"""Why a run has its value of a query, rank by rank, as values."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.diagnosis.explanations import Definition
from evaluation.diagnosis.query_page import (
    Cell,
    IdealRow,
    RankRow,
    RunExplained,
    get_run_explained,
)
from evaluation.diagnosis.selection import RunFilters
from evaluation.leaderboards.api import MeasureOutput
from evaluation.runs.resources import get_run_of
from judgments.lists.queries import HEAD
from judgments.pages.paging import Part, parted
from judgments.permissions import get_access
from judgments.rest.paging import PageParameters, page_response
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class ExplainedOutput(MeasureOutput):
    """A measure and the query's value by it. counted: whether the query is in the mean.

    formula: how the value comes about. dcg, ideal_dcg: null for measures other than nDCG.
    """

    value = serializers.FloatField()
    counted = serializers.BooleanField()
    formula = serializers.CharField()
    dcg = serializers.FloatField(allow_null=True)
    ideal_dcg = serializers.FloatField(allow_null=True)


class PartOutput(serializers.Serializer[Any]):
    """What a measure makes of a document. rank: in its own order of documents of one score.

    contribution: what it adds, to DCG or else to the value; gain, discount: null for measures
    other than nDCG. All three are null where the measure does not look at the document.
    """

    rank = serializers.IntegerField()
    gain = serializers.FloatField(allow_null=True)
    discount = serializers.FloatField(allow_null=True)
    contribution = serializers.FloatField(allow_null=True)


class RankOutput(serializers.Serializer[Any]):
    """A document that the run returned. grade: null where it is not judged.

    is_tied: a neighbour has the same score. measures: what each makes of it, by its name.
    """

    rank = serializers.IntegerField()
    doc_id = serializers.CharField()
    score = serializers.FloatField()
    grade = serializers.IntegerField(allow_null=True)
    is_tied = serializers.BooleanField()
    measures = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=PartOutput()))
    def get_measures(self, row: dict[str, Any]) -> dict[str, Any]:
        """Each measure's part."""
        return {name: PartOutput(part).data for name, part in row["parts"].items()}


class IdealRankOutput(serializers.Serializer[Any]):
    """A rank of the best order there could be. doc_id, grade: null where only the gain is fixed.

    found_at: the rank at which the run has the document; null where it does not have it.
    """

    rank = serializers.IntegerField()
    doc_id = serializers.CharField(allow_null=True)
    grade = serializers.IntegerField(allow_null=True)
    gain = serializers.FloatField(allow_null=True)
    contribution = serializers.FloatField(allow_null=True)
    found_at = serializers.IntegerField(allow_null=True)


class IdealOutput(serializers.Serializer[Any]):
    """The best order by some of the measures, its first ranks; more: how many follow."""

    measures = serializers.ListField(child=serializers.CharField(), source="names")
    ranks = IdealRankOutput(many=True)
    more = serializers.IntegerField()


class RunExplain(APIView):
    """One run's answer to one query, under one definition or several."""

    class Parameters(PageParameters):
        """list: the list. query: its id. measures: up to five, a tool's definition by its preset;
        else the first that the list keeps. version: a number, the name of a release, or head.
        """

        list = serializers.SlugField(max_length=64)
        query = serializers.CharField(max_length=1000, trim_whitespace=False)
        measures = serializers.CharField(max_length=2000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)

    class Output(serializers.Serializer[Any]):
        """judged: documents of the query that are. results: what the run returned, in the order
        of the first measure.
        """

        version = serializers.IntegerField()
        query_id = serializers.CharField()
        judged = serializers.IntegerField()
        measures = ExplainedOutput(many=True)
        ideals = IdealOutput(many=True)
        results = RankOutput(many=True)
        next = serializers.URLField(allow_null=True)

    @extend_schema(
        operation_id="explain_run", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """What stands at each rank, and what it adds to the query's value."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        get_run_of(access, ranker_slug, run_id)
        found = get_run_explained(
            access=access,
            public_id=run_id,
            qid=asked["query"],
            filters=RunFilters(
                list_slug=asked["list"], version=asked["version"], measure=asked["measures"]
            ),
            cut=parted(asked["after"], asked["limit"]),
        )
        names = [one.name for one in found.definitions]
        ranks = [_rank(row, names) for row in found.ranks.rows]
        part = Part(ranks, found.ranks.after)
        return page_response(request, part, RankOutput, _above(found))


def _above(found: RunExplained) -> dict[str, Any]:
    measures = [_measure(one) for one in found.definitions]
    ideals = [
        {"names": one.names, "ranks": list(map(_ideal, one.rows)), "more": one.left_out}
        for one in found.ideals
    ]
    return {
        "version": found.looked.version,
        "query_id": found.query.qid,
        "judged": found.judged,
        "measures": ExplainedOutput(measures, many=True).data,
        "ideals": IdealOutput(ideals, many=True).data,
    }


def _measure(one: Definition) -> dict[str, Any]:
    told = one.explanation
    return {
        "name": one.name,
        "definition": one.asked.measure.name,
        "description": one.words,
        "preset": one.asked.preset.name if one.asked.preset else "",
        "caveat": one.caveat,
        "value": told.value,
        "counted": told.counted,
        "formula": told.formula,
        "dcg": told.dcg,
        "ideal_dcg": told.ideal_dcg,
    }


def _rank(row: RankRow, names: Sequence[str]) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "doc_id": row.document.docid,
        "score": row.score,
        "grade": row.judged and row.judged.code,
        "is_tied": row.is_tied,
        "parts": {name: _part(cell) for name, cell in zip(names, row.cells, strict=True)},
    }


def _part(cell: Cell) -> dict[str, Any]:
    counted = cell.counted
    return {
        "rank": cell.rank,
        "gain": counted and counted.gain,
        "discount": counted and counted.discount,
        "contribution": counted and counted.contribution,
    }


def _ideal(row: IdealRow) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "doc_id": row.document and row.document.docid,
        "grade": row.judged and row.judged.code,
        "gain": row.gain,
        "contribution": row.contribution,
        "found_at": row.found_at,
    }
