"""Data sets over REST: registered, scheduled, evaluated, and their exact sums."""

from typing import Any, Final
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.data_sets.places import LONGEST
from evaluation.data_sets.plans import Columns
from evaluation.data_sets.queries import (
    EvaluationRow,
    get_data_set,
    get_evaluation,
    list_data_sets,
    list_groups,
    lowest_of,
    row_of,
)
from evaluation.data_sets.services import (
    register_data_set,
    retire_data_set,
    schedule_data_set,
    start_evaluation,
    stop_evaluation,
)
from evaluation.live_rankers.schedules import ScheduleRefused
from evaluation.models import DataSet, DataSetEvaluation
from judgments.permissions import check_may_upload_runs, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input
from touchstone.measures.exact import FRACTION_BITS

COLUMN: Final = 200


def _names(**more: Any) -> serializers.ListField:
    column = serializers.CharField(max_length=COLUMN)
    return serializers.ListField(child=column, max_length=10, **more)


class DataSetOutput(serializers.ModelSerializer[DataSet]):
    """A data set. slug: its short name. day, segments: columns; cron: empty for no schedule."""

    class Meta:
        model = DataSet
        fields = (
            *("slug", "name", "rankings", "judgments", "query", "document", "score", "grade"),
            *("signals", "measures", "segments", "day", "cron", "time_zone", "next_at"),
            *("created_at", "retired_at"),
        )


class DataSetEvaluationOutput(AnswerSerializer):
    answer = EvaluationRow


class MeasureSumOutput(serializers.Serializer[Any]):
    """A measure's mean, half of its 95 % interval, and the exact sum, to be divided by 2^scale."""

    measure = serializers.CharField()
    mean = serializers.FloatField(allow_null=True)
    half = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    sum = serializers.CharField(source="total")
    scale = serializers.IntegerField(default=FRACTION_BITS)


class DataSetFigureOutput(serializers.Serializer[Any]):
    """The sums of an evaluation for one day and segment."""

    day = serializers.CharField()
    segment = serializers.CharField()
    rows = serializers.IntegerField()
    queries = serializers.IntegerField()
    measures = MeasureSumOutput(many=True)


class LowDocumentOutput(serializers.Serializer[Any]):
    """A document of a ranking. grade: null where it is not judged."""

    doc_id = serializers.CharField()
    grade = serializers.FloatField(allow_null=True)


class LowQueryOutput(serializers.Serializer[Any]):
    """A query with a low value, and the first of its `ranked` documents."""

    query_id = serializers.CharField(source="query")
    segment = serializers.CharField()
    value = serializers.FloatField()
    ranked = serializers.IntegerField()
    documents = LowDocumentOutput(many=True)


class LowestQueriesOutput(serializers.Serializer[Any]):
    """The lowest values of a measure among `queries` queries, a sample of the newest day's."""

    measure = serializers.CharField()
    queries = serializers.IntegerField()
    lowest = LowQueryOutput(many=True)


class DataSetFiguresOutput(serializers.Serializer[Any]):
    """An evaluation, and its figures once it is done."""

    evaluation = DataSetEvaluationOutput()
    figures = DataSetFigureOutput(many=True)
    lowest = LowestQueriesOutput(many=True)


