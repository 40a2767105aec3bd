"""Rankers, and the runs that are uploaded for them."""

from dataclasses import asdict
from typing import Any, BinaryIO, ClassVar, cast
from uuid import UUID

from django.http import StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.models import Ranker as RankerRow
from evaluation.models import Run as RunRow
from evaluation.rankings.files import MEDIA_TYPE, write_run
from evaluation.runs import resources
from evaluation.runs.details import LONGEST_COMMIT, LONGEST_TEXT, parse_details
from evaluation.runs.progress import LONGEST, RunProgress, wait_for_run
from evaluation.runs.queries import get_ranker
from evaluation.runs.rankers import create_ranker
from evaluation.runs.services import (
    LONGEST_NAME,
    ReadRun,
    check_run_name,
    read_run_file,
    run_name_of,
    store_run,
    withdraw_run,
)
from evaluation.runs.tags import parse_tags
from judgments.jobs.services import submit_job
from judgments.permissions import Access, check_may_upload_runs, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.naming import NamedInput
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.uploads import (
    FILE_BODY,
    NAMELESS,
    Upload,
    UploadView,
    prefers_a_job,
    take_upload,
)


class RankerOutput(serializers.Serializer[Any]):
    """A system that ranks documents."""

    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()


class RunOutput(serializers.Serializer[Any]):
    """One output of a ranker. sha256: of its content, regardless of compression.

    aliases: other names under which the same content was uploaded. parameters (names and scalars),
    commit, tags: how it was produced, as recorded by its uploader.
    """

    id = serializers.UUIDField(source="public_id")
    ranker = serializers.CharField(source="ranker.slug")
    name = serializers.CharField()
    aliases = serializers.SerializerMethodField()
    tag = serializers.CharField()
    queries = serializers.IntegerField(source="query_count")
    rows = serializers.IntegerField(source="row_count")
    sha256 = serializers.CharField()
    parameters = serializers.DictField(child=serializers.JSONField(allow_null=True))
    commit = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)

    def get_aliases(self, run: RunRow) -> list[str]:
        """In the order in which they came."""
        return [one.name for one in run.aliases.all()]


class UploadOutput(serializers.Serializer[Any]):
    """The stored run. It answers `queries` of the collection's `collection_queries`.

    note: the existing name if the content was already stored; else "". read_as: the detected
    format. ordered_by: score or rank. tied_rows: lines with the same score or rank as another line
    of their query. without_text: documents that are stubs. remarks: anything unexpected, as
    sentences.
    """

    collection_queries = serializers.IntegerField()
    note = serializers.CharField()
    read_as = serializers.CharField(source="findings.read_as")
    ordered_by = serializers.CharField(source="findings.ordered_by")
    tied_rows = serializers.IntegerField(source="findings.tied_rows")
    without_text = serializers.IntegerField(source="findings.without_text")
    remarks = serializers.ListField(child=serializers.CharField(), source="findings.remarks")


class UploadedRunOutput(RunOutput, UploadOutput):
    __doc__ = UploadOutput.__doc__


class ProgressOutput(AnswerSerializer):
    answer = RunProgress


class RunStateOutput(RunOutput, ProgressOutput):
    """A run and its state: waiting, evaluated, failed or withdrawn. lists: state on each list.

    A run is failed if it is on one list, and evaluated if it is on every list with judgments.
    """


@extend_schema_field(
    {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}], "default": ""}
)
class TagsField(serializers.Field):  # type: ignore[type-arg]
    """Tags as one text, words separated by commas or spaces, or as the list that answers have."""

    default_error_messages: ClassVar = {"invalid": "Tags are a text or a list of texts."}

    def to_internal_value(self, data: object) -> list[str]:
        """The tags. Raises TagsRefused for what is none."""
        words = [data] if isinstance(data, str) else data
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            self.fail("invalid")
        return parse_tags(" ".join(words))


