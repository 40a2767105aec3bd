"""Every address that changes something writes to the audit log, or is listed here with a reason."""

import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from judgments.audit.services import record
from judgments.jobs.kinds import get_handler, list_kinds
from judgments.models import AuditEntry
from judgments.named import Named
from tests.architecture.asking import ROWS, ask, client_of, undone
from tests.builders import World
from tests.permissions.table import ROLES, Row

OURS = ("annotation", "evaluation", "judgments", "config")
JOB = "leaves a job, which says who and when; what the job does is logged when it is done"
VERSION = "makes a version, which says for good who made it, when and why"
READS = "changes nothing"
SEAT = "moves one's own seat, which says itself whose it is and since when"
SKIP = "one's own skip keeps when it was returned and by whom"
REPLAY = "sends again what was sent; the log of deliveries has it"
READ = "that one has read something oneself"
MESSAGE = "a message is a row of its own that never changes"
REVIEW = "a review is a row of its own that never changes, with who made it"
OWN_MESSAGES = "one's own choice of messages, and where they go"
UNLOGGED = {
    "api-campaign-news": READ,
    "api-campaign-next": SEAT,
    "api-campaign-question-messages": MESSAGE,
    "api-campaign-questions": MESSAGE,
    "api-campaign-release": SEAT,
    "api-campaign-review": REVIEW,
    "api-campaign-skip-return": SKIP,
    "api-gates": READS,
    "api-list-measures": READS,
    "api-list-qrels": VERSION,
    "api-pictures-files": JOB,
    "api-click-logs": JOB,
    "clicks-upload": JOB,
    "interleaving-upload": JOB,
    "api-interleavings": JOB,
    "click-people": JOB,
    "machine-judge-grade": JOB,
    "api-click-people": JOB,
    "api-training": READS,
    "api-webhook-replay": REPLAY,
    "campaign-pool-preview": READS,
    "campaign-rule": JOB,
    "documents-upload": JOB,
    "documents-upload-preview": READS,
    "export": READS,
    "guideline-preview": READS,
    "healthz": READS,
    "csp-reports": "a browser's report about a page; goes to the server's log",
    "label-news": READ,
    "labelling-preferences": "one's own keys and text size",
    "language": "one's own language",
    "labels-import": JOB,
    "list-import": f"{JOB}; {VERSION}",
    "logout": "is no change",
    "message-address": OWN_MESSAGES,
    "message-settings": OWN_MESSAGES,
    "address-confirm": OWN_MESSAGES,
    "notice-open": READ,
    "notices-read": READ,
    "pictures-upload": JOB,
    "queries-upload": JOB,
    "queries-upload-preview": READS,
    "readyz": READS,
    "review": REVIEW,
    "revert": VERSION,
    "run-upload": JOB,
    "api-samples": JOB,
    "api-traffic-logs": JOB,
    "api-live-vectors": JOB,
    "live-vectors": JOB,
    "sample-create": JOB,
    "draw-for-people": JOB,
    "api-draw-for-people": JOB,
    "site-webhook-replay": REPLAY,
    "second-factor-begin": "asks for no code yet; turning it on is logged",
    "skip-return": SKIP,
    "traffic-upload": JOB,
    "traffic-upload-preview": READS,
    "webhook-replay": REPLAY,
}


def changing() -> list[Row]:
    """The rows that are no reading."""
    return [row for row in ROWS if row.method != "get"]


def views(patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, Any]]:
    """The name of every address, and what answers there."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns)
        else:
            yield pattern.name or "", pattern.callback


def is_logged(world: World, row: Row) -> bool:
    """Whether an entry is there once someone has asked who is let in."""
    for role in ROLES:
        if getattr(row, role) < 400:
            with undone(world):
                path, client = row.path(world), client_of(world, role)
                before = AuditEntry.objects.count()
                ask(client, row, path)
                if AuditEntry.objects.count() > before:
                    return True
    return False


def is_ours(module: str) -> bool:
    """Whether a module is of this project."""
    return module.partition(".")[0] in OURS


def called(code: CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """What the code may call, as far as its names tell: functions, and those of modules."""
    for inner in (one for one in code.co_consts if isinstance(one, CodeType)):
        yield from called(inner, names)
    found = [names[name] for name in code.co_names if name in names]
    yield from found
    for module in (one for one in found if isinstance(one, ModuleType) and is_ours(one.__name__)):
        yield from (getattr(module, name, None) for name in code.co_names)


def may_log(view: Any) -> bool:
    """Whether an entry can come of a view, through whatever it calls of ours."""
    waiting, seen = [getattr(view, "view_class", None) or getattr(view, "cls", view)], set()
    while waiting:
        one = waiting.pop()
        if one is record:
            return True
        one = one.function if isinstance(one, Named) else one
        one = inspect.unwrap(one) if callable(one) else one
        is_code = isinstance(one, FunctionType | type) and is_ours(one.__module__)
        if not is_code or one in seen:
            continue
        seen.add(one)
        if isinstance(one, type):
            waiting += [*vars(one).values(), *one.__bases__]
        else:
            waiting += called(one.__code__, one.__globals__)
    return False


@pytest.mark.django_db
@pytest.mark.first_pass
def test_every_address_that_changes_something_leaves_an_entry_or_a_reason(world: World) -> None:
    """An entry is seen where the table's row succeeds; elsewhere the code must be able to."""
    answering = dict(views(get_resolver().url_patterns))
    logged = {row.name for row in changing() if is_logged(world, row)}
    left = {row.name for row in changing()} - logged
    assert len(logged) > 100  # the rows of the table do succeed
    assert {name for name in left if not may_log(answering[name])} == set(UNLOGGED)


def test_what_a_job_does_is_logged_or_makes_a_version() -> None:
    silent = {kind for kind in list_kinds() if not may_log(get_handler(kind))}
    # which pictures there are follows from documents and chosen fields; both are logged. What a
    # machine judge was asked and said are rows that never change; that it was started is logged
    assert silent <= {"import_qrels", "find_pictures", "fetch_pictures", "judge_pairs"}
