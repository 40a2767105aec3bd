"""Who gets what at the REST interface's addresses."""

from functools import partial
from typing import Any

from judgments.lists.services import release_version
from tests.builders import NOW, World, make_access
from tests.evaluation.builders import make_ranker, make_run
from tests.permissions import evaluation as boards
from tests.permissions import judgments
from tests.permissions.judgments import books, both, main, one_to_two, version_1
from tests.permissions.table import Row
from tests.permissions.table import everybody as _everybody
from tests.permissions.table import leads as _leads
from tests.permissions.table import managers as _managers
from tests.permissions.table import readers as _readers

JSON: dict[str, Any] = {"method": "post", "content_type": "application/json"}
PUT: dict[str, Any] = {"method": "put", "content_type": "application/json"}
everybody = partial(_everybody, anonymous=401)
leads = partial(_leads, anonymous=401)
managers = partial(_managers, anonymous=401)
readers = partial(_readers, anonymous=401)


def researchers(name: str, status: int = 200, **more: Any) -> Row:
    """Researchers and leads of the collection."""
    return Row(name=name, anonymous=401, researcher=status, lead=status, **more)


def job_of_ada(world: World) -> dict[str, object]:
    path = judgments.job_of_ada(world)
    return {"slug": path["slug"], "job_id": path["public_id"]}


def d1(world: World) -> dict[str, object]:
    return books(world) | {"doc_id": "d1"}


def released(world: World) -> dict[str, object]:
    path = version_1(world)
    release_version(
        access=make_access(collection=world.collection),
        at=NOW,
        judgment_list=world.judgments,
        number=1,
        name="spring",
    )
    return path | {"name": "spring"}


def bm25(world: World) -> dict[str, object]:
    return books(world) | {"ranker_slug": make_ranker(collection=world.collection).slug}


def run_of_ada(world: World) -> dict[str, object]:
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]})
    return bm25(world) | {"run_id": run.public_id}


def moved_run(world: World) -> dict[str, object]:
    run_id = boards.moved_run(world)["public_id"]
    return books(world) | {"ranker_slug": "bm25", "run_id": run_id}


