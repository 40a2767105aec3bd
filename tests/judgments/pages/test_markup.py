"""Markdown that people write, as HTML that is safe to show."""

import re
import time
from collections.abc import Callable

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.token import Token

from judgments.pages.markup import (
    DEEPEST,
    DOCUMENT_ATTRIBUTES,
    DOCUMENT_TAGS,
    LEFT_OUT,
    LONGEST,
    LONGEST_MARKDOWN,
    MOST_TOKENS,
    TAGS,
    clean_html,
    framed_html,
    html_text,
    markdown,
)


def test_headings_begin_below_those_of_the_page():
    assert markdown("# A\n\n## B\n\n###### F") == "<h3>A</h3>\n<h4>B</h4>\n<h6>F</h6>\n"


def test_tables_lists_quotes_and_code_are_kept():
    html = markdown("| a | b |\n|:--|---|\n| 1 | 2 |\n\n- x\n\n> q\n\n`c`")
    for tag in ("table", "thead", "th", "td", "ul", "li", "blockquote", "code"):
        assert f"<{tag}>" in html


@pytest.mark.parametrize(
    "text",
    [
        "[a](http://x.example)",
        "[a](javascript:alert(1))",
        "![i](http://x.example/i.png)",
        "<http://x.example>",
        "[a]\n\n[a]: http://x.example",
    ],
)
def test_what_would_lead_somewhere_stays_as_it_was_typed(text):
    html = markdown(text)
    assert "<a" not in html
    assert "<img" not in html
    assert "x.example" in html or "javascript" in html


def test_raw_html_is_shown_and_not_done():
    assert markdown("<b onclick=x>a</b>") == "<p>&lt;b onclick=x&gt;a&lt;/b&gt;</p>\n"


@given(st.text(alphabet="<>\"'&=/ab[]()!`*_#|-:\n \\~1.", max_size=200))
def test_whatever_is_written_no_element_has_an_attribute_and_none_is_strange(text):
    for tag in re.findall(r"<[^>]*>", markdown(text)):
        name = re.fullmatch(r"</?([a-z0-9]+)>", tag)
        assert name, tag
        assert name[1] in TAGS


def table(columns: int, rows: int) -> str:
    """A table whose rows leave all cells but one to the parser."""
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|x\n" * rows


