"""Click logs, their ledgers, position bias and pairs, as values."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.clicks.forms import names_in
from judgments.clicks.queries import (
    MOST_PAIRS,
    LogPage,
    LogRow,
    PairsPage,
    get_log_page,
    get_pairs_page,
    list_logs,
)
from judgments.jobs.services import submit_job
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.parsing import check_parameters, read_parameters
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload
from touchstone.clicks.ubi import USUAL_ACTIONS


class ClickLogOutput(AnswerSerializer):
    answer = LogRow


class ClickLogs(UploadView):
    """The click logs of a collection."""

    class Output(serializers.Serializer[Any]):
        """The logs, newest first."""

        results = ClickLogOutput(many=True)

    class Options(serializers.Serializer[Any]):
        """name: of the log. impressions, clicks: action names, separated by commas.

        rank_base: the rank of a first result, where the smallest rank of an application is neither
        0 nor 1. joins: look up the texts of events without one by their query id.
        """

        name = serializers.CharField(max_length=200)
        impressions = serializers.CharField(max_length=500, default=USUAL_ACTIONS.impressions[0])
        clicks = serializers.CharField(max_length=500, default=USUAL_ACTIONS.clicks[0])
        rank_base = serializers.ChoiceField(choices=(0, 1), default=None)
        joins = serializers.BooleanField(default=False)

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """No action is both."""
            for part in ("impressions", "clicks"):
                attrs[part] = names_in(attrs[part])
            if set(attrs["impressions"]) & set(attrs["clicks"]):
                message = "An action can’t be both an impression and a click."
                raise serializers.ValidationError({"clicks": message})
            return attrs

    @extend_schema(operation_id="list_click_logs", responses=Output)
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's click logs, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output({"results": list_logs(access=access)}).data)

    @extend_schema(
        operation_id="upload_clicks",
        parameters=[Options],
        request=FILE_BODY,
        responses={202: JobOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a click log as UBI NDJSON, CSV or Parquet; a worker imports it, all or nothing."""
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        upload, options = take_upload(request, self.Options)
        job = submit_job(
            access=access, kind="import_clicks", file=upload, params=options, at=timezone.now()
        )
        return accepted(access, job)


class OneClickLog(APIView):
    """One click log."""

    class Output(AnswerSerializer):
        answer = LogPage

    @extend_schema(operation_id="get_click_log", responses=Output)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return what became of a log's records, and the position bias of each application."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output(get_log_page(access=access, number=number)).data)


class ClickPairs(APIView):
    """The pairs of a click log."""

    class Parameters(serializers.Serializer[Any]):
        """query: the id of a query, for its pairs alone."""

        query = serializers.CharField(max_length=200, default="", source="query_id")

    class Output(AnswerSerializer):
        answer = PairsPage

    @extend_schema(operation_id="list_click_pairs", parameters=[Parameters], responses=Output)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return clicks, expected clicks and COEC of the most shown pairs, 1,000 at most."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        page = get_pairs_page(access=access, number=number, most=MOST_PAIRS, **asked)
        return Response(self.Output(page).data)
