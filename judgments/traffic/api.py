"""Traffic logs, and how concentrated they are, as values."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.collections.api import ColumnsField
from judgments.jobs.services import submit_job
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.parsing import check_parameters, read_parameters
from judgments.rest.schema import REFUSED
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload
from judgments.traffic.queries import FramePage, FrameRow, get_frame_page, get_traffic_page


class FrameOutput(AnswerSerializer):
    answer = FrameRow


class TrafficLogs(UploadView):
    """The traffic logs of a collection."""

    class Output(serializers.Serializer[Any]):
        """The logs, newest first."""

        results = FrameOutput(many=True)

    class Options(serializers.Serializer[Any]):
        """name: of the log. columns: as for queries, with the names `query`, `searches` and
        `segment`.
        """

        name = serializers.CharField(max_length=200)
        columns = ColumnsField(max_length=20_000, default=dict)  # type: ignore[arg-type]

    @extend_schema(operation_id="list_traffic", responses=Output)
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's traffic logs, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output({"results": get_traffic_page(access=access).frames}).data)

    @extend_schema(
        operation_id="upload_traffic",
        parameters=[Options],
        request=FILE_BODY,
        responses={202: JobOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a traffic log as CSV or TSV; a worker imports it, all or nothing."""
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        upload, options = take_upload(request, self.Options)
        job = submit_job(
            access=access, kind="import_traffic", file=upload, params=options, at=timezone.now()
        )
        return accepted(access, job)


class TrafficLog(APIView):
    """One traffic log."""

    class Parameters(serializers.Serializer[Any]):
        """cuts: of the strata, in percent of searches; default "50, 90"."""

        cuts = serializers.CharField(max_length=100, allow_blank=True, default=None)

    class Output(AnswerSerializer):
        answer = FramePage

    @extend_schema(
        operation_id="get_traffic", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return how concentrated a log's searches are, and its strata by cumulative traffic."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output(get_frame_page(access=access, number=number, **asked)).data)
