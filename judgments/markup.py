"""Text with marks, made safe: Markdown to a small set of HTML."""

from typing import Final

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS: Final = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("strong", "em", "table", "thead", "tbody", "tr", "th", "td"),
}
LONGEST: Final = 256 * 1024
LARGEST_HEADING: Final = 3  # a page's own title and its section's stand above
_parser: Final = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    .enable("table")
    # what would fetch something or lead somewhere stays as it was typed
    .disable(["link", "image", "autolink", "reference"])
)


def markdown(text: str) -> SafeString:
    """The text as HTML without links, images, styles or scripts; headings begin at the third level.

    Beyond 256 KB the text is cut: rendering is not linear in its depth.
    """
    tokens = _parser.parse(text[:LONGEST])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + LARGEST_HEADING - 1, 6)}"
    rendered = _parser.renderer.render(tokens, _parser.options, {})
    return mark_safe(nh3.clean(rendered, tags=TAGS, attributes={}))  # noqa: S308  (just cleaned)
