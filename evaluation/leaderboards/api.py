"""Leaderboards as values."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.held_out.api import OfSetOutput, SetParameter, of_set
from evaluation.leaderboards.board import Cell, Filters, LeaderboardPage, Row
from evaluation.leaderboards.queries import get_leaderboard_page
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class ValueOutput(serializers.Serializer[Any]):
    """A mean over `n` queries, its standard error and interval of 95 %; null where there is none.

    judged: the share of the documents down to the measure's cutoff that have been judged, the mean
    over the queries that the run answers; null beside such a share itself. difference: to the
    baseline's mean. change: since the version named by `since`.
    """

    mean = serializers.FloatField(allow_null=True)
    standard_error = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)
    change = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    judged = serializers.FloatField(allow_null=True)


class RowOutput(serializers.Serializer[Any]):
    """A run. version: the one that its values are of, null while there are none.

    computing: values of the version asked for are still being computed. problem: why they can't
    be. answered: how many of the judged `queries` it answers; null while that is unknown, and
    where the list keeps no measure that tells. values: by the names in `measures`.
    """

    ranker = serializers.CharField()
    run = serializers.CharField()
    id = serializers.UUIDField()
    version = serializers.IntegerField(allow_null=True)
    computing = serializers.BooleanField()
    problem = serializers.CharField()
    answered = serializers.IntegerField(allow_null=True)
    queries = serializers.IntegerField(allow_null=True)
    values = serializers.DictField(child=ValueOutput())


class MeasureOutput(serializers.Serializer[Any]):
    """A measure. definition: what is computed, by its full name; description: that in words.

    preset: the tool whose definition it is, "" for none; caveat: where that can't be followed.
    """

    name = serializers.CharField()
    definition = serializers.CharField()
    description = serializers.CharField()
    preset = serializers.CharField()
    caveat = serializers.CharField()


class Leaderboard(APIView):
    """The leaderboard of a list."""

    class Parameters(SetParameter):
        """measures: names apart by blanks or commas; without it, those that the list shows.

        A tool's definition is asked for by the name of its preset, as in lightgbm:nDCG@10.

        version: a number, the name of a release, or head. segment: only over its queries.
        baseline: a run, as ranker/run, that the others are compared with. since: a version or a
        release that changes are told since. tag: only the runs of rankers with this tag.
        set: only over the queries of a saved set; if it is held out, asking is a look.
        """

        measures = serializers.CharField(max_length=2000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        baseline = serializers.CharField(max_length=300, allow_blank=True, default="")
        since = serializers.SlugField(max_length=64, allow_blank=True, default="")
        tag = serializers.SlugField(max_length=40, allow_blank=True, default="")

    class Output(OfSetOutput):
        """A leaderboard. version: null on a list without any.

        computing: some runs wait for their values, or show those of an older version.
        runs: best first by the first measure. set: the saved set; looks: at it, this one too,
        null unless it is held out.
        """

        version = serializers.IntegerField(allow_null=True)
        is_head = serializers.BooleanField()
        releases = serializers.ListField(child=serializers.CharField())
        segment = serializers.CharField()
        computing = serializers.BooleanField()
        measures = MeasureOutput(many=True)
        runs = RowOutput(many=True)

    @extend_schema(
        operation_id="get_leaderboard",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Every run's values on a list: of any version, any measures, all queries or a segment."""
        filters = Filters(**read_parameters(request, self.Parameters))
        access = get_access(viewer=request.user, slug=slug)
        page = get_leaderboard_page(access=access, slug=list_slug, filters=filters)
        own = of_set(access, page.sets, SetLook.Page.REST_LEADERBOARD)
        return Response(self.Output(_plain(page), context=own).data)


def _plain(page: LeaderboardPage) -> dict[str, Any]:
    return {
        "version": page.version and page.version.number,
        "is_head": page.version is None or page.version.is_head,
        "releases": page.version.releases if page.version else (),
        "segment": page.filters.segment,
        "computing": page.waiting > 0,
        "measures": page.columns,
        "runs": [_row(row) for row in page.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "ranker": row.ranker_slug,
        "run": row.run_name,
        "id": row.run_id,
        "version": row.version,
        "computing": not row.is_current and not row.problem,
        "problem": row.problem,
        "answered": row.answered,
        "queries": row.queries,
        "values": {cell.column.name: _value(cell) for cell in row.cells},
    }


def _value(cell: Cell) -> dict[str, Any]:
    low, high = cell.value.interval or (None, None)
    return {
        "mean": cell.value.value,
        "standard_error": cell.value.error,
        "low": low,
        "high": high,
        "difference": cell.difference,
        "change": cell.change,
        "n": cell.value.n,
        "judged": cell.judged and cell.judged.value,
    }
