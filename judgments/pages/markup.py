"""Text with marks, made safe: Markdown to a small set of HTML, and the HTML of documents."""

import re
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, Final

import nh3
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, gettext_noop
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType

TAGS: Final = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("strong", "em", "table", "thead", "tbody", "tr", "th", "td"),
}
LONGEST: Final = 256 * 1024
LARGEST_HEADING: Final = 3  # a page's own title and its section's stand above
# What a parser spends goes by what it makes, not by the length of a text: a few characters can
# be a table of a hundred thousand cells. Long guidelines have some hundreds of either.
MOST_TOKENS: Final = 10_000
MOST_MARKS: Final = 10_000
MOST_LINES: Final = 5_000
LONGEST_MARKDOWN: Final = 100_000  # characters, which is what a guideline has at most
_INLINE: Final = frozenset(
    {"a", "abbr", "b", "code", "em", "i", "s", "small", "span", "strong", "sub", "sup", "u"}
)
_MARKS: Final = re.compile(r"[*_`]")
_AS_TYPED: Final = (
    "<p><em>This text has too much formatting to be rendered: it is shown as it was typed.</em>"
    "</p>\n<pre>{}</pre>\n"
)


class TooManyTokensError(Exception):
    """Parsing made more tokens than a text may have."""


class _Tokens(list[Token]):
    """A list of tokens that takes only as many as are `left`, which nested lists share."""

    def __init__(self, env: EnvType) -> None:
        super().__init__()
        self._env = env

    def append(self, token: Token) -> None:
        self._env["left"] -= 1
        if self._env["left"] < 0:
            raise TooManyTokensError
        super().append(token)


def _parse_inline(state: StateCore) -> None:
    """markdown-it's rule `inline`, with lists that count."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = _Tokens(state.env)
            state.md.inline.parse(token.content, state.md, state.env, token.children)


_parser: Final = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    .enable("table")
    # what would fetch something or lead somewhere stays as it was typed
    .disable(["link", "image", "autolink", "reference"])
)
_parser.core.ruler.at("inline", _parse_inline)


def markdown(text: str) -> SafeString:
    """The text as HTML without links, images, styles or scripts; headings begin at the third level.

    A text of more than 100,000 characters or 5,000 lines, or with more than 10,000 tokens or
    characters that begin or end emphasis and code, is shown as it was typed.
    """
    try:
        tokens = parse_markdown(text)
    except TooManyTokensError:
        return format_html(_AS_TYPED, text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + LARGEST_HEADING - 1, 6)}"
    rendered = _parser.renderer.render(tokens, _parser.options, {})
    return mark_safe(nh3.clean(rendered, tags=TAGS, attributes={}))  # noqa: S308  (just cleaned)


def parse_markdown(text: str) -> list[Token]:
    """The tokens of a text. Raises TooManyTokensError where that would take long."""
    # each mark is tried as the beginning and the end of every emphasis around it, each line as the
    # beginning of every kind of block
    if (
        len(text) > LONGEST_MARKDOWN
        or text.count("\n") >= MOST_LINES
        or len(_MARKS.findall(text)) > MOST_MARKS
    ):
        raise TooManyTokensError
    env: EnvType = {"left": MOST_TOKENS}
    state = StateCore(text, _parser, env)
    state.tokens = _Tokens(env)
    _parser.core.process(state)
    return state.tokens


# the HTML of documents: strangers wrote it

HTML_FIELD: Final = "html"
DOCUMENT_TAGS: Final = TAGS | {
    *("h1", "h2", "dl", "dt", "dd", "div", "span", "section", "article", "header", "footer"),
    *("main", "aside", "address", "figure", "figcaption", "details", "summary", "caption"),
    *("tfoot", "b", "i", "u", "s", "sub", "sup", "small", "mark", "q", "cite", "abbr", "kbd"),
    *("samp", "var", "time", "ins", "del", "bdi", "bdo", "ruby", "rt", "rp", "wbr"),
    "a",  # without its address: it looks like a link, and leads nowhere
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
# of a tag: each is compared with all before it
MOST_ATTRIBUTES: Final = 100
# elements without an end, or that the next of their kind ends: they don't nest by themselves
_FLAT: Final = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
    *("track", "wbr", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot"),
    *("colgroup", "option", "optgroup", "rt", "rp"),
}
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# as the HTML standard cuts attributes; never fewer than it finds, wherever a quote ends
_TOO_MANY_ATTRIBUTES: Final = re.compile(
    r"(?:[ \t\n\f\r/]*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    r"(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^ \t\n\f\r>]*+)?)?)"
    rf"{{{MOST_ATTRIBUTES + 1}}}+"
)
# in what the cleaner wrote: values are in double quotes, and have none in them
_IMAGE_TAG: Final = re.compile(r'<img(?: [a-z]+="[^"]*+")*+>')
_ALTERNATIVE: Final = re.compile(r' alt="([^"]*+)"')
# without text of its own, so that marks, which count characters, stay where they are
_NOT_SHOWN: Final = '<span class="left-out" role="img" aria-label="{}"></span>'
# What is taken out leaves this element, put before it in what has not been cleaned yet.
PLACEHOLDER: Final = "left-out"
EMBEDDED: Final = {
    "iframe": gettext_noop("Embedded page"),
    "svg": gettext_noop("Image"),
    "video": gettext_noop("Video"),
    "audio": gettext_noop("Audio"),
    "object": gettext_noop("Embedded object"),
    "embed": gettext_noop("Embedded object"),
}
MOST_PLACEHOLDERS: Final = 1_000
# a tag up to its end; text in quotes is no tag
_WHOLE_TAG: Final = re.compile(r"<([a-zA-Z][^\s/>]*+)((?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+)")
# what these hold is shown as it was typed
_AS_IT_STANDS: Final = re.compile(
    r"<(?:textarea|xmp|plaintext|listing|noembed|noframes)\b", re.IGNORECASE
)
_DECORATIVE: Final = re.compile(r"\saria-hidden\s*=\s*[\"']?true", re.IGNORECASE)
_PLACEHOLDER_TAG: Final = re.compile(rf'<{PLACEHOLDER} kind="([a-z]+)"></{PLACEHOLDER}>')
# Only what the document holds itself: any other address would tell a stranger who reads what.
_IMAGE: Final = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=\s]+")
IMAGE_ATTRIBUTES: Final = {"img": {"src", "alt", "width", "height"}}
_FRAME: Final = (
    '<!doctype html><html lang=""><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'self'{images}\">"
    '<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="{style}">{body}'
)


def clean_html(fields: Mapping[str, Any]) -> str:
    """A document's field `html` as it may be shown, with the images that it holds itself.

    Computed where a document is stored, and stored with it: cleaning is too slow to be done each
    time the document is shown. After a change of these rules, a migration has to clean
    what is stored again. Empty where there is no HTML, or where it is beyond 256 KB, 200 levels or
    100 attributes in a tag: cleaning takes time by the square of the latter two. Pages, drawings
    and recordings that it embeds leave a placeholder, but are no HTML by themselves.
    """
    html = fields.get(HTML_FIELD)
    if not isinstance(html, str) or len(html.encode()) > LONGEST or _is_tangled(html):
        return ""
    cleaned = nh3.clean(
        _with_placeholders(html),
        tags=DOCUMENT_TAGS | {"img", PLACEHOLDER},
        clean_content_tags=LEFT_OUT,
        attributes=DOCUMENT_ATTRIBUTES | IMAGE_ATTRIBUTES | {PLACEHOLDER: {"kind"}},
        attribute_filter=_only_own_images,
        url_schemes={"data"},
        generic_attribute_prefixes=set(),
        link_rel=None,
    )
    return cleaned if _PLACEHOLDER_TAG.sub("", cleaned).strip() else ""


class _Texts(HTMLParser):
    """Collects texts; a line for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that is not within a line ends the one before."""
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Blanks as a browser shows them."""
        self.parts.append(re.sub(r"\s+", " ", data))


