"""Who gets what at evaluation's addresses."""

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from tests.builders import NOW, World, commit, make_list, make_set
from tests.evaluation.builders import make_run
from tests.evaluation.samples.builders import make_sampled
from tests.permissions.table import Row, everybody, leads, readers


def books(world: World) -> dict[str, object]:
    return {"slug": world.collection.slug}


def main(world: World) -> dict[str, object]:
    return books(world) | {"list_slug": world.judgments.slug}


def evaluated(world: World) -> dict[str, object]:
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    make_set(world=world, qids=["q1"], is_held_out=True)
    return main(world)


def sampled(world: World) -> dict[str, object]:
    make_sampled(world=world)
    return main(world)


def partly_answered(world: World) -> dict[str, object]:
    return main(world) | {"number": make_sampled(world=world, unanswered=2).plan.number}


def two_runs(world: World) -> dict[str, object]:
    make_run(collection=world.collection, rankings={"q1": ["d2", "d1"]}, ranker="lsa")
    return evaluated(world)


def two_lists(world: World) -> dict[str, object]:
    make_list(collection=world.collection, slug="strict")
    return books(world)


def run_path(world: World) -> dict[str, object]:
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    return books(world) | {"public_id": run.public_id}


def moved(world: World) -> dict[str, object]:
    path = evaluated(world)
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    return path | {"before": "1", "after": "2"}


def moved_run(world: World) -> dict[str, object]:
    moved(world)
    return books(world) | {"public_id": Run.objects.get().public_id}


ROWS: list[Row] = [
    readers("effect", path=moved),
    readers("effect", 400, path=moved, query="measure=nope"),
    readers("run-moves", path=moved_run, query="list=main&before=1"),
    readers("run-moves", 400, path=moved_run, query="list=main&before=0"),
    readers("run-moves", 404, path=moved_run, query="list=main&before=9"),
    everybody("measures"),
    readers("leaderboards", path=two_lists),
    readers("leaderboards", 302, path=books, query="one-list"),
    readers("leaderboard", path=main, query="nothing-judged"),
    readers("leaderboard", path=evaluated),
    readers("leaderboard", 400, path=evaluated, query="measures=nope"),
    readers("leaderboard-file", path=evaluated, query="format=csv"),
    readers("leaderboard-file", 404, path=evaluated, query="format=xlsx"),
    readers("leaderboard-file", 302, path=evaluated, query="format=csv&measures=nope"),
    readers("leaderboard-parameters", path=main, query="nothing-judged"),
    readers("leaderboard-parameters", path=evaluated),
    readers("leaderboard-parameters", 400, path=evaluated, query="measures=nope"),
    readers("leaderboard-segments", path=main, query="nothing-judged"),
    readers("leaderboard-segments", path=evaluated),
    readers("leaderboard-segments", 400, path=evaluated, query="measure=nope"),
    leads(
        "leaderboard-measures",
        302,
        path=main,
        method="post",
        data={"measures": "nDCG@10 RR@10"},
    ),
    readers("compare", path=main, query="nothing-judged"),
    readers("compare", path=evaluated),
    readers("compare", 400, path=evaluated, query="runs=nope"),
    readers("compare", path=evaluated, query="set=canaries"),
    readers("compare", 400, path=evaluated, query="set=nope"),
    readers("compare-without", path=main, query="nothing-judged"),
    readers("compare-without", path=two_runs),
    readers("compare-without", 302, path=two_runs, query="runs=nope"),
    readers("moved", 400, path=main, query="nothing-judged"),
    readers("moved", path=two_runs, query="runs=bm25&runs=lsa"),
    readers("moved", 400, path=two_runs, query="runs=bm25"),
    readers("compare-groups", path=main, query="nothing-judged"),
    readers("compare-groups", path=evaluated),
    readers("compare-groups", 400, path=evaluated, query="correction=nope"),
    readers("compare-groups-file", path=evaluated, query="format=csv"),
    readers("compare-groups-file", 302, path=evaluated, query="format=latex&measure=nope"),
    readers("compare-groups-file", 404, path=evaluated, query="format=nope"),
    leads("compare-test", 302, path=main, method="post", data={"test": "t"}),
    leads("compare-test", 302, path=main, method="post", data={"test": "nope"}),
    readers("leaderboard", path=evaluated, query="set=canaries"),
    readers("leaderboard", 400, path=evaluated, query="set=nope"),
    readers("run-moves", path=moved_run, query="list=main&before=1&set=canaries"),
    readers("unjudged", path=main, query="nothing-judged"),
    readers("unjudged", path=evaluated),
    readers("unjudged", 400, path=evaluated, query="runs=nope"),
    readers("estimates", path=main, query="nothing-judged"),
    readers("estimates", path=evaluated),
    readers("estimates", path=sampled),
    readers("estimates", 400, path=sampled, query="sample=7"),
    readers("estimates", 400, path=sampled, query="measure=nope"),
    leads("sample-zero-results", 302, path=partly_answered, method="post"),
    leads("draw-for-people", path=main),
    leads("draw-for-people", path=main, method="post", data={"n": "20", "seed": "1"}),
    readers("plan-sample", path=main, query="nothing-judged"),
    readers("plan-sample", path=sampled, query="labels=500"),
    readers("plan-sample", 400, path=sampled, query="frame=9"),
    readers("stability", path=main, query="nothing-judged"),
    readers("stability", path=two_runs),
    readers("stability", path=evaluated, query="set=canaries"),
    readers("stability", 400, path=evaluated, query="runs=nope"),
    readers("judge-next", path=main, query="nothing-judged"),
    readers("judge-next", path=evaluated),
    readers("judge-next", 400, path=evaluated, query="n=many"),
    readers("run-file", path=run_path),
    readers("run-rosetta", path=run_path),
    readers("run-rosetta", 400, path=run_path, query="k=nope"),
    readers("run-rosetta", 404, path=run_path, query="list=nope"),
    readers("list-rosetta", path=main, query="nothing-judged"),
    readers("list-rosetta", path=evaluated),
    readers("list-rosetta", 400, path=evaluated, query="k=0"),
]
