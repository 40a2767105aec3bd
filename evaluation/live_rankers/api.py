"""Live rankers and their snapshots over REST."""

from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.live_rankers.configuration import (
    METHODS,
    Configuration,
    ConfigurationRefused,
)
from evaluation.live_rankers.mapping import Mapping
from evaluation.live_rankers.queries import (
    LivePage,
    SnapshotRow,
    SnapshotState,
    get_live_page,
    get_snapshot,
    get_snapshot_state,
    list_answers,
    list_snapshots,
)
from evaluation.live_rankers.schedules import ScheduleRefused
from evaluation.live_rankers.services import (
    configure,
    set_schedule,
    start_snapshot,
    stop_snapshot,
)
from evaluation.live_rankers.vectors import VectorsRow, list_vectors, submit_vectors
from evaluation.runs.queries import get_ranker
from evaluation.runs.services import LONGEST_NAME
from judgments.permissions import NotFound, check_may_upload_runs, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload


def _text(longest: int, **more: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=longest, allow_blank=True, default="", trim_whitespace=False, **more
    )


class MappingFields(serializers.Serializer[Any]):
    """JMESPath expressions. rows: of the answer, gives the results; the others, except partial, are
    of a result. score: empty where the order counts. partial: true where a part failed.
    """

    rows = serializers.CharField(max_length=500)
    id = serializers.CharField(max_length=500)
    score = _text(500)
    title = _text(500)
    text = _text(500)
    url = _text(500)
    partial = _text(500)  # type: ignore[assignment]


class ConfigurationFields(serializers.Serializer[Any]):
    """How an engine is asked. headers: pairs of name and value. body: JSON with variables such as
    "{{text}}". timeout: in seconds. rate: requests per second, 0 for no limit. min_answered: the
    share of queries that must be answered for a snapshot to become a run.
    """

    method = serializers.ChoiceField(choices=METHODS)
    url = serializers.CharField(max_length=2_000, trim_whitespace=False)
    headers = serializers.ListField(
        child=serializers.ListField(
            child=serializers.CharField(allow_blank=True, max_length=1_000),
            min_length=2,
            max_length=2,
        ),
        max_length=20,
        default=list,
    )
    body = serializers.JSONField(allow_null=True, default=None)
    secret_header = _text(100)
    mapping = MappingFields()
    depth = serializers.IntegerField(default=100)
    at_once = serializers.IntegerField(default=4)
    rate = serializers.FloatField(default=0.0)
    timeout = serializers.FloatField(default=10.0)
    attempts = serializers.IntegerField(default=3)
    min_answered = serializers.FloatField(default=1.0)
    takes_documents = serializers.BooleanField(default=True)


class LiveInput(serializers.Serializer[Any]):
    """secret: the value of the header `secret_header`; write-only; empty to keep the stored one."""

    configuration = ConfigurationFields()
    secret = _text(4_000, write_only=True)


class LiveOutput(serializers.Serializer[Any]):
    """The newest revision. secret_for: the server that the stored secret is for; "" without one.
    cron, time_zone, next_at: when snapshots begin.
    """

    revision = serializers.IntegerField(source="revision.number")
    configuration = serializers.SerializerMethodField()
    secret_for = serializers.CharField()
    cron = serializers.CharField(source="source.cron")
    time_zone = serializers.CharField(source="source.time_zone")
    next_at = serializers.DateTimeField(source="source.next_at", allow_null=True)

    def get_configuration(self, page: LivePage) -> dict[str, Any]:
        """As it is stored."""
        assert page.configuration is not None
        return page.configuration.to_json()


class SnapshotRowOutput(AnswerSerializer):
    answer = SnapshotRow


class SnapshotOutput(AnswerSerializer):
    answer = SnapshotState


class AnswerOutput(serializers.Serializer[Any]):
    """What became of a query. outcome: ok and empty are answers, all others failures.

    status: of the HTTP answer. seconds: of the last attempt. rows: results that were kept.
    """

    query_id = serializers.CharField(source="query.qid")
    outcome = serializers.CharField()
    status = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    attempts = serializers.IntegerField()
    rows = serializers.IntegerField(source="row_count")


