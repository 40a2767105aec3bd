"""Files in requests: the body itself, or the field `file` of a form; gzipped or not."""

from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.exceptions import UnsupportedMediaType, ValidationError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser
from rest_framework.request import Request
from rest_framework.views import APIView

from judgments.rest.parsing import check_text, read_input
from judgments.rest.problems import LengthRequired, TooLarge

if TYPE_CHECKING:
    Upload = UploadedFile[bytes]
else:
    Upload = UploadedFile

View = TypeVar("View", bound=Callable[..., Any])

MAX_BYTES: Final = 200 * 1024 * 1024
MOST_OF_A_FORM: Final = MAX_BYTES + 64 * 1024  # a file, and the fields beside it
MOST_BYTES: Final = "most_bytes"  # what a view says of itself
LARGE: Final = 16 * 1024 * 1024  # what is larger than this is left to a worker
BLOCK: Final = 1024 * 1024
FIELD: Final = "file"
NAMELESS: Final = "upload"
# What programs say of such files. A file's first bytes tell what it is, so none of these
# decides anything; `application/x-www-form-urlencoded` is what curl says of any --data-binary.
MEDIA_TYPES: Final = (
    "text/plain",
    "text/csv",
    "text/tab-separated-values",
    "application/jsonl",
    "application/x-ndjson",
    "application/gzip",
    "application/x-gzip",
    "application/zip",
    "application/octet-stream",
    "application/x-www-form-urlencoded",
)
FILE_BODY: Final[dict[str, Any]] = {
    **dict.fromkeys(MEDIA_TYPES, OpenApiTypes.BINARY),
    "multipart/form-data": inline_serializer("FileForm", {FIELD: serializers.FileField()}),
}


def takes_file(view: View) -> View:
    """Let a page be sent a file; other addresses refuse such bodies before they are read."""
    setattr(view, MOST_BYTES, MOST_OF_A_FORM)  # the layer that counts knows no views
    return view


class FileParser(BaseParser):
    """A body that is a file."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The body on disk, as the one file of a form without fields."""
        kind = (media_type or "application/octet-stream").partition(";")[0].strip().lower()
        if kind not in MEDIA_TYPES:
            raise UnsupportedMediaType(kind)
        file = TemporaryUploadedFile(NAMELESS, kind, 0, None)
        files = MultiValueDict({FIELD: [file]})
        # Django closes these when the request ends, as it does with the files of a form
        (parser_context or {})["request"]._request._files = files
        while block := stream.read(BLOCK):
            file.write(block)
        file.size = file.tell()
        file.seek(0)
        return DataAndFiles(QueryDict(""), files)


class UploadView(APIView):
    """An address that takes a file."""

    most_bytes = MOST_OF_A_FORM
    parser_classes = (MultiPartParser, FileParser)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Look at the body's length before anyone reads it."""
        if request.META.get("HTTP_TRANSFER_ENCODING"):
            raise LengthRequired
        if _length(request) > MAX_BYTES:
            raise TooLarge(f"The file is larger than {MAX_BYTES:,} bytes. Compress it with gzip.")
        super().initial(request, *args, **kwargs)


def take_upload(
    request: Request, options: type[serializers.Serializer[Any]]
) -> tuple[Upload, dict[str, Any]]:
    """The file of a request, and its options: from the query string or, in a form, from fields.

    Raises ValidationError (400) for no file or several, for unknown options, and for one that is
    given twice.
    """
    form = request.data if isinstance(request.data, QueryDict) else QueryDict("")
    given = {name: request.query_params.getlist(name) for name in request.query_params}
    for name in form.keys() - {FIELD}:
        given[name] = given.get(name, []) + form.getlist(name)
    twice = [name for name, values in given.items() if len(values) > 1]
    if twice:
        raise ValidationError(dict.fromkeys(twice, "Given more than once."))
    files = request.FILES.getlist(FIELD)
    if len(files) != 1 or len(request.FILES) > 1:
        message = "Send one file: as the body, or as the field `file` of a form."
        raise ValidationError({FIELD: message})
    one = {name: values[0] for name, values in given.items()}
    check_text(one)
    return files[0], read_input(options, one)


def is_for_a_worker(request: Request, upload: Upload, *, large: int | None = None) -> bool:
    """Whether the file shall not be waited for: it is large, or the client said so."""
    return prefers_a_job(request) or (upload.size or 0) > (LARGE if large is None else large)


def prefers_a_job(request: Request) -> bool:
    """Whether the client would rather not wait (RFC 7240)."""
    preferences = request.headers.get("Prefer", "").lower().split(",")
    return "respond-async" in map(str.strip, preferences)


def _length(request: Request) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
