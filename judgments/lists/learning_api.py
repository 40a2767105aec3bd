"""Files that rankers are trained on: a version's grades with features."""

from typing import Any, BinaryIO, cast

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from judgments.lists.queries import find_version_number, get_learning_file, get_list
from judgments.permissions import get_access
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload
from touchstone.files.learning import TOOLS, read_features

ZIP = "application/zip"


class Learning(UploadView):
    """Training data: a version's grades joined with features."""

    throttle_scope = "costly"

    class Options(serializers.Serializer[Any]):
        """format: of which tool."""

        format = serializers.ChoiceField(choices=tuple(TOOLS), default="ranklib")

    @extend_schema(
        operation_id="get_training_files",
        parameters=[Options],
        request=FILE_BODY,
        responses={(200, ZIP): OpenApiTypes.BINARY},
    )
    def post(self, request: Request, slug: str, list_slug: str, name: str) -> HttpResponse:
        """Return training data for a ranker as a zip: a version's grades joined with your features.

        The file is CSV with query_id, doc_id and one column per feature. Nothing is stored.
        """
        access = get_access(viewer=request.user, slug=slug)
        one = get_list(access=access, slug=list_slug)
        number = find_version_number(judgment_list=one, name=name)
        upload, options = take_upload(request, self.Options)
        features = read_features(cast(BinaryIO, upload), name=upload.name or "features")
        content = get_learning_file(
            judgment_list=one, number=number, kind=options["format"], features=features
        )
        return HttpResponse(content, content_type=ZIP, headers={"X-Version": str(number)})
