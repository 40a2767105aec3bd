"""The frame around every page, and Django's forms in it."""

from html.parser import HTMLParser

import pytest
from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import path

from judgments.models import Collection, Role, User
from judgments.pages.navigation import navigation
from judgments.permissions import Access


def nothing(request: HttpRequest, slug: str) -> HttpResponse:
    raise NotImplementedError


# two of a collection's pages: the frame draws the tabs of those that exist
urlpatterns = [
    path("c/<slug:slug>/", nothing, name="collection"),
    path("c/<slug:slug>/members/", nothing, name="members"),
]


class RunForm(forms.Form):
    name = forms.CharField(help_text="Short, as people say it.")
    note = forms.CharField(required=False, widget=forms.Textarea)
    create = forms.BooleanField(required=False, label="Create stubs")
    rule = forms.ChoiceField(choices=[("mean", "Mean")], widget=forms.RadioSelect)

    def clean(self) -> dict[str, object]:
        raise forms.ValidationError("A run with this name exists.")


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, name: str) -> dict[str, str | None]:
        return next(attrs for _, attrs in self.found if attrs.get("name") == name)

    def ids(self) -> list[str]:
        return [str(attrs["id"]) for _, attrs in self.found if attrs.get("id")]


def test_a_refused_form_keeps_what_was_typed_and_names_what_is_wrong() -> None:
    html = str(RunForm({"name": "", "note": "two <b> words"}))
    assert "two &lt;b&gt; words" in html
    assert "A run with this name exists." in html
    assert "This field is required." in html


def test_help_and_errors_are_tied_to_their_field() -> None:
    elements = Elements(str(RunForm({"name": ""})))
    field = elements.named("name")
    assert field["aria-invalid"] == "true"
    assert str(field["aria-describedby"]).split() == ["id_name_helptext", "id_name_error"]
    assert set(str(field["aria-describedby"]).split()) <= set(elements.ids())


def test_every_field_has_a_label_and_only_what_may_be_left_out_says_so() -> None:
    html = str(RunForm())
    labelled = {attrs.get("for") for tag, attrs in Elements(html).found if tag == "label"}
    assert {"id_name", "id_note", "id_create", "id_rule_0"} <= labelled
    assert html.count(">optional<") == 1


def test_no_id_is_given_twice() -> None:
    ids = Elements(str(RunForm({"name": ""}))).ids()
    assert len(ids) == len(set(ids))


def test_the_frame_greets_a_person_by_name_and_a_visitor_with_the_theme() -> None:
    request = RequestFactory().get("/")
    person = render_to_string("base.html", {"user": User(username="ada", name="Ada")}, request)
    assert ">Ada</span>" in person
    assert ">Theme</span>" in render_to_string("base.html", request=request)


@pytest.mark.urls(__name__)
def test_the_tabs_of_a_collection_follow_the_role_and_mark_where_one_is() -> None:
    request = RequestFactory().get("/")
    demo = Collection(slug="demo", name="Demo <1>")
    lead = navigation(Access(User(), demo, Role.LEAD), section="members")
    html = render_to_string("base.html", {"navigation": lead}, request)
    assert '<a href="/c/demo/">Overview</a>' in html
    assert '<a href="/c/demo/members/" aria-current="page">Members</a>' in html
    assert "Demo &lt;1&gt;" in html
    annotator = navigation(Access(User(), demo, Role.ANNOTATOR))
    assert "Members" not in render_to_string("base.html", {"navigation": annotator}, request)


@pytest.mark.parametrize("name", ["400.html", "413.html", "500.html"])
def test_error_pages_of_a_broken_request_need_no_context(name: str) -> None:
    assert "<h1>" in render_to_string(name)


@pytest.mark.parametrize("name", ["403.html", "403_csrf.html", "404.html"])
def test_pages_without_data_render(name: str) -> None:
    html = render_to_string(name, request=RequestFactory().get("/"))
    assert "<h1>" in html
    assert 'href="/"' in html
