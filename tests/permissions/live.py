"""Who gets what at the addresses of live rankers, on pages and over REST."""

from typing import Any

from evaluation.live_rankers.configuration import Configuration
from evaluation.live_rankers.mapping import Mapping
from evaluation.models import Canary, LiveRevision, LiveSource, Snapshot
from judgments.models import Secret
from tests.builders import NOW, World
from tests.evaluation.builders import make_ranker, make_run
from tests.permissions.api import JSON, PUT, researchers
from tests.permissions.api import readers as api_readers
from tests.permissions.judgments import books
from tests.permissions.runs import uploaders
from tests.permissions.table import Row, readers

# nothing may be asked, so that those who may configure get the reason
ASKED: dict[str, Any] = {"method": "GET", "url": "http://127.0.0.1:9/?q={{text}}"}
FORM: dict[str, Any] = ASKED | {
    "rows": "results",
    "id": "id",
    "depth": 10,
    "at_once": 1,
    "rate": 0,
    "timeout": 1,
    "attempts": 1,
    "min_answered": 100,
}


def source_of(world: World) -> LiveSource:
    """A live ranker whose secret was removed."""
    secret = Secret.objects.create(
        collection=world.collection, origin="http://a.example", ciphertext="x", created_at=NOW
    )
    source = LiveSource.objects.create(
        ranker=make_ranker(collection=world.collection), secret=secret
    )
    configuration = Configuration(**ASKED, mapping=Mapping(rows="results", id="id"))
    LiveRevision.objects.create(
        source=source, number=1, configuration=configuration.to_json(), created_at=NOW
    )
    return source


def live(world: World) -> dict[str, Any]:
    return books(world) | {"ranker_slug": source_of(world).ranker.slug}


def running(world: World, name: str = "public_id") -> dict[str, Any]:
    source = source_of(world)
    snapshot = Snapshot.objects.create(
        source=source,
        revision=source.revisions.get(),
        name="first",
        queries=1,
        last_query=world.queries[0].pk,
        created_at=NOW,
    )
    return books(world) | {"ranker_slug": source.ranker.slug, name: snapshot.public_id}


def watched(world: World) -> dict[str, Any]:
    source = source_of(world)
    canary = Canary.objects.create(
        source=source,
        list=world.judgments,
        measure="nDCG@10",
        baseline=make_run(collection=world.collection, rankings={"q1": ["d1"]}),
        margin=0.1,
        coverage_margin=0.1,
        in_a_row=1,
        after_snapshot=0,
        created_at=NOW,
    )
    return books(world) | {"ranker_slug": source.ranker.slug, "canary_id": canary.pk}


def running_api(world: World) -> dict[str, Any]:
    return running(world, "snapshot_id")


ROWS: list[Row] = [
    readers("canaries", path=live),
    uploaders("canaries", 400, path=live, method="post"),
    uploaders("canary-retire", 302, path=watched, method="post"),
    api_readers("api-canaries", path=live),
    researchers("api-canaries", 400, path=live, data={"list": "none", "baseline": "none"}, **JSON),
    researchers("api-canary", 204, path=watched, method="delete"),
    researchers("api-live-schedule", path=live, data={"cron": "0 3 * * *"}, **PUT),
    researchers("api-ranker-events", 201, path=live, data={"name": "3f2a"}, **JSON),
    readers("live", path=live),
    uploaders("live-edit", path=live),
    uploaders("live-edit", 200, path=live, method="post", data=FORM),
    uploaders("live-schedule", 302, path=live, method="post", data={"cron": "0 3 * * *"}),
    uploaders("live-schedule", 400, path=live, method="post", data={"cron": "never"}),
    uploaders("live-vectors", 302, path=live, method="post"),
    uploaders("live-secret-remove", 302, path=live, method="post"),
    uploaders("snapshot-start", 302, path=live, method="post"),
    readers("snapshot", path=running),
    uploaders("snapshot-stop", 302, path=running, method="post"),
    api_readers("api-live", path=live),
    researchers(
        "api-live",
        400,
        path=live,
        data={"configuration": {**ASKED, "mapping": {"rows": "a", "id": "b"}}},
        **PUT,
    ),
    api_readers("api-live-vectors", path=live),
    researchers(
        "api-live-vectors",
        202,
        path=live,
        method="post",
        data={"file": b'{"query_id": "q1", "vector": [1]}'},
    ),
    api_readers("api-snapshots", path=live),
    researchers("api-snapshots", 202, path=live, data={}, **JSON),
    api_readers("api-snapshot", path=running_api),
    api_readers("api-snapshot-answers", path=running_api),
    researchers("api-snapshot-stop", path=running_api, method="post"),
]
