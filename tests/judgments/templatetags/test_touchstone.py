from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory

from judgments.templatetags import touchstone as tags


def render(
    source: str, path: str = "/", cookies: dict[str, str] | None = None, **context: object
) -> str:
    request = RequestFactory().get(path)
    request.COOKIES.update(cookies or {})
    template = Template("{% load touchstone %}" + source)
    return template.render(Context({"request": request, **context}))


def test_counts_are_grouped_and_shares_are_per_cent() -> None:
    assert tags.thousands(1234567) == "1,234,567"
    assert tags.thousands(None) == "–"
    assert render("{{ share|percent }}", share=0.931) == "93\N{NO-BREAK SPACE}%"


def test_an_identifier_breaks_behind_its_separators_and_is_escaped() -> None:
    assert tags.breakable("judgments_query/a<b") == "judgments_<wbr>query/<wbr>a&lt;b"


def test_a_time_says_exactly_when_without_scripts() -> None:
    html = tags.ago(datetime(2026, 3, 9, 14, 5, tzinfo=UTC))
    assert 'datetime="2026-03-09T14:05:00+00:00"' in html
    assert ">9 Mar 2026, 14:05 UTC</time>" in html
    assert tags.ago(None) == "–"


@pytest.mark.parametrize("count", [2, 3, 5, 6, 11])
def test_the_ramp_rises_from_grey_to_dark_on_every_scale(count: int) -> None:
    steps = [tags.ramp_step(position, count) for position in range(count)]
    assert steps[0] == 0
    assert steps[-1] == 4
    assert steps == sorted(steps)


def test_a_grade_is_written_in_its_colour_with_its_name() -> None:
    html = tags.grade(3, "Relevant")
    assert 'class="grade g3"' in html
    assert 'title="Relevant"' in html
    assert ">3<" in html


def test_a_grade_of_another_scale_is_coloured_by_its_place() -> None:
    assert 'class="grade g0"' in tags.grade("−2", position=0, count=7)
    assert 'class="grade g4"' in tags.grade("0.9", position=2, count=3)


def test_an_unjudged_pair_has_a_mark_of_its_own() -> None:
    assert "unjudged" in tags.grade(None)


def test_what_people_wrote_is_escaped_in_every_mark() -> None:
    evil = "<script>"
    for html in (
        tags.badge(evil),
        tags.state(evil),
        tags.state("open", evil),
        tags.grade(1, evil),
        tags.grade(evil, position=0),
        tags.bar(0.5, label=evil),
        tags.grade_bar([1, 2], names=[evil, evil]),
    ):
        assert evil not in html
        assert "&lt;script&gt;" in html


def test_a_state_has_its_tone_and_an_unknown_one_stays_grey() -> None:
    assert tags.state("failed") == '<span class="badge is-bad">failed</span>'
    assert tags.state("computing") == '<span class="badge computing">computing</span>'
    assert tags.state("resting") == '<span class="badge">resting</span>'


def widths(svg: str, css: str) -> list[float]:
    return [
        float(rect.attrib["width"])
        for rect in ElementTree.fromstring(svg).iter("rect")  # noqa: S314 - our own drawing
        if rect.attrib["class"] == css
    ]


@pytest.mark.parametrize(
    ("value", "width"),
    [(0, 0), (0.25, 24), (1, 96), (7, 96), (-1, 0), (None, 0)],
)
def test_a_bar_is_as_long_as_its_value_and_never_leaves_its_track(
    value: float | None, width: float
) -> None:
    assert widths(tags.bar(value), "fill") == [width]


def test_a_grade_bar_shares_its_width_and_says_its_counts() -> None:
    svg = tags.grade_bar([50, 0, 25], width=100, unjudged=25, names=["bad", "fair", "good"])
    assert widths(svg, "g0") == [49]
    assert widths(svg, "g2") == []
    assert widths(svg, "g4") == [24]
    assert widths(svg, "unjudged") == [24]
    assert 'aria-label="Grades. bad: 50, fair: 0, good: 25; unjudged: 25"' in svg


def test_a_grade_bar_of_nothing_is_an_empty_drawing() -> None:
    assert "<rect" not in tags.grade_bar([0, 0, 0])


def test_an_interval_lies_on_the_common_axis() -> None:
    svg = tags.interval_bar(0.5, 0.4, 0.6, start=0, end=1, width=100)
    assert 'x1="40.0" x2="60.0"' in svg
    assert 'cx="50.0"' in svg


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_theme_is_written_into_the_page(theme: str) -> None:
    assert render("{% theme_attribute %}", cookies={"theme": theme}) == f' data-theme="{theme}"'


@pytest.mark.parametrize("cookies", [{}, {"theme": '"><script>'}, {"theme": "auto"}])
def test_any_other_theme_follows_the_system(cookies: dict[str, str]) -> None:
    assert render("{% theme_attribute %}", cookies=cookies) == ""


def test_the_theme_needs_no_request() -> None:
    assert Template("{% load touchstone %}{% theme_attribute %}").render(Context()) == ""


def sort_header(sort: str, numeric: str, path: str = "/") -> str:
    source = "{% sort_header 'nDCG' key='ndcg' sort=sort numeric=" + numeric + " %}"
    return render(source, path, sort=sort)


@pytest.mark.parametrize(
    ("sort", "numeric", "target"),
    [
        ("name", "True", "-ndcg"),
        ("-ndcg", "True", "ndcg"),
        ("ndcg", "True", "-ndcg"),
        ("name", "False", "ndcg"),
        ("ndcg", "False", "-ndcg"),
        ("-ndcg", "False", "ndcg"),
    ],
)
def test_a_header_sorts_numbers_highest_first_and_turns_round(
    sort: str, numeric: str, target: str
) -> None:
    assert f'href="?sort={target}"' in sort_header(sort, numeric)


def test_a_header_says_the_present_order() -> None:
    assert 'aria-sort="descending"' in sort_header("-ndcg", "True")
    assert 'aria-sort="ascending"' in sort_header("ndcg", "True")
    assert "aria-sort" not in sort_header("name", "True")


def test_sorting_keeps_the_filters_and_begins_at_the_first_page() -> None:
    html = sort_header("name", "True", "/?segment=io&page=7")
    assert 'href="?segment=io&amp;sort=-ndcg"' in html


def test_the_pager_keeps_the_filters() -> None:
    pages = Paginator(range(3000), 20).page(2)
    html = render("{% pager pages %}", "/?sort=-ndcg&page=2", pages=pages)
    assert "21–40 of 3,000" in html
    assert 'rel="prev" href="?sort=-ndcg&amp;page=1"' in html
    assert 'rel="next" href="?sort=-ndcg&amp;page=3"' in html


def test_the_pager_of_one_page_has_no_links_and_of_none_is_nothing() -> None:
    one = render("{% pager pages %}", pages=Paginator(range(3), 20).page(1))
    assert "1–3 of 3" in one
    assert "href" not in one
    assert not render("{% pager pages %}", pages=Paginator([], 20).page(1)).strip()
