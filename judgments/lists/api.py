"""Judgment lists: their versions, what differs between them, qrels in and out."""

from typing import Any, BinaryIO, cast
from urllib.parse import quote

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.imports.services import import_qrels, read_judgments
from judgments.jobs.services import submit_job
from judgments.lists import resources
from judgments.lists.queries import (
    SignalGrade,
    VersionRow,
    find_version_number,
    get_judgment_file,
    get_list,
    get_version,
    show_versions,
)
from judgments.lists.services import create_list
from judgments.models import JudgmentList
from judgments.models.lists import Takes
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer, WordsField
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.naming import NamedInput
from judgments.rest.paging import ArchivePageParameters, PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.schema import REFUSED
from judgments.rest.uploads import FILE_BODY, UploadView, is_for_a_worker, take_upload
from judgments.versions.takes import takes_at, takes_words
from touchstone.files.format_detection import AUTO, choose_format
from touchstone.files.ratings import FORMATS, TREC, get_format
from touchstone.files.signals import MOST_CHARACTERS, Signals
from touchstone.scales import Scale

MEDIA_TYPES = tuple(dict.fromkeys(form.media_type for form in FORMATS.values()))
CONTENTS = {
    (200, kind): OpenApiTypes.OBJECT if kind == "application/json" else OpenApiTypes.STR
    for kind in MEDIA_TYPES
}


class GradeOutput(serializers.Serializer[Any]):
    """A grade of a scale: `code` is what qrels contain, `value` what measures compute with."""

    code = serializers.IntegerField()
    name = serializers.CharField()
    value = serializers.FloatField()


class ListOutput(serializers.Serializer[Any]):
    """A judgment list. head: number of its newest version; 0 if there is none. archived_at: since
    when it is archived; else null. changed_documents: what becomes of judgments on changed
    documents. takes: where the grades of its next version come from, and grades_from the same in
    words, with the machine judge."""

    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    scale = GradeOutput(many=True)
    head = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(allow_null=True)
    changed_documents = serializers.ChoiceField(choices=JudgmentList.ChangedDocuments.choices)
    takes = serializers.ChoiceField(choices=Takes.choices)
    grades_from = WordsField(lambda one: takes_words(one.takes, one.takes_from))


class SignalOutput(AnswerSerializer):
    answer = SignalGrade


class VersionOutput(AnswerSerializer):
    answer = VersionRow
    signals = SignalOutput(many=True)


class ChangeOutput(AnswerSerializer):
    answer = resources.ChangeRow


class ChangesOutput(serializers.Serializer[Any]):
    """before, after: version numbers. The counts are over all pairs, not only this page."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    removed = serializers.IntegerField()
    results = ChangeOutput(many=True)
    next = serializers.URLField(allow_null=True)


class ImportedOutput(serializers.Serializer[Any]):
    """The result of importing qrels. version: the new version; null if nothing was new.

    format: of the file. read_as: the format, and how it was detected.
    """

    version = serializers.IntegerField(allow_null=True)
    pairs = serializers.IntegerField()
    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    new_queries = serializers.IntegerField()
    new_documents = serializers.IntegerField()
    format = serializers.CharField()
    read_as = serializers.CharField()


class Lists(APIView):
    """The judgment lists of a collection."""

    class Input(NamedInput):
        """A new list. slug: derived from the name if omitted.

        scale: the grades from the worst to the best, as 0..4, -2..4 or 0,0.5,0.9.
        """

        scale = serializers.CharField(max_length=200, default="0..4")

    @extend_schema(
        operation_id="list_lists",
        parameters=[ArchivePageParameters],
        responses=page_of(ListOutput),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's judgment lists."""
        wish = read_parameters(request, ArchivePageParameters)
        access = get_access(viewer=request.user, slug=slug)
        return page_response(request, resources.list_lists(access=access, **wish), ListOutput)

    @extend_schema(operation_id="create_list", request=Input, responses={201: ListOutput})
    def post(self, request: Request, slug: str) -> Response:
        """Create an empty list; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        data = read_input(self.Input, request.data)
        data["scale"] = Scale.parse(data["scale"])
        made = create_list(access=access, at=timezone.now(), **data)
        headers = {"Location": reverse("api-list", args=[slug, made.slug])}
        return Response(ListOutput(made).data, status=201, headers=headers)


class List(APIView):
    """One list."""

    @extend_schema(operation_id="get_list", responses=ListOutput)
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return a list."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(ListOutput(get_list(access=access, slug=list_slug)).data)


class Versions(APIView):
    """The versions of a list."""

    @extend_schema(
        operation_id="list_versions", parameters=[PageParameters], responses=page_of(VersionOutput)
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """List the list's versions, newest first."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        one = get_list(access=access, slug=list_slug)
        part = resources.list_versions(access=access, judgment_list=one, **wish)
        return page_response(request, part, VersionOutput)