class DataSets(APIView):
    """The data sets of a collection."""

    class Input(serializers.Serializer[Any]):
        """rankings, judgments: addresses. query, segments: names of columns. day: a column, too."""

        name = serializers.CharField(max_length=200)
        rankings = serializers.CharField(max_length=LONGEST)
        judgments = serializers.CharField(max_length=LONGEST, allow_blank=True, default="")
        query = _names(min_length=1)
        document = serializers.CharField(max_length=COLUMN)
        score = serializers.CharField(max_length=COLUMN)
        grade = serializers.CharField(max_length=COLUMN)
        signals = serializers.CharField(max_length=2_000, allow_blank=True, default="")
        measures = serializers.CharField(max_length=2_000, default="nDCG@10")
        segments = _names(default=list)
        day = serializers.CharField(max_length=COLUMN, allow_blank=True, default="")

    @extend_schema(operation_id="list_data_sets", responses=DataSetOutput(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Return the data sets that are not retired."""
        check_parameters(request)
        page = list_data_sets(access=get_access(viewer=request.user, slug=slug))
        return Response(DataSetOutput([row.data_set for row in page.rows], many=True).data)

    @extend_schema(operation_id="register_data_set", request=Input, responses={201: DataSetOutput})
    def post(self, request: Request, slug: str) -> Response:
        """Register a data set after reading its first files; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        given = read_input(self.Input, request.data)
        name = given.pop("name")
        given |= {"query": tuple(given["query"]), "segments": tuple(given["segments"])}
        made = register_data_set(
            access=access, name=name, columns=Columns(**given), at=timezone.now()
        )
        return Response(DataSetOutput(made).data, status=201)


class OneDataSet(APIView):
    """One data set."""

    @extend_schema(operation_id="get_data_set", responses=DataSetOutput)
    def get(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Return a data set, also a retired one."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(DataSetOutput(get_data_set(access=access, slug=data_set_slug)).data)

    @extend_schema(operation_id="retire_data_set", responses={204: None})
    def delete(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Evaluate it no more; for researchers and leads. 422 where it is retired already."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        own = get_data_set(access=access, slug=data_set_slug)
        retire_data_set(access=access, data_set=own, at=timezone.now())
        return Response(status=204)


class DataSetSchedule(APIView):
    """When evaluations of a data set begin."""

    class Input(serializers.Serializer[Any]):
        """cron: five fields; empty for no schedule. time_zone: such as Europe/Berlin."""

        cron = serializers.CharField(max_length=100, allow_blank=True)
        time_zone = serializers.CharField(max_length=64, default="UTC")

    @extend_schema(operation_id="schedule_data_set", request=Input, responses=DataSetOutput)
    def put(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Begin evaluations at these times, or at none; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        own = get_data_set(access=access, slug=data_set_slug)
        given = read_input(self.Input, request.data)
        try:
            schedule_data_set(access=access, data_set=own, at=timezone.now(), **given)
        except ScheduleRefused as error:
            raise ValidationError({error.field: error.message}) from error
        return Response(DataSetOutput(get_data_set(access=access, slug=data_set_slug)).data)


class DataSetEvaluations(APIView):
    """Evaluations of a data set."""

    @extend_schema(
        operation_id="evaluate_data_set", request=None, responses={201: DataSetEvaluationOutput}
    )
    def post(self, request: Request, slug: str, data_set_slug: str) -> Response:
        """Begin one; for researchers and leads. 422 while another one of it runs."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        own = get_data_set(access=access, slug=data_set_slug)
        made = start_evaluation(access=access, data_set=own, at=timezone.now())
        return Response(DataSetEvaluationOutput(row_of(made)).data, status=201)


class OneDataSetEvaluation(APIView):
    """One evaluation of a data set."""

    @extend_schema(operation_id="get_data_set_evaluation", responses=DataSetFiguresOutput)
    def get(self, request: Request, slug: str, data_set_slug: str, evaluation_id: UUID) -> Response:
        """Return its progress, or its exact sums by day and segment once it is done."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        own = get_evaluation(access=access, slug=data_set_slug, public_id=evaluation_id)
        return Response(_evaluated(own))


class StopDataSetEvaluation(APIView):
    """The end of an evaluation."""

    @extend_schema(
        operation_id="stop_data_set_evaluation", request=None, responses=DataSetEvaluationOutput
    )
    def post(
        self, request: Request, slug: str, data_set_slug: str, evaluation_id: UUID
    ) -> Response:
        """End it without figures; for researchers and leads. 422 where it has ended."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        own = get_evaluation(access=access, slug=data_set_slug, public_id=evaluation_id)
        stop_evaluation(access=access, evaluation=own, at=timezone.now())
        own.refresh_from_db()
        return Response(DataSetEvaluationOutput(row_of(own)).data)


def _evaluated(evaluation: DataSetEvaluation) -> dict[str, Any]:
    figures = [
        {
            "day": one.day,
            "segment": one.segment,
            "rows": one.rows,
            "queries": one.queries,
            "measures": group.means,
        }
        for one, group in list_groups(evaluation.data_set, evaluation)
    ]
    answer = {
        "evaluation": row_of(evaluation),
        "figures": figures,
        "lowest": lowest_of(evaluation),
    }
    return dict(DataSetFiguresOutput(answer).data)
