"""Long lists one part at a time, each with the address of the next."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from judgments.pages.paging import Part

MOST: Final = 1000


class PageParameters(serializers.Serializer[Any]):
    """limit: how many at most. after: as the address in `next` has it."""

    limit = serializers.IntegerField(min_value=1, max_value=MOST, default=100)
    after = serializers.IntegerField(min_value=0, max_value=2**63 - 1, default=0)


class ArchivePageParameters(PageParameters):
    """archived: those that are archived, and no others."""

    archived = serializers.BooleanField(default=False)


def page_of(output: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """What a page of such rows looks like, for the schema."""
    name = output.__qualname__.replace(".", "") + "Page"
    results = output(many=True)
    return inline_serializer(
        name, {"results": results, "next": serializers.URLField(allow_null=True)}
    )


def page_response(
    request: Request,
    part: Part[Any],
    output: type[serializers.Serializer[Any]],
    more: Mapping[str, Any] | None = None,
) -> Response:
    """The rows of a part, and the address of the part after it, null at the end."""
    rows: Sequence[Any] = part.rows
    body = {**(more or {}), "results": output(rows, many=True).data, "next": None}
    if part.after is not None:
        body["next"] = replace_query_param(request.build_absolute_uri(), "after", part.after)
    return Response(body)
