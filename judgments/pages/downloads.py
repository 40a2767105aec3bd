"""Files that a browser saves or keeps, whole or while they are read from the database."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

PORTION: Final = 1 << 16  # bytes; a line at a time would cost a system call each


def as_download(content: str | bytes, *, media_type: str, file_name: str) -> HttpResponse:
    """The content under this name; text in UTF-8."""
    charset = "; charset=utf-8" if isinstance(content, str) else ""
    response = HttpResponse(content, content_type=media_type + charset)
    response["Content-Disposition"] = content_disposition_header(True, file_name)
    return response


def as_kept(content: bytes, *, media_type: str) -> HttpResponse:
    """The content for one person's browser, which keeps it: another one has another address."""
    response = HttpResponse(content, content_type=media_type)
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def stream_text(
    lines: Iterable[str], *, media_type: str, file_name: str = ""
) -> StreamingHttpResponse:
    """The lines in UTF-8. file_name: under which a browser saves them; "" for none."""
    content_type = f"{media_type}; charset=utf-8"
    return stream_bytes((line.encode() for line in lines), content_type, file_name=file_name)


def stream_bytes(
    parts: Iterable[bytes], content_type: str, *, file_name: str = ""
) -> StreamingHttpResponse:
    """The parts as one file, sent while they are made."""
    response = StreamingHttpResponse(_portions(parts), content_type=content_type)
    if file_name:
        response["Content-Disposition"] = content_disposition_header(True, file_name)
    return response


def _portions(parts: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= PORTION:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)
