"""Markdown that people write, as HTML that is safe to show."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgments.markup import DEEPEST, LONGEST, TAGS, framed_html, markdown


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


@pytest.mark.parametrize(
    "unit", ["*", "[", "`", ">", "- ", "**a ", "|a", "a\n", "_a__", "<", "1. "]
)
def test_hostile_texts_are_rendered_in_seconds_of_work(unit):
    before = time.process_time()
    markdown(unit * (100_000 // len(unit)))
    assert time.process_time() - before < 20  # a tenth of it is usual, minutes are the danger


def framed(html: object) -> str:
    """What stands in the frame after its head."""
    return framed_html({"html": html}).partition('.css">')[2]


def test_the_html_of_a_document_is_kept_without_what_acts_or_leads_away():
    html = (
        '<h1 onclick="x()">A</h1><p style="color:red" class="y" dir="rtl">b <a href="/x">c</a></p>'
        '<img src="http://x.example/i.png"><svg><text>d</text></svg><math><mi>e</mi></math>'
        "<script>f()</script><style>p{}</style><iframe srcdoc='g'></iframe><form><input></form>"
        '<table><tr><td colspan="2">h</td></tr></table><meta http-equiv="refresh" content="0;/x">'
    )
    assert framed(html) == (
        '<h1>A</h1><p dir="rtl">b c</p>'
        '<table><tbody><tr><td colspan="2">h</td></tr></tbody></table>'
    )


def test_images_are_shown_where_allowed_and_only_those_that_the_document_holds():
    own = '<img src="data:image/png;base64,AAAA" alt="a" width="9">'
    html = (
        f'{own}<img src="https://x.example/i.png"><img src="/i.png"><img src="//x.example/i">'
        '<img src="data:image/svg+xml;base64,AAAA"><img src="data:text/html,x" onerror="f()">'
    )
    framed = framed_html({"html": html}, images=True)
    assert framed.partition('.css">')[2] == own + "<img>" * 5
    assert "default-src 'none'; style-src 'self'; img-src data:" in framed
    assert "<img" not in framed_html({"html": html})


def test_the_frame_has_a_policy_of_its_own():
    assert "default-src 'none'; style-src 'self'" in framed_html({"html": "<p>a"})


@pytest.mark.parametrize("html", [None, "", 5, ["<p>"], "<script>a</script>"])
def test_a_document_without_html_has_no_frame(html):
    assert framed_html({"html": html}) == ""


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
    ],
)
def test_html_that_would_take_long_to_clean_is_not_framed(html):
    began = time.process_time()
    assert framed_html({"html": html}) == ""
    assert time.process_time() - began < 1
