"""Comparisons of runs as values."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.comparison.queries import (
    CompareFilters,
    Difference,
    RunsCompared,
    get_comparison,
)
from evaluation.comparison.unjudged import OpenValues as Values
from evaluation.comparison.unjudged import get_open_values
from evaluation.comparison.words import judging_warning, verdict_of
from evaluation.runs.selection_api import RunsParameters, run_names, runs_filters
from evaluation.samples.origins_api import OfOriginsOutput, of_origins
from evaluation.set_looks.api import OfSetOutput, of_set
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.answers import AnswerSerializer, WordsField
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.versions.takes import takes_at
from touchstone.statistics.named_tests import TESTS
from touchstone.statistics.non_inferiority import LEVEL


class DifferenceOutput(AnswerSerializer):
    answer = Difference
    warning = WordsField(lambda one: judging_warning(one.baseline, one.run))
    sentence = WordsField(verdict_of)


class Comparison(APIView):
    """Compare runs on a list."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """baseline: one of the runs, named as `runs` names them, else the first. against: which of
        the others `detail` is about, else the first. test: how p-values are made, else as leads
        chose for the list. margin: how much worse than the baseline a run may be, in the measure's
        units. level: of the intervals `ci` that verdicts are by.
        """

        baseline = serializers.CharField(max_length=300, allow_blank=True, default="")
        against = serializers.CharField(max_length=300, allow_blank=True, default="")
        test = serializers.ChoiceField(choices=list(TESTS), default="", allow_blank=True)
        margin = serializers.FloatField(min_value=0, max_value=1_000_000, default=0.0)
        level = serializers.FloatField(min_value=0.5, max_value=0.9999, default=LEVEL)

    class Output(OfSetOutput, OfOriginsOutput, AnswerSerializer):
        """A comparison. version: 0 if the list has none; baseline: null if there are no runs.

        test: the test of the p-values; list_test: the test chosen for the list. measures: agreement
        of other measures on the order, with three or more runs. margin, level: of the verdicts.
        looks: number of looks at a held-out set, including this one; else null. origins: how the
        judged queries were chosen; null at an older version. grades_from: what the version takes,
        in words.
        """

        answer = RunsCompared
        comparisons = DifferenceOutput(many=True)
        grades_from = WordsField(
            lambda one: takes_at(list_id=one.chosen.list.pk, version=one.chosen.version)
        )

    @extend_schema(
        operation_id="compare_runs",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Compare runs: differences, intervals, tests and verdicts."""
        asked = read_parameters(request, self.Parameters)
        filters = CompareFilters(runs=run_names(asked.pop("runs")), **asked)
        access = get_access(viewer=request.user, slug=slug)
        result = get_comparison(access=access, slug=list_slug, filters=filters)
        own = of_set(access, result.sets, SetLook.Page.REST_COMPARISON)
        own |= of_origins(result.chosen.list, is_head=result.chosen.is_head)
        return Response(self.Output(result, context=own).data)


class OpenValues(APIView):
    """How much unjudged documents could change runs' values."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """As in `compare`."""

    class Output(OfSetOutput, AnswerSerializer):
        """version: 0 if the list has none. set, looks: as in `compare`."""

        answer = Values

    @extend_schema(
        operation_id="unjudged", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return how much runs' values could change if all their unjudged documents were judged."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = get_open_values(access=access, slug=list_slug, filters=runs_filters(asked))
        own = of_set(access, result.sets, SetLook.Page.REST_UNJUDGED)
        return Response(self.Output(result, context=own).data)
