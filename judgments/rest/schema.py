"""What the OpenAPI schema says beyond what REST framework knows: names, and problems."""

import re
from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import (
    ResolvedComponent,
    build_bearer_security_scheme_object,
)
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from judgments.rest.problems import CONTENT_TYPE
from judgments.rest.uploads import UploadView

READS: Final = frozenset({"GET", "HEAD"})


class FileProblem(serializers.Serializer[Any]):
    """A violated rule at one position in a file."""

    file = serializers.CharField()
    line = serializers.IntegerField()
    column = serializers.IntegerField(required=False)
    rule = serializers.CharField()
    message = serializers.CharField()


class Problem(serializers.Serializer[Any]):
    """An error response (RFC 9457). `code` is stable and machine-readable."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    errors = serializers.DictField(  # type: ignore[assignment]
        required=False, help_text="Errors by field."
    )
    problems = FileProblem(many=True, required=False)
    total = serializers.IntegerField(
        required=False, help_text="Number of problems; the first 100 are listed."
    )


# for an address that a rule may refuse to read, such as a measure that does not exist
REFUSED: Final[dict[Any, Any]] = {
    (422, CONTENT_TYPE): OpenApiResponse(Problem, "The request breaks a rule.")
}


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a token is sent."""

    target_class = "judgments.rest.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """`Authorization: Bearer …`."""
        scheme: dict[str, Any] = build_bearer_security_scheme_object("Authorization", "Bearer")
        return scheme


class Schema(AutoSchema):
    """The schema of one address."""

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        """Nested serializers are named with the view they are in: `Lists.Input` is ListsInput."""
        return type(serializer).__qualname__.replace(".", "")

    def get_tags(self) -> list[str]:
        """The innermost kind of thing that the address is about."""
        parts = re.sub(self.path_prefix, "", self.path).split("/")
        return [part for part in parts if part.endswith("s")][-1:] or ["start"]

    def get_summary(self) -> str | None:
        """The first line of what the address is said to do."""
        return self.get_description().partition("\n")[0].strip().removesuffix(".") or None

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        responses = super()._get_response_bodies(direction)
        for status, meaning in self._problems().items():
            body = {CONTENT_TYPE: {"schema": self._problem_component().ref}}
            responses.setdefault(status, {"description": meaning, "content": body})
        return responses

    def _problems(self) -> dict[str, str]:
        result = {
            "400": "The request is malformed or has unknown parameters.",
            "401": "Missing or invalid token.",
            "404": "Not found, or you do not have access to it.",
        }
        if self.method in READS:
            return result
        result |= {
            "403": "The token is read-only, or a page's request lacks its CSRF token.",
            "415": "Unsupported media type.",
            "422": "The request breaks a rule.",
        }
        if issubclass(type(self.view), UploadView):
            result |= {"411": "The body has no Content-Length.", "413": "The file is too large."}
        return result

    def _problem_component(self) -> ResolvedComponent:
        component: ResolvedComponent = self.resolve_serializer(Problem(), "response")
        return component
