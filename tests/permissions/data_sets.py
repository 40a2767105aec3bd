"""Who gets what at the addresses of data sets, on pages and over REST."""

from typing import Any

from evaluation.models import DataSet, DataSetCanary, DataSetEvaluation
from tests.builders import NOW, World
from tests.permissions.api import JSON, PUT, researchers
from tests.permissions.api import readers as api_readers
from tests.permissions.judgments import books
from tests.permissions.runs import uploaders
from tests.permissions.table import Row, readers

# no place is allowed, so that those who may register get the reason
COLUMNS: dict[str, Any] = {
    "name": "Nightly",
    "rankings": "/srv/lake",
    "query": ["user"],
    "document": "item",
    "score": "score",
    "grade": "grade",
    "measures": "nDCG@10",
}


def nightly(world: World) -> dict[str, Any]:
    DataSet.objects.create(collection=world.collection, slug="nightly", created_at=NOW, **COLUMNS)
    return books(world) | {"data_set_slug": "nightly"}


def running(world: World, name: str = "public_id") -> dict[str, Any]:
    path = nightly(world)
    made = DataSetEvaluation.objects.create(data_set=DataSet.objects.get(), created_at=NOW)
    return path | {name: made.public_id}


def running_api(world: World) -> dict[str, Any]:
    return running(world, "evaluation_id")


def watched_data_set(world: World) -> dict[str, Any]:
    path = nightly(world)
    canary = DataSetCanary.objects.create(
        data_set=DataSet.objects.get(),
        rules=["board: nDCG@10 at least 0.5"],
        days=1,
        fewest=1,
        in_a_row=1,
        after_evaluation=0,
        created_at=NOW,
    )
    return path | {"canary_id": canary.pk}


def compared(world: World, name: str = "public_id") -> dict[str, Any]:
    path = nightly(world)
    DataSet.objects.create(
        collection=world.collection, slug="other", created_at=NOW, **COLUMNS | {"name": "Other"}
    )
    first, other = DataSet.objects.order_by("pk")
    made = DataSetEvaluation.objects.create(data_set=first, other=other, created_at=NOW)
    return path | {name: made.public_id}


def compared_api(world: World) -> dict[str, Any]:
    return compared(world, "comparison_id")


ROWS: list[Row] = [
    readers("data-sets", path=books),
    readers("data-set", path=nightly),
    uploaders("data-set-new", path=books),
    uploaders("data-set-new", 400, path=books, method="post", data=COLUMNS | {"query": "user"}),
    uploaders("data-set-evaluate", 302, path=nightly, method="post"),
    uploaders("data-set-schedule", 302, path=nightly, method="post", data={"cron": "0 3 * * *"}),
    uploaders("data-set-schedule", 400, path=nightly, method="post", data={"cron": "never"}),
    uploaders("data-set-retire", 302, path=nightly, method="post"),
    uploaders("data-set-stop", 302, path=running, method="post"),
    readers("data-set-comparisons", path=nightly),
    uploaders("data-set-comparisons", 400, path=nightly, method="post"),
    readers("data-set-comparison", path=compared),
    uploaders("data-set-comparison-stop", 302, path=compared, method="post"),
    api_readers("api-data-set-comparisons", path=nightly),
    researchers("api-data-set-comparisons", 400, path=nightly, data={"other": "none"}, **JSON),
    api_readers("api-data-set-comparison", path=compared_api),
    researchers("api-data-set-comparison-stop", path=compared_api, method="post"),
    readers("data-set-canaries", path=nightly),
    uploaders("data-set-canaries", 400, path=nightly, method="post"),
    uploaders("data-set-canary-retire", 302, path=watched_data_set, method="post"),
    api_readers("api-data-set-canaries", path=nightly),
    researchers(
        "api-data-set-canaries",
        201,
        path=nightly,
        data={"rules": ["board: nDCG@10 at least 0.5"]},
        **JSON,
    ),
    researchers("api-data-set-canary", 204, path=watched_data_set, method="delete"),
    api_readers("api-data-sets", path=books),
    researchers("api-data-sets", 422, path=books, data=COLUMNS, **JSON),
    api_readers("api-data-set", path=nightly),
    researchers("api-data-set", 204, path=nightly, method="delete"),
    researchers("api-data-set-schedule", path=nightly, data={"cron": "0 3 * * *"}, **PUT),
    researchers("api-data-set-evaluations", 201, path=nightly, data={}, **JSON),
    api_readers("api-data-set-evaluation", path=running_api),
    researchers("api-data-set-stop", path=running_api, method="post"),
]
