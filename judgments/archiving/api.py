"""Archiving collections and lists over REST, and restoring them."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.archiving import services
from judgments.collections.api import CollectionOutput
from judgments.collections.resources import get_collection_row
from judgments.lists.api import ListOutput
from judgments.lists.queries import get_list
from judgments.permissions import check_may_archive, check_may_lead, get_access
from judgments.rest.parsing import check_parameters


class CollectionArchive(APIView):
    """`archive`."""

    @extend_schema(operation_id="archive_collection", request=None, responses=CollectionOutput)
    def post(self, request: Request, slug: str) -> Response:
        """Hide a collection and refuse every change of it; for leads and administrators."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_archive(access)
        services.archive_collection(access=access, at=timezone.now())
        return _collection(request, slug)


class CollectionRestore(APIView):
    """`restore`."""

    @extend_schema(operation_id="restore_collection", request=None, responses=CollectionOutput)
    def post(self, request: Request, slug: str) -> Response:
        """Show a collection again, and let it be changed; for leads and administrators."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_archive(access)
        services.restore_collection(access=access, at=timezone.now())
        return _collection(request, slug)


class ListArchive(APIView):
    """`archive`."""

    @extend_schema(operation_id="archive_list", request=None, responses=ListOutput)
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Hide a list and refuse every change of it; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        one = get_list(access=access, slug=list_slug)
        services.archive_list(access=access, judgment_list=one, at=timezone.now())
        return Response(ListOutput(get_list(access=access, slug=list_slug)).data)


class ListRestore(APIView):
    """`restore`."""

    @extend_schema(operation_id="restore_list", request=None, responses=ListOutput)
    def post(self, request: Request, slug: str, list_slug: str) -> Response:
        """Show a list again, and let it be changed; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        one = get_list(access=access, slug=list_slug)
        services.restore_list(access=access, judgment_list=one, at=timezone.now())
        return Response(ListOutput(get_list(access=access, slug=list_slug)).data)


def _collection(request: Request, slug: str) -> Response:
    access = get_access(viewer=request.user, slug=slug)
    return Response(CollectionOutput(get_collection_row(access)).data)
