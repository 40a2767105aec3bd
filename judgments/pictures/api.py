"""A collection's pictures over REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.permissions import check_may_lead, get_access
from judgments.pictures import queries, services
from judgments.pictures.rules import MOST_FIELDS, SIZES
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.parsing import check_parameters, read_input
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload


class PicturesOutput(AnswerSerializer):
    answer = queries.PicturesState


class Pictures(APIView):
    """The pictures of a collection's documents."""

    class Input(serializers.Serializer[Any]):
        """fields: that hold pictures, in display order; all other fields are shown as text."""

        class Field(serializers.Serializer[Any]):
            """A field of documents, and the size of its pictures."""

            field = serializers.CharField(max_length=200, trim_whitespace=False)
            size = serializers.ChoiceField(list(SIZES), default="medium")

        fields = serializers.ListField(child=Field(), max_length=MOST_FIELDS)  # type: ignore[assignment]

    @extend_schema(operation_id="get_pictures", responses=PicturesOutput)
    def get(self, request: Request, slug: str) -> Response:
        """Return the fields that hold pictures, and the numbers of stored, waiting and refused
        pictures."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(PicturesOutput(queries.get_pictures_state(access=access)).data)

    @extend_schema(operation_id="choose_picture_fields", request=Input, responses=PicturesOutput)
    def put(self, request: Request, slug: str) -> Response:
        """Choose the fields that hold pictures; a worker then finds and fetches them."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        data = read_input(self.Input, request.data)
        fields = {one["field"]: one["size"] for one in data["fields"]}
        services.choose_fields(access=access, fields=fields, at=timezone.now())
        return Response(PicturesOutput(queries.get_pictures_state(access=access)).data)


class PicturesFetch(APIView):
    """`pictures/fetch`: try refused pictures again."""

    @extend_schema(operation_id="fetch_pictures_again", request=None, responses=PicturesOutput)
    def post(self, request: Request, slug: str) -> Response:
        """Retry refused pictures that have a URL."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        services.fetch_again(access=access, at=timezone.now())
        return Response(PicturesOutput(queries.get_pictures_state(access=access)).data)


class NoOptions(serializers.Serializer[Any]):
    """An upload without options."""


class PictureFiles(UploadView):
    """`pictures/files`: picture files in a ZIP archive."""

    @extend_schema(operation_id="upload_pictures", request=FILE_BODY, responses={202: JobOutput})
    def post(self, request: Request, slug: str) -> Response:
        """Upload picture files, named as in the documents' fields; a worker stores them."""
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        upload, _ = take_upload(request, NoOptions)
        job = services.upload_files(access=access, file=upload, at=timezone.now())
        return accepted(access, job)
