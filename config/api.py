"""What the REST interface says about itself."""

from functools import lru_cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.rest.parsing import check_parameters


class Root(APIView):
    """The entry point of the API."""

    class Output(serializers.Serializer[Any]):
        """URLs to start from."""

        collections = serializers.URLField()
        schema = serializers.URLField()
        docs = serializers.URLField()

    @extend_schema(operation_id="get_root", responses=Output)
    def get(self, request: Request) -> Response:
        """List the URLs to start from."""
        check_parameters(request)
        addresses = {
            name: request.build_absolute_uri(reverse(f"api-{name}"))
            for name in ("collections", "schema", "docs")
        }
        return Response(self.Output(addresses).data)


@lru_cache(maxsize=2)  # anyone may ask for any `lang`
def _make_schema(language: str | None) -> dict[str, Any]:
    """The schema in the language that is active."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


class KeptSchema(SchemaGenerator):
    """Makes the schema once in each process: that takes seconds, and only its language varies."""

    def get_schema(self, request: Request | None = None, public: bool = False) -> dict[str, Any]:
        """The schema of the whole interface, the same for all users."""
        return _make_schema(get_language())


class Schema(SpectacularAPIView):
    """The OpenAPI schema, as JSON, or as YAML with `Accept: application/vnd.oai.openapi`."""

    generator_class = KeptSchema
    permission_classes = (IsAuthenticated,)
    content_negotiation_class = DefaultContentNegotiation
    renderer_classes = [OpenApiJsonRenderer2, OpenApiYamlRenderer]  # noqa: RUF012  (as declared)


class Unknown(APIView):
    """What is no address of the interface."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The interface to read and to try out."""
    return render(request, "api_docs.html")


@csrf_exempt  # as REST framework's own views are, which then check by themselves
@login_not_required
def other_spelling(request: HttpRequest, rest: str) -> HttpResponseBase:
    """Serve an address that has a slash too many or too few at its end; refuse any other."""
    path = request.path_info
    try:
        match = resolve(path.removesuffix("/") if path.endswith("/") else f"{path}/")
    except Resolver404:
        return Unknown.as_view()(request)
    if not issubclass(getattr(match.func, "cls", object), APIView):
        return Unknown.as_view()(request)
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response