class LiveRanker(APIView):
    """How a ranker's engine is asked."""

    @extend_schema(operation_id="get_live_ranker", responses=LiveOutput)
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Return the newest revision of how a ranker is asked; 404 for one that is not live."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        page = get_live_page(access=access, slug=ranker_slug, page="")
        if page.revision is None:
            raise NotFound("live source")
        return Response(LiveOutput(page).data)

    @extend_schema(operation_id="configure_live_ranker", request=LiveInput, responses=LiveOutput)
    def put(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Make the next revision of how a ranker is asked; for researchers and leads.

        The same configuration again makes no new revision.
        """
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        ranker = get_ranker(access=access, slug=ranker_slug)
        given = read_input(LiveInput, request.data)
        try:
            configure(
                access=access,
                ranker=ranker,
                configuration=_configuration(given["configuration"]),
                secret=given["secret"],
                at=timezone.now(),
            )
        except ConfigurationRefused as error:
            raise ValidationError({error.field: error.message}) from error
        page = get_live_page(access=access, slug=ranker_slug, page="")
        return Response(LiveOutput(page).data)


class VectorsRowOutput(AnswerSerializer):
    answer = VectorsRow


class Vectors(UploadView):
    """Vectors of a live ranker's queries."""

    class Output(serializers.Serializer[Any]):
        """Uploads, newest first; a revision that uses vectors names one by its number."""

        results = VectorsRowOutput(many=True)

    class Options(serializers.Serializer[Any]):
        """There are none."""

    @extend_schema(operation_id="list_query_vectors", responses=Output)
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """List the vectors that were uploaded for a ranker's queries, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        ranker = get_ranker(access=access, slug=ranker_slug)
        return Response(self.Output({"results": list_vectors(ranker=ranker)}).data)

    @extend_schema(
        operation_id="upload_query_vectors", request=FILE_BODY, responses={202: JobOutput}
    )
    def post(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Upload vectors as JSON Lines, {"query_id": …, "vector": […]}; all or nothing.

        A revision that uses vectors gets a successor that uses these.
        """
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        ranker = get_ranker(access=access, slug=ranker_slug)
        upload, _ = take_upload(request, self.Options)
        job = submit_vectors(access=access, ranker=ranker, file=upload, at=timezone.now())
        return accepted(access, job)


class Schedule(APIView):
    """When snapshots of a live ranker begin."""

    class Input(serializers.Serializer[Any]):
        """cron: five fields; empty for no schedule. time_zone: such as Europe/Berlin."""

        cron = _text(100)
        time_zone = serializers.CharField(max_length=64, default="UTC")

    @extend_schema(operation_id="schedule_snapshots", request=Input, responses=LiveOutput)
    def put(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Take snapshots at these times, or at none; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        ranker = get_ranker(access=access, slug=ranker_slug)
        given = read_input(self.Input, request.data)
        try:
            set_schedule(access=access, ranker=ranker, at=timezone.now(), **given)
        except ScheduleRefused as error:
            raise ValidationError({error.field: error.message}) from error
        page = get_live_page(access=access, slug=ranker_slug, page="")
        return Response(LiveOutput(page).data)


class Snapshots(APIView):
    """The snapshots of a live ranker."""

    class Input(serializers.Serializer[Any]):
        """name: of the run to be. revision: the newest without it."""

        name = serializers.CharField(max_length=LONGEST_NAME, allow_blank=True, default="")
        revision = serializers.IntegerField(min_value=1, allow_null=True, default=None)

    @extend_schema(
        operation_id="list_snapshots",
        parameters=[PageParameters],
        responses=page_of(SnapshotRowOutput),
    )
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """List a ranker's snapshots, oldest first."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        part = list_snapshots(access=access, slug=ranker_slug, **wish)
        return page_response(request, part, SnapshotRowOutput)

    @extend_schema(operation_id="take_snapshot", request=Input, responses={202: SnapshotOutput})
    def post(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Ask a live ranker all queries, in the background; for researchers and leads.

        Poll the address in `Location`. 422 while another snapshot of the ranker runs.
        """
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        ranker = get_ranker(access=access, slug=ranker_slug)
        given = read_input(self.Input, request.data)
        started = start_snapshot(access=access, ranker=ranker, at=timezone.now(), **given)
        location = reverse("api-snapshot", args=[slug, ranker_slug, started.public_id])
        body = SnapshotOutput(get_snapshot_state(snapshot=started)).data
        return Response(body, status=202, headers={"Location": location})


class OneSnapshot(APIView):
    """One snapshot."""

    @extend_schema(operation_id="get_snapshot", responses=SnapshotOutput)
    def get(self, request: Request, slug: str, ranker_slug: str, snapshot_id: UUID) -> Response:
        """Return how far a snapshot is: how many queries have which outcome, and its run."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        result = get_snapshot(access=access, slug=ranker_slug, public_id=snapshot_id)
        return Response(SnapshotOutput(get_snapshot_state(snapshot=result)).data)


class Answers(APIView):
    """The outcomes of a snapshot, query by query."""

    @extend_schema(
        operation_id="list_snapshot_answers",
        parameters=[PageParameters],
        responses=page_of(AnswerOutput),
    )
    def get(self, request: Request, slug: str, ranker_slug: str, snapshot_id: UUID) -> Response:
        """List what became of each query, in the order in which the answers came."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        result = get_snapshot(access=access, slug=ranker_slug, public_id=snapshot_id)
        return page_response(request, list_answers(snapshot=result, **wish), AnswerOutput)


class Stop(APIView):
    """Stop a snapshot."""

    @extend_schema(operation_id="stop_snapshot", request=None, responses=SnapshotOutput)
    def post(self, request: Request, slug: str, ranker_slug: str, snapshot_id: UUID) -> Response:
        """Ask no more queries; what was answered is kept. 422 where it has ended."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        result = get_snapshot(access=access, slug=ranker_slug, public_id=snapshot_id)
        stop_snapshot(access=access, snapshot=result, at=timezone.now())
        result.refresh_from_db()
        return Response(SnapshotOutput(get_snapshot_state(snapshot=result)).data)


def _configuration(given: dict[str, Any]) -> Configuration:
    headers = tuple((name, value) for name, value in given.pop("headers"))
    mapping = Mapping(**given.pop("mapping"))
    return Configuration(**given, headers=headers, mapping=mapping)