class Rankers(APIView):
    """The rankers of a collection."""

    class Input(NamedInput):
        """A new ranker.

        slug: for URLs and commands; derived from the name if omitted; can't be changed later. tags:
        to filter and group leaderboards by; a list, or a text separated by commas or spaces.
        """

        tags = TagsField(default=list)

    @extend_schema(
        operation_id="list_rankers", parameters=[PageParameters], responses=page_of(RankerOutput)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's rankers."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        return page_response(request, resources.list_rankers(access=access, **wish), RankerOutput)

    @extend_schema(operation_id="create_ranker", request=Input, responses={201: RankerOutput})
    def post(self, request: Request, slug: str) -> Response:
        """Register a ranker; for researchers and leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        data = read_input(self.Input, request.data)
        made = create_ranker(access=access, at=timezone.now(), **data)
        headers = {"Location": reverse("api-ranker", args=[slug, made.slug])}
        return Response(RankerOutput(made).data, status=201, headers=headers)


class Ranker(APIView):
    """One ranker."""

    @extend_schema(operation_id="get_ranker", responses=RankerOutput)
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Return a ranker."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(RankerOutput(get_ranker(access=access, slug=ranker_slug)).data)


class Runs(UploadView):
    """The runs of a ranker."""

    class Options(serializers.Serializer[Any]):
        """name: of the run; else it is called as its file or, without one, as its tag.

        create: unknown queries and documents become stubs instead of being refused. order: `rank`
        lets the rank column decide instead of the scores.

        parameters: a JSON object of scalars, such as {"k1": 0.9}. commit: of the code that made the
        run. tags: words, separated by commas or spaces. A run that is there already keeps its own.
        """

        name = serializers.CharField(max_length=LONGEST_NAME, required=False)
        create = serializers.BooleanField(default=False)  # type: ignore[assignment]
        order = serializers.ChoiceField(choices=("score", "rank"), default="score")
        parameters = serializers.CharField(
            max_length=LONGEST_TEXT, allow_blank=True, default="", trim_whitespace=False
        )
        commit = serializers.CharField(max_length=LONGEST_COMMIT, allow_blank=True, default="")
        tags = serializers.CharField(max_length=500, allow_blank=True, default="")

    @extend_schema(
        operation_id="list_runs", parameters=[PageParameters], responses=page_of(RunOutput)
    )
    def get(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """List the ranker's runs, oldest first, including withdrawn ones."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        ranker = get_ranker(access=access, slug=ranker_slug)
        return page_response(request, resources.list_ranker_runs(ranker=ranker, **wish), RunOutput)

    @extend_schema(
        operation_id="upload_run",
        parameters=[Options],
        request=FILE_BODY,
        responses={200: UploadedRunOutput, 201: UploadedRunOutput, 202: JobOutput},
    )
    def post(self, request: Request, slug: str, ranker_slug: str) -> Response:
        """Upload a TREC run, all or nothing; for researchers and leads.

        Returns 200 with the existing run if the content is the same: the run keeps its name, and
        `name` becomes one of its `aliases`. 202 with a job only with `Prefer: respond-async`. A
        file with errors is refused with the lines listed.
        """
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        ranker = get_ranker(access=access, slug=ranker_slug)
        upload, options = take_upload(request, self.Options)
        said = {name: options.pop(name) for name in ("parameters", "commit", "tags")}
        details = parse_details(**said)
        if prefers_a_job(request):
            return _leave_to_a_worker(access, ranker, upload, options | asdict(details))
        read = read_run_file(
            source=cast(BinaryIO, upload),
            file_name=upload.name or NAMELESS,
            order=options["order"],
        )
        done = store_run(
            ranker=ranker,
            read=read,
            name=options.get("name") or _name(upload, read),
            is_named=bool(options.get("name")),
            by=access.user,
            at=timezone.now(),
            create=options["create"],
            details=details,
        )
        headers = {"Location": reverse("api-run", args=[slug, ranker_slug, done.run.public_id])}
        status = 201 if done.created else 200
        body = RunOutput(done.run).data | UploadOutput(done).data
        return Response(body, status=status, headers=headers)


class Run(APIView):
    """One run."""

    class Parameters(serializers.Serializer[Any]):
        """wait: seconds to wait at most, until the run has its values or can't have them."""

        wait = serializers.IntegerField(min_value=0, max_value=LONGEST, default=0)

    @extend_schema(operation_id="get_run", parameters=[Parameters], responses=RunStateOutput)
    def get(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """Return a run and whether it is evaluated.

        With too many waiting requests, the response comes at once, with `Retry-After`.
        """
        wish = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        run = resources.get_run_of(access, ranker_slug, run_id)
        result = wait_for_run(run=run, seconds=wish["wait"])
        headers = {"Retry-After": "1"} if result.is_cut else {}
        return Response(RunOutput(run).data | ProgressOutput(result).data, headers=headers)


class RunFile(APIView):
    """One run's rankings."""

    @extend_schema(operation_id="get_run_file", responses={(200, "text/plain"): OpenApiTypes.STR})
    def get(
        self, request: Request, slug: str, ranker_slug: str, run_id: UUID
    ) -> StreamingHttpResponse:
        """Download a run as a TREC file whose content has the run's SHA-256."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        run = resources.get_run_of(access, ranker_slug, run_id)
        return StreamingHttpResponse(write_run(run=run), content_type=MEDIA_TYPE)


class Withdrawal(APIView):
    """Withdraw a run."""

    @extend_schema(operation_id="withdraw_run", request=None, responses=RunOutput)
    def post(self, request: Request, slug: str, ranker_slug: str, run_id: UUID) -> Response:
        """Remove a run from every leaderboard permanently; for leads and its uploader."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_upload_runs(access)
        run = resources.get_run_of(access, ranker_slug, run_id)
        withdraw_run(access=access, run=run, at=timezone.now())
        return Response(RunOutput(run).data)


def _leave_to_a_worker(
    access: Access, ranker: RankerRow, upload: Upload, options: dict[str, Any]
) -> Response:
    name = options.get("name") or _name(upload, None)
    check_run_name(name)
    named = {"name": name, "is_named": bool(options.get("name"))}
    params = {**options, **named, "ranker": ranker.slug}
    job = submit_job(
        access=access, kind="import_run", file=upload, params=params, at=timezone.now()
    )
    return accepted(access, job)


def _name(upload: Upload, read: ReadRun | None) -> str:
    """What to call a run that no one named: as its file, else as its tag says."""
    name = run_name_of(upload.name or NAMELESS)
    if name == NAMELESS and read is not None and read.file.tag.isprintable():
        name = read.file.tag[:LONGEST_NAME] or name
    return name
