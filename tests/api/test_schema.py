"""The schema: sound, complete, and for those who are signed in."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import translation
from rest_framework.views import APIView

from config.api import KeptSchema
from tests.api.callers import ROOT, by_session, by_token, is_problem

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "rest.md").read_text()
STABLE = {
    "collections/": {"get", "post"},
    "collections/{slug}/queries/": {"get", "post"},
    "collections/{slug}/documents/": {"get", "post"},
    "collections/{slug}/rankers/": {"get", "post"},
    "collections/{slug}/rankers/{ranker_slug}/runs/": {"get", "post"},
    "collections/{slug}/lists/{list_slug}/versions/": {"get"},
    "collections/{slug}/lists/{list_slug}/versions/{name}/qrels": {"get"},
    "collections/{slug}/lists/{list_slug}/versions/{before}..{after}": {"get"},
    "collections/{slug}/rankers/{ranker_slug}/runs/{run_id}": {"get"},
    "collections/{slug}/lists/{list_slug}/leaderboard": {"get"},
    "collections/{slug}/lists/{list_slug}/values": {"get"},
    "collections/{slug}/lists/{list_slug}/compare": {"get"},
    "collections/{slug}/lists/{list_slug}/measures": {"get", "post"},
    "collections/{slug}/lists/{list_slug}/leaderboard/segments": {"get"},
    "campaigns/{campaign_id}/next": {"get", "post"},
    "campaigns/{campaign_id}/labels": {"get", "post"},
}
ORIGIN = "http://localhost"  # which browsers trust as they do https
WITHOUT = {"api-schema", "api-unknown", "api-docs"}  # they are about the interface, not of it


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    with translation.override("en"):  # as those who ask for it
        return KeptSchema().get_schema()


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_schema_is_valid_and_nothing_in_it_was_guessed(tmp_path):
    target = tmp_path / "schema.yml"
    # Another test may have had it made before; its warnings are there until it is made again.
    kept = {"generator_class": "config.api.KeptSchema", "lang": "en"}
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(target), **kept)
    assert target.read_text().startswith("openapi: 3.1")


def test_the_stable_surface_is_there(schema):
    for path, methods in STABLE.items():
        assert methods <= schema["paths"][ROOT + path].keys(), path


def test_every_address_of_the_interface_is_in_the_schema(schema):
    def names(patterns: list[URLPattern | URLResolver]) -> set[str]:
        found: set[str] = set()
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                found |= names(pattern.url_patterns)
            elif issubclass(getattr(pattern.callback, "cls", object), APIView):
                found.add(str(pattern.name))
        return found

    assert len(names(get_resolver().url_patterns) - WITHOUT) == len(schema["paths"])


def test_every_operation_says_what_it_does_and_how_it_refuses(schema):
    for path, method, operation in operations(schema):
        assert operation["summary"], (path, method)
        assert {"400", "401", "404"} <= operation["responses"].keys(), (path, method)
        if method == "post":
            assert {"403", "415", "422"} <= operation["responses"].keys(), (path, method)


def test_every_operation_has_a_name_of_its_own(schema):
    names = [operation["operationId"] for _, _, operation in operations(schema)]
    assert len(set(names)) == len(names)


def test_every_parameter_of_a_query_is_on_the_page(schema):
    asked = {
        parameter["name"]
        for _, _, operation in operations(schema)
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    }
    assert {name for name in asked if name not in PAGE} == set()


def test_the_schema_is_json_unless_yaml_is_asked_for(world):
    client = by_token("ben")
    as_json = client.get(f"{ROOT}schema")
    assert as_json["Content-Type"] == "application/json"
    assert json.loads(as_json.content)["openapi"] == "3.1.0"
    assert client.get(f"{ROOT}schema").content == as_json.content  # which was kept
    as_yaml = client.get(f"{ROOT}schema", headers={"Accept": "application/vnd.oai.openapi"})
    assert yaml.load(as_yaml.content, Loader=yaml.CSafeLoader)["openapi"] == "3.1.0"


def test_the_schema_and_the_docs_are_for_those_who_are_signed_in(world):
    is_problem(Client().get(f"{ROOT}schema"), 401, "not_authenticated")
    assert Client().get(f"{ROOT}docs")["Location"].startswith("/login")
    assert by_session("ben").get(f"{ROOT}docs").status_code == 200


@pytest.mark.browser
def test_the_docs_are_drawn_within_the_content_policy(world, chromium):
    from playwright.sync_api import Route, sync_playwright

    from tests.browser.windows import SWITCHES

    client = by_session("ada")
    html = client.get(f"{ROOT}docs").content.decode()
    paths = [f"{ROOT}docs", f"{ROOT}schema", *re.findall(r'(?:src|href)="(/static/[^"]+)"', html)]
    answers = {path: whole(client.get(path)) for path in paths}
    complaints: list[str] = []

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        status, headers, body = answers.get(path, (404, {}, b""))
        route.fulfill(status=status, headers=headers, body=body)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        page = browser.new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route("**/*", answer)
        page.goto(f"{ORIGIN}{ROOT}docs")
        page.wait_for_selector("#operations-start-get_root")
        page.keyboard.press("End")  # there are many: those out of sight are drawn when they come
        page.wait_for_selector("#operations-webhooks-list_webhooks")
        browser.close()
    assert complaints == []


def whole(response: Any) -> tuple[int, dict[str, str], bytes]:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return response.status_code, dict(response.headers), body
