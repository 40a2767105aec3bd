"""Who gets what at the addresses of rankers and runs."""

from evaluation.models import Run
from tests.builders import World, commit
from tests.evaluation.builders import make_ranker, make_run
from tests.permissions.table import Row, everybody, readers

UPLOAD = b"q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n"


def books(world: World) -> dict[str, object]:
    return {"slug": world.collection.slug}


def with_ranker(world: World) -> dict[str, object]:
    make_ranker(collection=world.collection)
    return books(world)


def bm25(world: World) -> dict[str, object]:
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    return books(world) | {"ranker_slug": "bm25"}


def judged_run(world: World) -> dict[str, object]:
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    return books(world) | {"public_id": run.public_id}


def run_of_dora(world: World) -> dict[str, object]:
    arguments = judged_run(world)
    Run.objects.update(created_by=world.dora)
    return arguments


def judged_query(world: World) -> dict[str, object]:
    return judged_run(world) | {"qid": "q1"}


def uploaders(name: str, status: int = 200, **more: object) -> Row:
    """Researchers and leads; an admin who is no member only reads."""
    return Row(name=name, researcher=status, lead=status, **more)  # type: ignore[arg-type]


def query_of_run(world: World) -> dict[str, object]:
    bm25(world)
    return books(world) | {"qid": "q1"}


ROWS: list[Row] = [
    readers("rankers", path=with_ranker),
    uploaders("ranker-create", path=books),
    uploaders("ranker-create", 302, path=books, method="post", data={"name": "N", "slug": "n"}),
    readers("ranker", path=bm25),
    uploaders("ranker-tags", 302, path=bm25, method="post", data={"tags": "dense"}),
    uploaders("run-upload", path=with_ranker),
    uploaders(
        "run-upload",
        302,
        path=with_ranker,
        method="post",
        data={"ranker": "bm25", "file": UPLOAD, "name": "one"},
    ),
    readers("run", path=judged_run),
    readers("run", 400, path=judged_run, query="measure=nope"),
    readers("run", 404, path=judged_run, query="version=99"),
    uploaders("run-withdraw", 302, path=run_of_dora, method="post"),
    everybody("run-withdraw", 405, path=judged_run),
    readers("query-results", path=query_of_run),
    readers("query-results", 400, path=query_of_run, query="depth=7"),
    readers("query-results", 404, path=query_of_run, query="list=nope"),
    readers("run-query", path=judged_query),
    readers("run-query", 400, path=judged_query, query="sort=nope"),
]
