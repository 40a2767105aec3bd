"""Collections, and what is in them: queries and documents."""

import json
from typing import Any, BinaryIO, Final, cast

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.collections import resources
from judgments.collections.services import (
    Loaded,
    create_collection,
    load_documents,
    load_queries,
)
from judgments.jobs.services import submit_job
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.authentication import person
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.naming import NamedInput
from judgments.rest.paging import ArchivePageParameters, PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.uploads import FILE_BODY, UploadView, is_for_a_worker, take_upload
from touchstone.files.collections import read_documents, read_queries
from touchstone.files.table_columns import DOCUMENT_PARTS, QUERY_PARTS
from touchstone.files.table_preview import HEAD, ColumnShown, FilePreview, preview_file


class CollectionOutput(AnswerSerializer):
    answer = resources.CollectionRow


class LoadedOutput(AnswerSerializer):
    answer = Loaded


class ColumnsField(serializers.CharField):
    """What columns are: a JSON object of their names, and of what each is; "" for left out."""

    def to_internal_value(self, data: Any) -> Any:
        """The object. Raises ValidationError for anything else."""
        try:
            result = json.loads(super().to_internal_value(data))
        except ValueError:
            result = None
        if not isinstance(result, dict) or not all(isinstance(v, str) for v in result.values()):
            raise serializers.ValidationError("Send a JSON object that maps columns to names.")
        return result


class TableOptions(serializers.Serializer[Any]):
    """columns: of CSV, or TSV with a header, as JSON: `{"SKU": "doc_id", "Name": "title"}`; "" for
    a column that is not read. Without it, the names tell. preview: only say what would be read.
    """

    columns = ColumnsField(max_length=20_000, default=dict)  # type: ignore[arg-type]
    preview = serializers.BooleanField(default=False)


class ColumnOutput(AnswerSerializer):
    answer = ColumnShown


class PreviewOutput(AnswerSerializer):
    """How a file would be read; nothing was imported."""

    answer = FilePreview
    columns = ColumnOutput(many=True)


LOADED_OR_PREVIEW: Final = PolymorphicProxySerializer(
    component_name="LoadedOrPreview",
    serializers=[LoadedOutput, PreviewOutput],
    resource_type_field_name=None,
)


class Collections(APIView):
    """The collections you are a member of."""

    class Input(NamedInput):
        """A new collection.

        slug: for URLs and commands; derived from the name if omitted; can't be changed later.
        """

    @extend_schema(
        operation_id="list_collections",
        parameters=[ArchivePageParameters],
        responses=page_of(CollectionOutput),
    )
    def get(self, request: Request) -> Response:
        """List the collections you are a member of; all of them for an administrator."""
        wish = read_parameters(request, ArchivePageParameters)
        part = resources.list_collections(viewer=person(request), **wish)
        return page_response(request, part, CollectionOutput)

    @extend_schema(
        operation_id="create_collection", request=Input, responses={201: CollectionOutput}
    )
    def post(self, request: Request) -> Response:
        """Create an empty collection and become its lead."""
        check_parameters(request)
        data = read_input(self.Input, request.data)
        made = create_collection(by=person(request), at=timezone.now(), **data)
        access = get_access(viewer=request.user, slug=made.slug)
        headers = {"Location": reverse("api-collection", args=[made.slug])}
        body = CollectionOutput(resources.get_collection_row(access)).data
        return Response(body, status=201, headers=headers)


class Collection(APIView):
    """One collection."""

    @extend_schema(operation_id="get_collection", responses=CollectionOutput)
    def get(self, request: Request, slug: str) -> Response:
        """Return a collection."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(CollectionOutput(resources.get_collection_row(access)).data)


class Queries(UploadView):
    """The queries of a collection."""

    class Output(serializers.Serializer[Any]):
        """A query. is_stub: has only an id."""

        query_id = serializers.CharField(source="qid")
        text = serializers.CharField()
        description = serializers.CharField()
        segment = serializers.CharField()
        weight = serializers.FloatField()
        is_stub = serializers.BooleanField()

    class Parameters(PageParameters):
        """segment: only the queries in it."""

        segment = serializers.CharField(default=None, allow_blank=True, trim_whitespace=False)

    @extend_schema(operation_id="list_queries", parameters=[Parameters], responses=page_of(Output))
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's queries, in the order they were uploaded."""
        wish = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        return page_response(request, resources.list_queries(access=access, **wish), self.Output)

    @extend_schema(
        operation_id="load_queries",
        parameters=[TableOptions],
        request=FILE_BODY,
        responses={200: LOADED_OR_PREVIEW, 201: LoadedOutput, 202: JobOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload queries as CSV, TSV or JSONL, all or nothing; those that differ are updated.

        200 if nothing changed, or for a preview. 202 with a job if the file is large, or with
        `Prefer: respond-async`.
        """
        return _load(request, slug, "queries")


class Documents(UploadView):
    """The documents of a collection."""

    class Output(serializers.Serializer[Any]):
        """A document without its text. is_stub: has only an id."""

        doc_id = serializers.CharField(source="docid")
        title = serializers.CharField()
        url = serializers.CharField()
        content_hash = serializers.CharField()
        is_stub = serializers.BooleanField()

    @extend_schema(
        operation_id="list_documents", parameters=[PageParameters], responses=page_of(Output)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's documents without their text, in the order they were uploaded."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        return page_response(request, resources.list_documents(access=access, **wish), self.Output)

    @extend_schema(
        operation_id="load_documents",
        parameters=[TableOptions],
        request=FILE_BODY,
        responses={200: LOADED_OR_PREVIEW, 201: LoadedOutput, 202: JobOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload documents as CSV, TSV or JSONL, all or nothing; those that differ are updated.

        200 if nothing changed, or for a preview. 202 with a job if the file is large, or with
        `Prefer: respond-async`.
        """
        return _load(request, slug, "documents")


class Document(APIView):
    """One document."""

    class Output(Documents.Output):
        """A document. fields: the other fields of its file."""

        text = serializers.CharField(source="body")
        fields = serializers.DictField()  # type: ignore[assignment]

    @extend_schema(operation_id="get_document", responses=Output)
    def get(self, request: Request, slug: str, doc_id: str) -> Response:
        """Return a document with its text."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output(resources.get_document(access=access, docid=doc_id)).data)


def _load(request: Request, slug: str, kind: str) -> Response:
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    upload, options = take_upload(request, TableOptions)
    columns, at = options["columns"], timezone.now()
    file, name = cast(BinaryIO, upload), upload.name or kind
    if options["preview"]:
        parts = QUERY_PARTS if kind == "queries" else DOCUMENT_PARTS
        result = preview_file(file.read(HEAD), parts, name=name, columns=columns)
        return Response(PreviewOutput(result).data)
    if is_for_a_worker(request, upload):
        params = {"columns": columns}
        job = submit_job(access=access, kind=f"import_{kind}", file=upload, params=params, at=at)
        return accepted(access, job)
    if kind == "queries":
        records = read_queries(file, name=name, columns=columns)
        loaded = load_queries(collection=access.collection, records=records, by=access.user, at=at)
    else:
        loaded = load_documents(
            collection=access.collection,
            records=read_documents(file, name=name, columns=columns),
            by=access.user,
            at=at,
        )
    is_new = loaded.added or loaded.changed
    return Response(LoadedOutput(loaded).data, status=201 if is_new else 200)