class Version(APIView):
    """One version: by its number, by the name of a release, or `head`."""

    @extend_schema(operation_id="get_version", responses=VersionOutput)
    def get(self, request: Request, slug: str, list_slug: str, name: str) -> Response:
        """Return a version, by number, release name, or `head`."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        result = get_version(judgment_list=get_list(access=access, slug=list_slug), name=name)
        return Response(VersionOutput(show_versions(access, [result])[0]).data)


class Qrels(APIView):
    """The grades of a version as a file."""

    class Parameters(serializers.Serializer[Any]):
        """format: of which tool."""

        format = serializers.ChoiceField(choices=tuple(FORMATS), default=TREC)

    @extend_schema(
        operation_id="get_qrels",
        parameters=[Parameters],
        responses=CONTENTS | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str, name: str) -> HttpResponse:
        """Download a version's grades as qrels, byte for byte what a release's SHA-256 is computed
        over.

        With `format`, as a file for another tool. `X-Version` is the version's number,
        `X-Grades-From` says where its grades come from (percent-encoded).
        """
        wish = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        one = get_list(access=access, slug=list_slug)
        number = find_version_number(judgment_list=one, name=name)
        form = get_format(wish["format"])
        content = get_judgment_file(judgment_list=one, number=number, form=form)
        headers = {
            "X-Version": str(number),
            "X-Grades-From": quote(takes_at(list_id=one.pk, version=number), safe=" ,"),
        }
        return HttpResponse(
            content, content_type=f"{form.media_type}; charset=utf-8", headers=headers
        )


class Changes(APIView):
    """The differences between two versions."""

    @extend_schema(operation_id="get_changes", parameters=[PageParameters], responses=ChangesOutput)
    def get(self, request: Request, slug: str, list_slug: str, before: str, after: str) -> Response:
        """List the pairs whose grades differ between two versions, in either direction.

        Each version is named by its number, by a release's name, or as `head`; 0 is the empty list.
        """
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        one = get_list(access=access, slug=list_slug)
        numbers = {
            "before": find_version_number(judgment_list=one, name=before),
            "after": find_version_number(judgment_list=one, name=after),
        }
        counts, part = resources.list_changes(
            judgment_list=one, **numbers, skip=wish["after"], limit=wish["limit"]
        )
        return page_response(request, part, ChangeOutput, numbers | counts)


class QrelsImport(UploadView):
    """Import grades as the next version."""

    class Options(serializers.Serializer[Any]):
        """reason: kept with the version. create: unknown queries and documents become stubs.

        format: of the file; `auto`: recognised by its first lines. signals: how its values become
        grades, as `E=3, S=2, C=1, I=0` or `>=60=3, >=10=1, >=0=0`; kept with the version.
        """

        reason = serializers.CharField(max_length=1000, allow_blank=True, default="")
        create = serializers.BooleanField(default=False)  # type: ignore[assignment]
        format = serializers.ChoiceField(choices=(AUTO, *FORMATS), default=AUTO)
        signals = serializers.CharField(max_length=MOST_CHARACTERS, allow_blank=True, default="")

    @extend_schema(
        operation_id="import_qrels",
        parameters=[Options],
        request=FILE_BODY,
        responses={200: ImportedOutput, 201: ImportedOutput, 202: JobOutput},
    )
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Import TREC qrels, or another tool's judgments, as the list's next version; for leads.

        All or nothing; pairs that are not in the file keep their grades. 200 if nothing changed.
        202 with a job if the file is large, or with `Prefer: respond-async`.
        """
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        one = get_list(access=access, slug=list_slug)
        upload, options = take_upload(request, self.Options)
        at, scale = timezone.now(), Scale.from_json(one.scale)
        signals = Signals.parse(options["signals"], scale=scale)
        if is_for_a_worker(request, upload):
            params = {"list": list_slug, **options}
            return accepted(
                access,
                submit_job(access=access, kind="import_qrels", file=upload, params=params, at=at),
            )
        recognised = choose_format(cast(BinaryIO, upload), options["format"])
        qrels = read_judgments(
            cast(BinaryIO, upload),
            collection=one.collection,
            scale=scale,
            name=upload.name or "qrels",
            form=recognised.form,
            signals=signals,
        )
        done = import_qrels(
            judgment_list=one,
            qrels=qrels,
            create=options["create"],
            by=access.user,
            at=at,
            reason=options["reason"],
            signals=signals,
        )
        status = 200 if done.version is None else 201
        told = {"format": recognised.form.name, "read_as": recognised.read_as}
        return Response(ImportedOutput(done.counts() | told).data, status=status)
