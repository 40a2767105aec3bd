"""Comparisons of runs as values."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.comparison.pages import CompareFilters, ComparePage, get_compare_page
from evaluation.comparison.unjudged_page import get_unjudged_page
from evaluation.held_out.api import OfSetOutput, of_set
from evaluation.runs.selection_api import (
    RunMeanOutput,
    RunsParameters,
    mean_values,
    run_names,
    runs_filters,
)
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from touchstone.statistics.named_tests import TESTS


class DifferenceOutput(serializers.Serializer[Any]):
    """A run against the baseline, over the `n` queries that are in both means.

    mean: of the differences, this run less the baseline; low, high: its 95 % interval (BCa).
    p_value: of the test, two-sided; null below six queries. p_corrected: by Holm's method for all
    runs of the answer. effect: the mean in standard deviations of the differences. detectable: the
    smallest mean difference that so many queries show four times out of five. warning: why the
    difference may be about judging; else empty. verdict: the same in words.
    """

    run = RunMeanOutput()
    n = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True)
    p_corrected = serializers.FloatField(allow_null=True)
    effect = serializers.FloatField(allow_null=True)
    detectable = serializers.FloatField(allow_null=True)
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    warning = serializers.CharField()
    verdict = serializers.CharField()


class RunPairOutput(serializers.Serializer[Any]):
    """Two of at least three runs: second less first, by Tukey's test for all pairs at once."""

    first = serializers.CharField()
    second = serializers.CharField()
    difference = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    p_value = serializers.FloatField()


class MeasureOrderOutput(serializers.Serializer[Any]):
    """Kendall's tau of another measure's order of the list's runs with this one's."""

    name = serializers.CharField()
    tau = serializers.FloatField()
    is_dialect = serializers.BooleanField()


class RankingChangesOutput(serializers.Serializer[Any]):
    """What became of the first `k` ranks of `queries` queries.

    same_top, same_set: queries with the same documents in the same order, and in any. overlap: the
    mean share in common. rbo: the mean rank-biased overlap (p = 0.9, 100 ranks).
    """

    k = serializers.IntegerField()
    queries = serializers.IntegerField()
    same_top = serializers.IntegerField()
    same_set = serializers.IntegerField()
    overlap = serializers.FloatField()
    rbo = serializers.FloatField()


class SegmentDifferenceOutput(serializers.Serializer[Any]):
    """The comparison within a segment. p_value: alone, not corrected for the other segments."""

    name = serializers.CharField()
    first = serializers.FloatField()
    second = serializers.FloatField()
    n = serializers.IntegerField(source="comparison.n")
    mean = serializers.FloatField(source="comparison.mean")
    low = serializers.FloatField(allow_null=True, source="comparison.low")
    high = serializers.FloatField(allow_null=True, source="comparison.high")
    p_value = serializers.FloatField(allow_null=True, source="comparison.p_value")


class ChangedPartOutput(serializers.Serializer[Any]):
    """Some queries: on how many the first ranks differ, and on how many the values."""

    queries = serializers.IntegerField()
    changed = serializers.IntegerField()
    values = serializers.IntegerField()


class IntendedOutput(serializers.Serializer[Any]):
    """What differs inside the saved set, and outside it."""

    inside = ChangedPartOutput()
    outside = ChangedPartOutput()


class DetailOutput(serializers.Serializer[Any]):
    """One run against the baseline. changes: null where no query is compared.

    intended: null unless a saved set is asked for.
    """

    run = serializers.CharField(source="other.own.name")
    changes = RankingChangesOutput(allow_null=True)
    segments = SegmentDifferenceOutput(many=True)
    intended = IntendedOutput(allow_null=True)


class Comparison(APIView):
    """Runs compared on a list."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """baseline: one of the runs, named as `runs` names them, else the first. against: which of
        the others `detail` is about, else the first. test: how p-values are made, else as leads
        chose for the list.
        """

        baseline = serializers.CharField(max_length=300, allow_blank=True, default="")
        against = serializers.CharField(max_length=300, allow_blank=True, default="")
        test = serializers.ChoiceField(choices=list(TESTS), default="", allow_blank=True)

    class Output(OfSetOutput):
        """A comparison. version: 0 on a list without any; baseline: null where nothing is there.

        looks: how often a held-out set was looked at, this time too; else null.
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        segment = serializers.CharField()
        test = serializers.CharField()
        list_test = serializers.CharField()
        baseline = RunMeanOutput(allow_null=True)
        comparisons = DifferenceOutput(many=True)
        detail = DetailOutput(allow_null=True)
        pairs = RunPairOutput(many=True)
        measures = MeasureOrderOutput(many=True)

    @extend_schema(
        operation_id="compare_runs",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """How large the differences between runs are, and how sure."""
        asked = read_parameters(request, self.Parameters)
        filters = CompareFilters(runs=run_names(asked.pop("runs")), **asked)
        access = get_access(viewer=request.user, slug=slug)
        page = get_compare_page(access=access, slug=list_slug, filters=filters)
        own = of_set(access, page.sets, SetLook.Page.REST_COMPARISON)
        return Response(self.Output(_plain(page) | own).data)


class OpenValueOutput(serializers.Serializer[Any]):
    """A run under every assumption about its unjudged documents, over `queries` queries.

    zeros: they gain nothing; condensed: they are taken out; low, high: the least and the most that
    they can make of it, null where the measure has no known bounds; residual: of RBP; documents:
    how many are unjudged; judged: the mean share that is judged.
    """

    name = serializers.CharField()
    queries = serializers.IntegerField()
    zeros = serializers.FloatField(allow_null=True)
    condensed = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    residual = serializers.FloatField(allow_null=True)
    judged = serializers.FloatField(allow_null=True)
    documents = serializers.IntegerField()


class OpenValues(APIView):
    """What unjudged documents leave open."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """As in `compare`."""

    class Output(OfSetOutput):
        """version: 0 on a list without any. set, looks: as in `compare`."""

        version = serializers.IntegerField()
        measure = serializers.CharField()
        runs = OpenValueOutput(many=True)

    @extend_schema(
        operation_id="unjudged", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """How far runs' values could move if everything that they show were judged."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        page = get_unjudged_page(access=access, slug=list_slug, filters=runs_filters(asked))
        plain = {
            "version": page.chosen.version,
            "measure": page.measure.name,
            "runs": [asdict(row) for row in page.rows],
        }
        own = of_set(access, page.sets, SetLook.Page.REST_UNJUDGED)
        return Response(self.Output(plain | own).data)


def _plain(page: ComparePage) -> dict[str, Any]:
    return {
        "version": page.chosen.version,
        "measure": page.measure_name,
        "segment": page.filters.segment,
        "test": page.test,
        "list_test": page.list_test,
        "baseline": page.baseline and mean_values(page.baseline),
        "comparisons": [
            asdict(one.comparison)
            | {
                "run": mean_values(one.own),
                "p_corrected": one.p_value,
                "warning": one.warning,
                "verdict": one.words,
            }
            for one in page.others
        ],
        "detail": page.detail,
        "measures": [asdict(one) for one in page.orders.orders] if page.orders else [],
        "pairs": [
            asdict(row.pair) | {"first": row.first.name, "second": row.second.name}
            for row in page.pairs
        ],
    }
