"""Files that a browser saves, whole or while they are read from the database."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

PORTION: Final = 1 << 16  # characters; a line at a time would cost a system call each


def as_download(content: str | bytes, *, media_type: str, file_name: str) -> HttpResponse:
    """The content under this name; text in UTF-8."""
    charset = "; charset=utf-8" if isinstance(content, str) else ""
    response = HttpResponse(content, content_type=media_type + charset)
    response["Content-Disposition"] = content_disposition_header(True, file_name)
    return response


def stream_text(
    lines: Iterable[str], *, media_type: str, file_name: str = ""
) -> StreamingHttpResponse:
    """The lines in UTF-8. file_name: under which a browser saves them; "" for none."""
    response = StreamingHttpResponse(_portions(lines), content_type=f"{media_type}; charset=utf-8")
    if file_name:
        response["Content-Disposition"] = content_disposition_header(True, file_name)
    return response


def _portions(lines: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= PORTION:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)