@pytest.mark.parametrize(
    "text",
    [
        table(5_000, 5_000),
        table(300, 300),
        table(2, 16_000),
        "- a\n" * 25_000,
        "***a***b" * 12_000,
        "*a " * 33_000,
        "_a_b " * 20_000,
        "`a` " * 25_000,
        "# a\n" * 25_000,
        "---\n" * 25_000,
        "a\n\n" * 30_000,
        "a\n" * 5_000,
        "a" * (LONGEST_MARKDOWN + 1),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_text_with_too_much_formatting_is_shown_as_it_was_typed(text, monkeypatch):
    made = count_tokens(monkeypatch)
    html = markdown(text)
    assert made() <= MOST_TOKENS + 1
    assert html.endswith(f"<pre>{text}</pre>\n")


@pytest.mark.parametrize(
    "unit", ["*", "[", "`", ">", "- ", "|a", "a\n", "<", "1. ", "\\*", "&amp;"]
)
def test_no_text_makes_more_tokens_than_are_allowed(unit, monkeypatch):
    made = count_tokens(monkeypatch)
    markdown(unit * min(LONGEST_MARKDOWN // len(unit), 4_000 if "\n" in unit else LONGEST_MARKDOWN))
    assert made() <= MOST_TOKENS + 1


def count_tokens(monkeypatch) -> Callable[[], int]:
    """How many tokens have been made since."""
    made = []
    make = Token.__init__

    def counted(self, *args, **kwargs) -> None:
        made.append(1)
        make(self, *args, **kwargs)

    monkeypatch.setattr(Token, "__init__", counted)
    return lambda: len(made)


def test_what_is_shown_as_it_was_typed_is_escaped():
    assert "<b>" not in markdown("<b>*a " * 12_000)


def test_a_long_guideline_is_formatted():
    section = "## Grades\n\nSome **bold** and *soft* words, `code`.\n\n- one\n- two\n\n" + table(
        3, 5
    )
    text = "\n\n".join([section] * 80)
    assert markdown(text).count("<h4>") == 80
    assert "<pre>" not in markdown(text)


def not_shown(of: str = "", *, what: str = "Image") -> str:
    """The placeholder of an image, or of what else is not shown."""
    return f'<span class="left-out" role="img" aria-label="{what} not shown{of}"></span>'


def framed(html: object) -> str:
    """What stands in the frame after its head."""
    return framed_html(clean_html({"html": html})).partition('.css">')[2]


def test_the_html_of_a_document_is_kept_without_what_acts_or_leads_away():
    html = (
        '<h1 onclick="x()">A</h1><p style="color:red" class="y" dir="rtl">b <a href="/x">c</a></p>'
        '<img src="http://x.example/i.png"><svg><text>d</text></svg><math><mi>e</mi></math>'
        "<script>f()</script><style>p{}</style><iframe srcdoc='g'></iframe><form><input></form>"
        '<table><tr><td colspan="2">h</td></tr></table><meta http-equiv="refresh" content="0;/x">'
    )
    assert framed(html) == (
        f'<h1>A</h1><p dir="rtl">b <a>c</a></p>{not_shown()}{not_shown()}'
        f"{not_shown(what='Embedded page')}"
        '<table><tbody><tr><td colspan="2">h</td></tr></tbody></table>'
    )


def test_images_are_shown_where_allowed_and_only_those_that_the_document_holds():
    own = '<img src="data:image/png;base64,AAAA" alt="a" width="9">'
    html = (
        f'{own}<img src="https://x.example/i.png"><img src="/i.png"><img src="//x.example/i">'
        '<img src="data:image/svg+xml;base64,AAAA"><img src="data:text/html,x" onerror="f()">'
    )
    cleaned = clean_html({"html": html})
    framed = framed_html(cleaned, images=True)
    assert framed.partition('.css">')[2] == own + not_shown() * 5
    assert "default-src 'none'; style-src 'self'; img-src data:" in framed
    assert framed_html(cleaned) == ""
    assert "<img" not in framed_html(clean_html({"html": f"a{html}<p>b"}))


def test_an_image_that_is_not_shown_leaves_its_words_but_no_text() -> None:
    html = (
        '<p>a<img src="data:image/png;base64,AAAA" alt="a &quot;map&quot; &lt;b>">'
        '<img src="/i.png" alt="x onclick=f()" width="9"><img src="/pixel.gif" alt=" ">'
    )
    words = not_shown(": a &quot;map&quot; &lt;b&gt;"), not_shown(": x onclick=f()")
    assert framed(html) == f"<p>a{''.join(words)}</p>"
    assert re.sub("<[^>]*>", "", framed(html)) == "a"


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("a<iframe src=/x>old</iframe>b", f"a{not_shown(what='Embedded page')}b"),
        ("a<VIDEO controls><source src=v>No video</VIDEO>", f"a{not_shown(what='Video')}No video"),
        ("a<audio src=s></audio>", f"a{not_shown(what='Audio')}"),
        ("a<svg><circle/></svg><svg class=i aria-hidden='true'></svg>", f"a{not_shown()}"),
        ("a<object data=x><p>b</object>", f"a{not_shown(what='Embedded object')}"),
        ("a<embed src=x>", f"a{not_shown(what='Embedded object')}"),
        # not embedded, but written
        ("<p title='<video>'>a", "<p>a</p>"),
        ("a<img alt='<svg>'>", f"a{not_shown(': &lt;svg&gt;')}"),
        ("a<!-- <video> --><script>'<svg>'</script><style><svg></style>", "a"),
        ("a<textarea><svg></textarea><svg></svg>", "a&lt;svg&gt;"),
        ("a<left-out kind=evil onclick=f()>b", 'a<left-out kind="evil">b</left-out>'),
        # nothing but that: the text of the document says more
        ("<iframe src=/x></iframe> <video></video>", ""),
    ],
)
def test_what_is_embedded_leaves_a_placeholder(html: str, shown: str) -> None:
    assert framed(html) == shown


def test_there_are_so_many_placeholders_and_no_more() -> None:
    assert framed("a" + "<embed>" * 30_000).count("Embedded object not shown") == 1_000


def test_a_link_keeps_its_looks_and_loses_its_address() -> None:
    html = '<a href="https://x.example/" target="_blank" ping="/p" class="y" rel="z">there</a>'
    assert framed(html) == "<a>there</a>"


def test_the_frame_has_a_policy_of_its_own():
    assert "default-src 'none'; style-src 'self'" in framed_html("<p>a</p>")


@pytest.mark.parametrize("html", [None, "", 5, ["<p>"], "<script>a</script>"])
def test_a_document_without_html_has_no_frame(html):
    assert framed_html(clean_html({"html": html}), images=True) == ""


def test_paragraphs_without_an_end_are_not_deep():
    assert framed("<p>a" * 400).count("<p>") == 400


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * (DEEPEST + 1),
        "<div></p>" * (DEEPEST + 1),
        "<div></span></div><div>" * (DEEPEST + 1),
        "".join(f"<b id={number}>" for number in range(9)) + "<p>a" * 60_000,
        "a" * (LONGEST + 1),
        "<div>" * (LONGEST // 5),
        "<b " + " ".join(f"a{number}" for number in range(101)) + ">x",
        "</b " + "a=1 " * 101 + ">x",
        "<p a='>' b=\">\"" + "/c=<b" * 101 + ">x",
        "<p x='\"<b x=\"'" + " c = 'd'" * 101 + ">x",
        "<b" * 60_000 + " a" * 60_000,
        "<a x='<a x=\"" * 20_000,
        "<svg><svg " * 20_000,
    ],
)
def test_html_that_would_take_long_to_clean_is_not_framed(html):
    began = time.process_time()
    assert clean_html({"html": html}) == ""
    assert time.process_time() - began < 1


def test_a_tag_of_a_hundred_attributes_is_shown():
    many = " ".join(f'a{number}="<p>"' for number in range(100))
    assert framed(f"<p {many}>x<b class='y'>z</b></p>" * 3) == "<p>x<b>z</b></p>" * 3


@given(
    st.lists(
        st.sampled_from(
            ["<img alt='<img>' src='data:image/png;base64,AA'>", '<img alt="a>b" src=x>', "<p>",
             "</p>", "<table>", "<video>", "</video>", "<svg>", "</svg>",
             "<embed>", "<td>", "&lt;img&gt;", "a", " ", "<b>", "</b>", "<img", ">", '"',
             "'"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_without_images_a_frame_has_just_what_cleaning_without_images_leaves(parts):
    html = "".join(parts)
    alone = nh3.clean(
        html,
        tags=DOCUMENT_TAGS,
        clean_content_tags=LEFT_OUT,
        attributes=DOCUMENT_ATTRIBUTES,
        url_schemes={"data"},
        generic_attribute_prefixes=set(),
        link_rel=None,
    )
    left = re.sub('<span class="left-out"[^>]*></span>', "", framed(html))
    assert left == (alone if alone.strip() else "")


def test_the_text_of_html_has_no_tags_and_a_line_for_each_block():
    html = "<h1>One  &amp; <em>two</em></h1>\n<ul><li>a</li><li>b<br>c</li></ul><p></p>x &lt;b&gt;"
    assert html_text(html) == "One & two\na\nb\nc\nx <b>"