FEATURES = {"file": b"query_id,doc_id,bm25\nq1,d1,0.5\n"}
RUN = {"file": b"q1 Q0 d1 1 1.5 tag\n"}
PAST = b"annotator,query_id,doc_id,grade\nagent_1,q1,d1,3\n"
GATE = {"run": "nope", "baseline": "none", "measure": "nDCG@10"}
ROWS = [
    everybody("api-root"),
    everybody("api-schema"),
    everybody("api-measures"),
    everybody("api-presets"),
    everybody("api-docs", anonymous=302),
    everybody("api-unknown", 404, path=lambda world: {"rest": "collection/books"}),
    everybody("api-collections"),
    everybody("api-collections", 201, data={"slug": "new"}, **JSON),
    Row(
        name="api-collection",
        path=books,
        anonymous=401,
        annotator=200,
        researcher=200,
        lead=200,
        admin=200,
    ),
    readers("api-queries", path=books),
    leads("api-queries", 201, path=books, method="post", data={"file": b"new\tone\n"}),
    readers("api-documents", path=books),
    leads("api-documents", 201, path=books, method="post", data={"file": b"new\tone\n"}),
    readers("api-document", path=d1),
    readers("api-pictures", path=books),
    leads("api-pictures", path=books, **PUT, data={"fields": [{"field": "a", "size": "small"}]}),
    leads("api-pictures-fetch", path=books, **JSON),
    leads("api-pictures-files", 202, path=books, method="post", data={"file": b"PK"}),
    managers("api-job", path=job_of_ada),
    readers("api-sets", path=books),
    readers("api-set", path=judgments.held_out),
    managers("api-retention", path=books),
    managers("api-retention", path=books, **PUT, data={"timing_days": 30}),
    managers("api-collection-archive", path=books, **JSON),
    managers("api-collection-restore", path=books, **JSON),
    leads("api-list-archive", path=main, **JSON),
    leads("api-list-restore", path=main, **JSON),
    readers("api-lists", path=books),
    leads("api-lists", 201, path=books, data={"slug": "two"}, **JSON),
    readers("api-list", path=main),
    leads("api-list-qrels", 201, path=main, method="post", data={"file": b"q1 0 d1 1\n"}),
    leads(
        "api-list-labels", 201, path=main, query="campaign=Past", method="post", data={"file": PAST}
    ),
    readers("api-versions", path=both),
    readers("api-version", path=version_1),
    readers("api-version", path=released),
    readers("api-qrels", path=version_1),
    readers("api-training", path=version_1, method="post", data=FEATURES),
    readers("api-changes", path=one_to_two),
    readers("api-releases", path=main),
    readers("api-release", path=released),
    readers("api-rankers", path=books),
    researchers("api-rankers", 201, path=books, data={"slug": "dense"}, **JSON),
    readers("api-ranker", path=bm25),
    readers("api-runs", path=bm25),
    researchers("api-runs", 201, path=bm25, method="post", data=RUN),
    readers("api-run", path=run_of_ada),
    leads("api-run-withdraw", path=run_of_ada, method="post", researcher=422),
    readers("api-run-file", path=run_of_ada),
    readers("api-run-values", path=moved_run, query="list=main"),
    readers("api-run-values", 404, path=moved_run, query="list=nope"),
    readers("api-run-moves", path=moved_run, query="list=main&since=1"),
    readers("api-run-moves", 422, path=moved_run, query="list=main&since=0"),
    readers("api-run-explain", path=moved_run, query="list=main&query=q1"),
    readers("api-run-explain", 404, path=moved_run, query="list=main&query=nope"),
    readers("api-run-explain", 422, path=moved_run, query="list=main&query=q1&measures=nope"),
    readers("api-run-rosetta", path=moved_run, query="list=main"),
    readers("api-run-rosetta", 404, path=moved_run, query="list=nope"),
    readers("api-rosetta", path=boards.two_runs),
    readers("api-rosetta", 404, path=boards.two_runs, query="version=99"),
    readers("api-effect", path=boards.moved),
    readers("api-effect", 422, path=boards.moved, query="measure=nope"),
    readers("api-moved", path=boards.two_runs, query="runs=bm25,lsa"),
    readers("api-moved", 422, path=boards.two_runs, query="runs=bm25"),
    managers("api-pair-history", path=both, query="query=q1&document=d1"),
    managers("api-pair-history", 404, path=both, query="query=q1&document=nope"),
    readers("api-values", path=main),
    readers("api-values", 422, path=both, query="runs=nope"),
    readers("api-compare-without", path=main),
    readers("api-estimates", path=main),
    readers("api-click-logs", path=books),
    leads(
        "api-click-logs",
        202,
        path=books,
        query="name=May",
        method="post",
        data={"file": judgments.CLICKS["file"]},
    ),
    readers("api-interleavings", path=books),
    leads(
        "api-interleavings",
        202,
        path=books,
        query="name=May",
        method="post",
        data={"file": b"{}"},
    ),
    readers("api-interleaving", path=judgments.interleaving),
    readers("api-click-log", path=judgments.clicks),
    readers("api-click-log", 404, path=lambda world: judgments.clicks(world) | {"number": 9}),
    readers("api-click-pairs", path=judgments.clicks),
    readers("api-click-rankers", path=judgments.clicks),
    readers("api-click-people", path=judgments.clicks),
    leads(
        "api-click-people",
        202,
        path=judgments.clicks,
        data={"list": "main", "basis": "main"},
        **JSON,
    ),
    readers("api-click-grades", path=main),
    readers("api-traffic-logs", path=books),
    leads(
        "api-traffic-logs",
        202,
        path=books,
        query="name=May",
        method="post",
        data={"file": b"query,searches\na,2\nb,1\n"},
    ),
    readers("api-traffic", path=judgments.frame),
    readers("api-traffic", 404, path=lambda world: judgments.frame(world) | {"number": 9}),
    readers("api-samples", path=main),
    leads(
        "api-samples",
        202,
        path=lambda world: judgments.frame(world) and main(world),
        data={"traffic": 1, "seed": 1, "n": 4},
        **JSON,
    ),
    readers("api-sample", path=judgments.sample),
    readers("api-sample-queries", path=judgments.sample),
    readers("api-plan-sample", path=boards.sampled, query="labels=500"),
    readers("api-plan-sample", 422, path=boards.sampled, query="labels=1"),
    leads("api-zero-results", path=boards.partly_answered, **JSON),
    leads("api-draw-for-people", path=main),
    leads("api-draw-for-people", 422, path=main, query="half=2"),
    leads("api-draw-for-people", 404, path=main, data={"n": 20, "seed": 1}, **JSON),
    readers("api-estimates", path=boards.sampled),
    readers("api-estimates", 422, path=boards.sampled, query="sample=7"),
    readers("api-stability", path=main),
    readers("api-stability", path=boards.two_runs),
    readers("api-stability", 422, path=boards.two_runs, query="runs=nope"),
    readers("api-compare-without", path=boards.two_runs),
    readers("api-compare", path=main),
    researchers("api-gates", 422, path=main, data=GATE, **JSON),
    readers("api-compare", 422, path=both, query="runs=nope"),
    readers("api-groups", path=main),
    readers("api-groups", path=boards.two_runs),
    readers("api-groups", 422, path=boards.two_runs, query="measure=nope"),
    readers("api-unjudged", path=main),
    readers("api-judge-next", path=main),
    readers("api-judge-next", 422, path=both, query="runs=nope"),
    readers("api-leaderboard", path=main),
    readers("api-leaderboard", 422, path=both, query="measures=nope"),
    readers("api-leaderboard", 422, path=both, query="runs=nope"),
    readers("api-list-measures", path=both, query="measures=P@5"),
    readers("api-list-measures", 422, path=both, query="measures=nope"),
    readers("api-list-measures", path=both, data={"measures": "P@5"}, **JSON),
    readers("api-segments", path=main),
    readers("api-segments", 422, path=both, query="measure=nope"),
    leads("api-releases", 201, path=both, data={"name": "spring"}, **JSON),
]
