"""Comparisons of data sets over REST: paired differences by day and segment."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.data_set_comparisons.queries import (
    get_comparison,
    get_comparisons_page,
    list_paired_groups,
)
from evaluation.data_set_comparisons.services import start_comparison
from evaluation.data_sets.api import DataSetEvaluationOutput, MeasureSumOutput
from evaluation.data_sets.queries import row_of
from evaluation.data_sets.services import stop_evaluation
from evaluation.models import DataSetEvaluation
from judgments.permissions import check_may_upload_runs, get_access
from judgments.rest.parsing import check_parameters, read_input


class DataSetComparisonOutput(serializers.Serializer[Any]):
    """A comparison with another data set. evaluation: its state and progress."""

    other = serializers.SlugField(source="other.slug")
    evaluation = DataSetEvaluationOutput()


class PairedMeasureOutput(serializers.Serializer[Any]):
    """Means of the common queries, and of the difference, this data set's minus the other's.
    n_own, n_other: queries in each data set's own mean.
    """

    measure = serializers.CharField()
    own = serializers.FloatField(allow_null=True)
    other = serializers.FloatField(allow_null=True)
    difference = MeasureSumOutput()
    n_own = serializers.IntegerField()
    n_other = serializers.IntegerField()


class PairedFigureOutput(serializers.Serializer[Any]):
    """The differences of one day and segment. common: queries that are in both data sets."""

    day = serializers.CharField()
    segment = serializers.CharField()
    common = serializers.IntegerField()
    measures = PairedMeasureOutput(many=True)


class PairedFiguresOutput(serializers.Serializer[Any]):
    """A comparison, and its figures once it is done."""

    other = serializers.SlugField()
    evaluation = DataSetEvaluationOutput()
    figures = PairedFigureOutput(many=True)


class DataSetComparisons(APIView):
    """Comparisons of a data set with others."""

    class Input(serializers.Serializer[Any]):
        """other: the short name of a data set of the collection."""

        other = serializers.SlugField(max_length=64)

    @extend_schema(
        operation_id="list_data_set_comparisons", responses=DataSetComparisonOutput(many=True)
    )
    def get(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Return the newest comparisons of a data set."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        page = get_comparisons_page(access=access, slug=data_set_slug)
        return Response(DataSetComparisonOutput(page.rows, many=True).data)

    @extend_schema(
        operation_id="compare_data_sets", request=Input, responses={201: DataSetComparisonOutput}
    )
    def post(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Compare it with another, query by query; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        page = get_comparisons_page(access=access, slug=data_set_slug)
        given = read_input(self.Input, request.data)
        other = next((one for one in page.others if one.slug == given["other"]), None)
        if other is None:
            raise ValidationError({"other": f"No other data set named {given['other']}."})
        made = start_comparison(
            access=access, data_set=page.data_set, other=other, at=timezone.now()
        )
        answer = {"other": other, "evaluation": row_of(made)}
        return Response(DataSetComparisonOutput(answer).data, status=201)


class OneDataSetComparison(APIView):
    """One comparison."""

    @extend_schema(operation_id="get_data_set_comparison", responses=PairedFiguresOutput)
    def get(self, request: Request, slug: str, data_set_slug: str, comparison_id: UUID) -> Response:
        """Return its progress, or its differences by day and segment once it is done."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        own = get_comparison(access=access, slug=data_set_slug, public_id=comparison_id)
        return Response(_compared(own))


class StopDataSetComparison(APIView):
    """The end of a comparison."""

    @extend_schema(
        operation_id="stop_data_set_comparison", request=None, responses=PairedFiguresOutput
    )
    def post(
        self, request: Request, slug: str, data_set_slug: str, comparison_id: UUID
    ) -> Response:
        """End it without figures; for researchers and leads. 422 where it has ended."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        own = get_comparison(access=access, slug=data_set_slug, public_id=comparison_id)
        stop_evaluation(access=access, evaluation=own, at=timezone.now())
        own = get_comparison(access=access, slug=data_set_slug, public_id=comparison_id)
        return Response(_compared(own))


def _compared(comparison: DataSetEvaluation) -> dict[str, Any]:
    assert comparison.other is not None
    answer = {
        "other": comparison.other.slug,
        "evaluation": row_of(comparison),
        "figures": list_paired_groups(comparison),
    }
    return dict(PairedFiguresOutput(answer).data)
