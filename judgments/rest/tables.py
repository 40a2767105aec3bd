"""Answers that are tables: JSON, or a file of their rows."""

from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from touchstone.errors import DomainError
from touchstone.files.parquet import MEDIA_TYPE, can_write_parquet

JSON: Final = "application/json"
CSV: Final = "text/csv"
PARQUET: Final = MEDIA_TYPE
FORMATS: Final = {"json": JSON, "csv": CSV, "parquet": PARQUET}  # by the names that addresses have


def tables_of(output: type[Serializer[Any]]) -> dict[Any, Any]:
    """What such an address answers, for the schema. output: the JSON."""
    return {
        (200, JSON): output,
        (200, CSV): OpenApiTypes.STR,
        (200, PARQUET): OpenApiTypes.BINARY,
    }


class FormatUnavailable(DomainError):
    """This server can't write the format."""


def media_type_of(request: Request, *, named: str | None) -> str:
    """The media type that the address names, or else the one that `Accept` prefers.

    Raises FormatUnavailable where Parquet is named and the server can't write it.
    """
    own = list(FORMATS.values()) if can_write_parquet() else [JSON, CSV]
    if named is None:
        return request._request.get_preferred_type(own) or JSON
    if FORMATS[named] == PARQUET:
        check_parquet()
    return FORMATS[named]


def check_parquet() -> None:
    """Raises FormatUnavailable where the server can't write Parquet."""
    if not can_write_parquet():
        message = "This server can’t write Parquet: its “parquet” extra is not installed."
        raise FormatUnavailable("no_parquet", message)
