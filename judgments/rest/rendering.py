"""The form of answers. Each address has one, so what a client would rather have changes nothing."""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request


class OneForm(DefaultContentNegotiation):
    """Answers in the one form that an address has, whatever `Accept` says (RFC 9110, 12.5.1).

    A refusal with 406 would help nobody: there is nothing else to ask for.
    """

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """The first renderer."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type or ""


class TextRenderer(BaseRenderer):
    """Bytes as they are; problems, which the same address may answer with, as JSON."""

    media_type = "text/plain"
    format = "txt"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The body's bytes."""
        if isinstance(data, bytes):
            return data
        return JSONRenderer().render(data)
