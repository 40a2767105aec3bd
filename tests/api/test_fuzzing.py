"""Requests that the schema allows, as each person: no server error, answers as documented.

TOUCHSTONE_FUZZ=1200 is a long form of it. With `-n 0 --junitxml=FILE` the file says how many
requests were sent, as whom, and what the answers were.
"""

import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import override_settings
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotation.labelling.skipping import skip_query
from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.jobs.services import submit_job
from judgments.lists.services import release_version
from tests.api.callers import SCOPES, make_token
from tests.builders import NOW, World, commit, make_access, make_set, make_user, make_world
from tests.builders_annotation import context_of, lease, make_campaign
from tests.evaluation.builders import make_run

EXAMPLES = int(os.environ.get("TOUCHSTONE_FUZZ", "5"))
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# what schemathesis calls the application with does not unpack an answer
AS_IT_IS = {"Accept-Encoding": "identity"}
FILES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [
            b"n1\tone\nn2\ttwo\n",
            b'{"doc_id": "n1", "text": "one"}\n{"query_id": "n2", "text": "two"}\n',
            b"q1 0 d1 3\nq2 0 d2 1\n",
            b"q1 Q0 d1 1 7.5 tag\nq1 Q0 d2 2 7 tag\n",
            b"q1 Q0 d1 1 nan tag\n",
            b"annotator,query_id,doc_id,grade,final_grade\nben,q1,d1,3,\ncem,q1,d2,1,2\n",
            b"\x1f\x8b\x08\x00",
        ]
    ),
)


ASKED = {
    "measures": st.one_of(
        st.text(max_size=40),
        st.lists(st.sampled_from(["nDCG@10", "RR", "AP(rel=2)@100", "P@5", "Judged@3", "R@0"])).map(
            " ".join
        ),
    ),
    "version": st.sampled_from(["0", "1", "2", "spring", "head"]),
    "segment": st.sampled_from(["head", "tail", ""]),
    "measure": st.sampled_from(["nDCG@10", "RR@10", "P@5", "Judged@10"]),
    "runs": st.sampled_from(["bm25,lsa", "lsa,bm25", "bm25", "bm25,bm25", "bm25,nothing"]),
    "baseline": st.sampled_from(["bm25", "lsa"]),
    "against": st.sampled_from(["bm25", "lsa"]),
    "set": st.sampled_from(["canaries", "nothing"]),
    "list": st.sampled_from(["main", "nothing"]),
    "wait": st.sampled_from(["0", "61", "x"]),
    "since": st.sampled_from(["0", "1", "2", "spring"]),
}

SERVER = WSGIHandler()


