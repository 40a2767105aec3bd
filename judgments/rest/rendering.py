"""The form of answers. Each address has one, so what a client would rather have changes nothing."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneForm(DefaultContentNegotiation):
    """Answers in the one format that an address has, regardless of `Accept` (RFC 9110, 12.5.1).

    A refusal with 406 would help no one: there is nothing else to ask for.
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