def html_text(cleaned: str) -> str:
    """The text of what `clean_html` gave, without tags."""
    texts = _Texts()
    texts.feed(cleaned)
    texts.close()
    lines = (line.strip() for line in "".join(texts.parts).split("\n"))
    return "\n".join(filter(None, lines))


def framed_html(cleaned: str, *, images: bool = False) -> str:
    """What `clean_html` gave as a page of its own, for the `srcdoc` of a sandboxed frame.

    images: keep those that the document holds itself, as data; nothing is ever fetched. For others
    there is a placeholder with the image's text, and nothing where that is given and empty. So
    there is for what was embedded.
    The page has no links that lead anywhere, no forms, styles or scripts, and its own policy
    forbids them all again.
    """

    def show(tag: re.Match[str]) -> str:
        if images and ' src="' in tag[0]:
            return tag[0]
        text = _ALTERNATIVE.search(tag[0])
        if text is None:
            return _NOT_SHOWN.format(_not_shown("Image"))
        return _NOT_SHOWN.format(f"{_not_shown('Image')}: {text[1]}") if text[1].strip() else ""

    def show_embedded(tag: re.Match[str]) -> str:
        return _NOT_SHOWN.format(_not_shown(EMBEDDED.get(tag[1], "Embedded object")))

    body = _PLACEHOLDER_TAG.sub(show_embedded, _IMAGE_TAG.sub(show, cleaned))
    if "<img" not in body and not _IMAGE_TAG.sub("", cleaned).strip():
        return ""
    policy = "; img-src data:" if images else ""
    return _FRAME.format(images=policy, style=static("touchstone/frame.css"), body=body)


def _not_shown(what: str) -> str:
    return gettext("{what} not shown").format(what=gettext(what))


def _with_placeholders(html: str) -> str:
    """The HTML with a placeholder before what it embeds; icons that say nothing have none."""
    if _AS_IT_STANDS.search(html):
        return html
    left = MOST_PLACEHOLDERS

    def mark(tag: re.Match[str]) -> str:
        nonlocal left
        kind = tag[1].lower()
        is_icon = kind == "svg" and _DECORATIVE.search(tag[2])
        if kind not in EMBEDDED or is_icon or not left:
            return tag[0]
        left -= 1
        return f"<{PLACEHOLDER} kind={kind}></{PLACEHOLDER}>{tag[0]}"

    return _WHOLE_TAG.sub(mark, html)


def _only_own_images(tag: str, attribute: str, value: str) -> str | None:
    if (tag, attribute) == ("img", "src") and not _IMAGE.fullmatch(value):
        return None
    return value


def _is_tangled(html: str) -> bool:
    """Whether the tree may be deeper than allowed, or much larger than the text, or a tag too long.

    Counted for each name on its own, so that closing something else does not hide a level.
    """
    open_now: Counter[str] = Counter()
    depth = reopened = 0
    for tag in _TAG.finditer(html):
        if _TOO_MANY_ATTRIBUTES.match(html, tag.end()):
            return True
        is_end, name = tag[1], tag[2].lower()
        if name in _FLAT or (is_end and not open_now[name]):
            continue
        step = -1 if is_end else 1
        open_now[name] += step
        depth += step
        reopened += step if name in REOPENED else 0
        if depth > DEEPEST or reopened > MOST_REOPENED:
            return True
    return False