def answer_and_close(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """As servers do, and werkzeug's client does not: a request closes the files it was sent."""
    response = SERVER(environ, start_response)
    try:
        return list(response)
    finally:
        response.close()


def load_operations() -> list[Any]:
    schema = schemathesis.openapi.from_dict(SchemaGenerator().get_schema(request=None, public=True))
    schema.app = answer_and_close
    return [found.ok() for found in schema.get_all_operations()]


OPERATIONS = load_operations()


@pytest.fixture(autouse=True)
def ids_begin_at_one() -> None:
    """They do not here: one world is for all tests."""


@pytest.fixture(scope="module")
def filled(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[dict[str, list[str]], dict[str, dict[str, str]]]]:
    """What there is, and who asks; taken back at the end."""
    folder = {"location": tmp_path_factory.mktemp("uploads")}
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": folder}
    with (
        django_db_blocker.unblock(),
        override_settings(STORAGES=settings.STORAGES | {"default": storage}),
        transaction.atomic(),
    ):
        yield fill(make_world()), make_people()
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def open_connection() -> Iterator[None]:
    """Keep the connection, in whose transaction the test is, as Django's own client does."""
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


@pytest.fixture(scope="module")
def sent(record_testsuite_property: Callable[[str, object], None]) -> Iterator[Counter[str]]:
    """How many requests each person sent, and how many answers had which status."""
    counts: Counter[str] = Counter()
    yield counts
    for name, number in sorted(counts.items()):
        record_testsuite_property(name, number)


def fill(world: World) -> dict[str, list[str]]:
    """Something of everything; for each part of an address, what really is there."""
    access = make_access(collection=world.collection)
    q1, d1 = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): 3}, by=world.ada)
    release_version(access=access, at=NOW, judgment_list=world.judgments, number=1, name="spring")
    commit(judgment_list=world.judgments, grades={(q1, d1): 1}, by=world.ada)
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d1"]})
    make_run(collection=world.collection, rankings={"q1": ["d2", "d1"]}, ranker="lsa")
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    make_set(world=world, qids=["q1", "q3"])
    job = submit_job(access=access, kind="import_queries", file=None, params={}, at=NOW)
    campaign = make_campaign(world=world)
    seats = lease(campaign=campaign, username="ben", count=5, at=timezone.now())
    first, *seats = seats
    skipped = skip_query(
        context=context_of(campaign, "ben"),
        assignment=first.public_id,
        reason="unfamiliar",
        at=timezone.now(),
    )
    return {
        "slug": ["books"],
        "list_slug": ["main"],
        "name": ["1", "spring", "head"],
        "before": ["0", "1"],
        "after": ["2", "head"],
        "doc_id": ["d1"],
        "ranker_slug": ["bm25", "lsa"],
        "set_slug": ["canaries"],
        "run_id": [str(run.public_id)],
        "job_id": [str(job.public_id)],
        "campaign_id": [str(campaign.public_id)],
        "skip_id": [str(skipped.skip.public_id)],
        "assignment": [str(seat.public_id) for seat in seats],
    }


def make_people() -> dict[str, dict[str, str]]:
    """What each of the cast sends to say who they are."""
    make_user(username="root", is_superuser=True)
    headers = {
        f"{username}, {scope}": {
            "Authorization": f"Bearer {make_token(username=username, scope=scope)}"
        }
        for username in ("ada", "dora", "ben", "eve", "root")
        for scope in (SCOPES.WRITE, SCOPES.READ)
    }
    return headers | {"nobody": {"Authorization": "Bearer nonsense"}}


def aim(case: Any, places: dict[str, list[str]], pick: Any) -> None:
    """Point most requests at something that exists; most bodies at a file that could be one."""
    for name in case.path_parameters or {}:
        if pick(st.integers(0, 9)) < 9:  # 0 is what is drawn most
            case.path_parameters[name] = pick(st.sampled_from(places.get(name, ["nothing"])))
    for name, values in ASKED.items():
        if name in (case.query or {}) and pick(st.integers(0, 3)) < 3:
            case.query[name] = pick(values)
    if isinstance(case.body, bytes) and pick(st.booleans()):
        case.body = pick(FILES)
    labels = case.body.get("labels") if isinstance(case.body, dict) else None
    for label in labels if isinstance(labels, list) else []:
        if isinstance(label, dict) and pick(st.booleans()):
            label["assignment"] = pick(st.sampled_from(places["assignment"]))
            label["id"] = str(uuid.UUID(int=pick(st.integers(0, 3))))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_breaks_the_server_or_is_answered_as_the_schema_does_not_say(
    db: None,
    filled: tuple[dict[str, list[str]], dict[str, dict[str, str]]],
    operation: Any,
    sent: Counter[str],
) -> None:
    places, people = filled
    cases = st.one_of(
        *[
            operation.as_strategy(generation_mode=mode)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        ]
    )

    @hypothesis.settings(
        max_examples=EXAMPLES,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=cases, person=st.sampled_from(list(people)), data=st.data())
    def ask(case: Any, person: str, data: st.DataObject) -> None:
        aim(case, places, data.draw)
        with transaction.atomic():
            response = case.call(headers=people[person] | AS_IT_IS)
            transaction.set_rollback(True)
        sent.update(["requests", f"as {person}", f"answers {response.status_code}"])
        case.validate_response(response, checks=CHECKS)

    ask()
