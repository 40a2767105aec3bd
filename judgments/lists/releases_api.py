"""Releases: versions that a paper can name."""

from typing import Any

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.lists import resources
from judgments.lists.queries import (
    ReleaseRow,
    cite,
    get_list,
    get_release,
    get_version,
    show_releases,
)
from judgments.lists.services import release_version
from judgments.pages.confirming import confirmed
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters


class ReleaseOutput(AnswerSerializer):
    answer = ReleaseRow


@confirmed
class Releases(APIView):
    """The releases of a list."""

    class Input(serializers.Serializer[Any]):
        """A permanent name for a version. version: its number; default the newest. accept_quality:
        required if the labels are not good enough to decide on.
        """

        name = serializers.CharField(max_length=64)
        version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
        notes = serializers.CharField(max_length=5000, allow_blank=True, default="")
        accept_quality = serializers.BooleanField(default=False)

    @extend_schema(
        operation_id="list_releases", parameters=[PageParameters], responses=page_of(ReleaseOutput)
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """List the list's releases, oldest first."""
        wish = read_parameters(request, PageParameters)
        access = get_access(viewer=request.user, slug=slug)
        one = get_list(access=access, slug=list_slug)
        part = resources.list_releases(access=access, judgment_list=one, **wish)
        return page_response(request, part, ReleaseOutput)

    @extend_schema(operation_id="create_release", request=Input, responses={201: ReleaseOutput})
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Release a version: give it a permanent name and the SHA-256 of its qrels; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        one = get_list(access=access, slug=list_slug)
        data = read_input(self.Input, request.data)
        number = data.pop("version", None) or get_version(judgment_list=one).number
        made = release_version(
            access=access, at=timezone.now(), judgment_list=one, number=number, **data
        )
        return Response(ReleaseOutput(show_releases(access, [made])[0]).data, status=201)


class OneRelease(APIView):
    """One release."""

    class Output(ReleaseOutput):
        """A release. url: its permanent URL; citation: as a sentence and for BibTeX."""

        url = serializers.URLField()
        citation = serializers.CharField()
        bibtex = serializers.CharField()

    @extend_schema(operation_id="get_release", responses=Output)
    def get(self, request: Request, slug: str, list_slug: str, name: str) -> Response:
        """Return a release, with how to cite it."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        one = get_list(access=access, slug=list_slug)
        result = get_release(access=access, slug=list_slug, name=name)
        url = request.build_absolute_uri(reverse("version", args=[slug, list_slug, name]))
        cited = cite(
            access=access, list_slug=list_slug, list_name=one.name, release=result, url=url
        )
        named = {"url": url, "citation": cited.plain, "bibtex": cited.bibtex}
        return Response(ReleaseOutput(result).data | named)
