"""Reports of browsers about the content security policy: a line in the log, and no more."""

import json
import logging

import pytest
from django.test import Client

from config import policy_reports
from judgments.rate_limits import RequestCounts

REPORT = {
    "csp-report": {
        "document-uri": "https://labels.example/c/books?secret=1",
        "blocked-uri": "https://evil.example/a.js?x=1",
        "effective-directive": "script-src-elem",
        "original-policy": "default-src 'none'",
    }
}


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_reports, "_counts", RequestCounts())


def send(body: object) -> int:
    text = body if isinstance(body, str) else json.dumps(body)
    client = Client(enforce_csrf_checks=True)
    return client.post("/csp-reports", text, content_type="application/csp-report").status_code


@pytest.mark.django_db
def test_a_report_is_one_line_without_queries(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="touchstone.policy"):
        assert send(REPORT) == 204
    (record,) = caplog.records
    assert record.getMessage() == (
        "a page was denied what its policy forbids: script-src-elem of https://evil.example "
        "on /c/books"
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body",
    ["{", "[]", '{"csp-report": []}', '{"csp-report": {}}', "[" * 9_000, "x" * 20_000],
)
def test_what_is_no_report_is_ignored(body: str, caplog: pytest.LogCaptureFixture) -> None:
    assert send(body) == 204
    assert caplog.records == []


@pytest.mark.django_db
def test_no_one_fills_the_log_or_forges_a_line(caplog: pytest.LogCaptureFixture) -> None:
    forged = {"csp-report": {**REPORT["csp-report"], "effective-directive": "a\nERROR forged"}}
    for _ in range(3 * policy_reports.MOST_LINES):
        assert send(forged) == 204
    assert len(caplog.records) <= 2 * policy_reports.MOST_LINES  # a minute may end meanwhile
    assert all("\n" not in record.getMessage() for record in caplog.records)


@pytest.mark.django_db
def test_pages_say_where_reports_go_and_what_no_script_may_ask_for() -> None:
    answer = Client().get("/login")
    assert "report-uri /csp-reports" in answer["Content-Security-Policy"]
    assert "camera=()" in answer["Permissions-Policy"]
    assert "publickey-credentials-get=(self)" in answer["Permissions-Policy"]
