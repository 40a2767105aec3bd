"""Text with marks, made safe: Markdown to a small set of HTML, and the HTML of documents."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import nh3
from django.templatetags.static import static
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


# the HTML of documents: strangers wrote it

HTML_FIELD: Final = "html"
DOCUMENT_TAGS: Final = TAGS | {
    *("h1", "h2", "dl", "dt", "dd", "div", "span", "section", "article", "header", "footer"),
    *("main", "aside", "address", "figure", "figcaption", "details", "summary", "caption"),
    *("tfoot", "b", "i", "u", "s", "sub", "sup", "small", "mark", "q", "cite", "abbr", "kbd"),
    *("samp", "var", "time", "ins", "del", "bdi", "bdo", "ruby", "rt", "rp", "wbr"),
}
DOCUMENT_ATTRIBUTES: Final = {
    "*": {"dir", "lang"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "ol": {"start"},
}
LEFT_OUT: Final = {
    *("script", "style", "svg", "math", "iframe", "object", "noscript", "template", "title"),
}
DEEPEST: Final = 200
# elements that a parser opens again in every paragraph until they are closed
REOPENED: Final = {
    *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong"),
    *("tt", "u"),
}
MOST_REOPENED: Final = 8
# elements without an end, or that the next of their kind ends: they don't nest by themselves
_FLAT: Final = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
    *("track", "wbr", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"),
    *("colgroup", "option", "optgroup", "rt", "rp"),
}
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# Only what the document holds itself: any other address would tell a stranger who reads what.
_IMAGE: Final = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+")
IMAGE_ATTRIBUTES: Final = {"img": {"src", "alt", "width", "height"}}
_FRAME: Final = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'self'{images}\">"
    '<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="{style}">{body}'
)


def framed_html(fields: Mapping[str, Any], *, images: bool = False) -> str:
    """A document's field `html` as a page of its own, for the `srcdoc` of a sandboxed frame.

    images: keep those that the document holds itself, as data; nothing is ever fetched.
    Empty where there is none, or where it is beyond 256 KB or 200 levels: cleaning takes time by
    the square of the depth. What is left has no links, forms, styles or scripts, and the page's
    own policy forbids them all again.
    """
    html = fields.get(HTML_FIELD)
    return _framed(html, images) if isinstance(html, str) else ""


@lru_cache(maxsize=64)
def _framed(html: str, images: bool) -> str:
    if len(html.encode()) > LONGEST or _is_tangled(html):
        return ""
    body = nh3.clean(
        html,
        tags=DOCUMENT_TAGS | ({"img"} if images else set()),
        clean_content_tags=LEFT_OUT,
        attributes=DOCUMENT_ATTRIBUTES | (IMAGE_ATTRIBUTES if images else {}),
        attribute_filter=_only_own_images,
        url_schemes={"data"},
        generic_attribute_prefixes=set(),
    )
    if not body.strip():
        return ""
    policy = "; img-src data:" if images else ""
    return _FRAME.format(images=policy, style=static("touchstone/frame.css"), body=body)


def _only_own_images(tag: str, attribute: str, value: str) -> str | None:
    if (tag, attribute) == ("img", "src") and not _IMAGE.fullmatch(value):
        return None
    return value


def _is_tangled(html: str) -> bool:
    """Whether the tree may be deeper than allowed, or much larger than the text.

    Counted for each name on its own, so that closing something else does not hide a level.
    """
    open_now: Counter[str] = Counter()
    depth = reopened = 0
    for is_end, found in _TAG.findall(html):
        name = found.lower()
        if name in _FLAT or (is_end and not open_now[name]):
            continue
        step = -1 if is_end else 1
        open_now[name] += step
        depth += step
        reopened += step if name in REOPENED else 0
        if depth > DEEPEST or reopened > MOST_REOPENED:
            return True
    return False
