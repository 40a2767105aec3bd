"""Leaderboards as values."""

from collections.abc import Callable

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.leaderboards.board import Column, Filters, LeaderboardTable, Row
from evaluation.leaderboards.queries import (
    click_grades_of,
    get_leaderboard,
    grades_from,
    machine_grades_of,
)
from evaluation.samples.origins_api import OfOriginsOutput, of_origins
from evaluation.set_looks.api import OfSetOutput, SetParameter, of_set
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer, WordsField
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from touchstone.measures.wording import describe


class MeasureOutput(AnswerSerializer):
    answer = Column
    description = WordsField(lambda column: describe(column.asked.measure))


class CountField(serializers.IntegerField):
    """What a function counts of the whole answer."""

    def __init__(self, count: Callable[[LeaderboardTable], int]) -> None:
        super().__init__(source="*", read_only=True)
        self.count = count

    def to_representation(self, value: LeaderboardTable) -> int:  # type: ignore[override]
        """The number."""
        return self.count(value)


class RowOutput(AnswerSerializer):
    answer = Row


class Leaderboard(APIView):
    """The leaderboard of a list."""

    class Parameters(SetParameter):
        """measures: names, separated by spaces or commas; without it, those that the list shows.

        A tool's definition is asked for by the name of its preset, as in lightgbm:nDCG@10.

        version: a number, the name of a release, or head. segment: only over its queries.
        baseline: a run, as ranker/run, that the others are compared with. since: a version or a
        release that changes are told since. tag: only the runs of rankers with this tag.
        set: only over the queries of a saved set; if it is held out, the request counts as a look.
        runs: only these: ranker/run, a ranker for its newest run, or an id, several apart by
        commas; or newest, for the newest of every ranker.
        """

        measures = serializers.CharField(max_length=2000, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        baseline = serializers.CharField(max_length=300, allow_blank=True, default="")
        since = serializers.SlugField(max_length=64, allow_blank=True, default="")
        tag = serializers.CharField(max_length=40, allow_blank=True, default="")
        runs = serializers.CharField(max_length=8000, allow_blank=True, default="")

    class Output(OfSetOutput, OfOriginsOutput, AnswerSerializer):
        """A leaderboard. version: null if the list has none.

        computing: some runs have no values yet, or those of an older version. runs: best first by
        the first measure. set: the saved set; looks: at it, including this one; null unless it is
        held out. origins: how the judged queries were chosen; null at an older version.
        click_grades, machine_grades: how many grades of the version come from clicks, and from
        machine judges. grades_from: what the version takes, in words; "" without one.
        """

        answer = LeaderboardTable
        measures = MeasureOutput(many=True)
        runs = RowOutput(many=True)
        click_grades = CountField(click_grades_of)
        machine_grades = CountField(machine_grades_of)
        grades_from = WordsField(grades_from)

    @extend_schema(
        operation_id="get_leaderboard",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return every run's values: of any version, any measures, all queries or one segment."""
        filters = Filters(**read_parameters(request, self.Parameters))
        access = get_access(viewer=request.user, slug=slug)
        result = get_leaderboard(access=access, slug=list_slug, filters=filters)
        own = of_set(access, result.sets, SetLook.Page.REST_LEADERBOARD)
        own |= of_origins(result.list, is_head=result.is_head)
        return Response(self.Output(result, context=own).data)
