"""Who gets what at evaluation's addresses."""

from evaluation.services.refreshing import refresh_evaluations
from tests.builders import NOW, World, commit, make_list
from tests.evaluation.builders import make_run
from tests.permissions.table import Row, everybody, leads, readers


def books(world: World) -> dict[str, object]:
    return {"slug": world.collection.slug}


def main(world: World) -> dict[str, object]:
    return books(world) | {"list_slug": world.judgments.slug}


def evaluated(world: World) -> dict[str, object]:
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    return main(world)


def two_lists(world: World) -> dict[str, object]:
    make_list(collection=world.collection, slug="strict")
    return books(world)


def run_path(world: World) -> dict[str, object]:
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    return books(world) | {"public_id": run.public_id}


ROWS: list[Row] = [
    everybody("measures"),
    readers("leaderboards", path=two_lists),
    readers("leaderboards", 302, path=books, query="one-list"),
    readers("leaderboard", path=main, query="nothing-judged"),
    readers("leaderboard", path=evaluated),
    readers("leaderboard", 400, path=evaluated, query="measures=nope"),
    leads(
        "leaderboard-measures",
        302,
        path=main,
        method="post",
        data={"measures": "nDCG@10 RR@10"},
    ),
    readers("run-rosetta", path=run_path),
    readers("run-rosetta", 400, path=run_path, query="k=nope"),
    readers("run-rosetta", 404, path=run_path, query="list=nope"),
    readers("list-rosetta", path=main, query="nothing-judged"),
    readers("list-rosetta", path=evaluated),
    readers("list-rosetta", 400, path=evaluated, query="k=0"),
]
