"""How long it takes from one label's commit until every run's evaluation is committed.

    python -m benchmarks.refresh [--runs 100] [--queries 1000 10000] [--labels 200] [--postgres URL]
        [--averages "nDCG(average='weighted')@10 …"]

Runs × queries × depth made-up rankings (as packed rows, inserted in bulk) and a judged list are
put into a temporary database, once on SQLite and, where `--postgres` or DATABASE_URL names a
server, once on PostgreSQL; both are removed afterwards. All runs are evaluated from scratch. Then
one grade after the other changes: `commit_judgments` commits, the clock starts,
`refresh_evaluations` brings all runs to the new version, the clock stops after its commit. It is
the work that is timed, not the wake-up of a worker. In the end some runs are computed from scratch
again and must be equal bit for bit.

With `--averages` the list keeps these besides, and its queries have weights and twenty segments.

Beside it stands a careful user of pytrec_eval who holds everything in memory, scores only that
query for all runs, and stores nothing.

Each case runs in a process of its own. Wall-clock times: the database's share counts.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg

LIMIT = 3600  # seconds for one case
START = datetime(2026, 1, 1, tzinfo=UTC)
CHECKED = 5  # runs that are computed from scratch in the end
PYTREC_MEASURES = {
    "ndcg_cut.5,10,20", "recip_rank", "map_cut.100", "P.5,10", "success.10", "recall.100",
}  # fmt: skip


def main() -> None:
    options = _options()
    if options.case:
        print(json.dumps(_case(options)))
        return
    results: list[dict[str, Any]] = []
    for engine in ("sqlite", "postgresql") if options.postgres else ("sqlite",):
        for queries in options.queries:
            with _temporary_database(engine, options.postgres) as environment:
                results.append(_in_own_process(queries, environment) | {"engine": engine})
            print(_line(results[-1]), flush=True)
    for engine in {result["engine"] for result in results}:
        own = sorted(
            (result for result in results if result["engine"] == engine),
            key=lambda result: int(result["queries"]),
        )
        if len(own) > 1:
            ratio = own[-1]["refresh_ms"]["p50"] / own[0]["refresh_ms"]["p50"]
            span = f"{own[0]['queries']:,} to {own[-1]['queries']:,} queries"
            print(f"{engine}: p50 grows {ratio:.2f}-fold from {span}")
    if any(result["differing"] for result in results):
        sys.exit("an evaluation differs from the one from scratch")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--queries", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--judged", type=int, default=30, help="judged documents a query")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--labels", type=int, default=200)
    parser.add_argument("--averages", default="", help="measures to be kept besides")
    url = os.environ.get("DATABASE_URL", "")
    parser.add_argument("--postgres", metavar="URL", default=url if "postgres" in url else "")
    parser.add_argument("--case", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_own_process(queries: int, environment: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.refresh", *sys.argv[1:], "--case"]
    done = subprocess.run(
        [*command, "--queries", str(queries)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        check=True,
        timeout=LIMIT,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def _temporary_database(engine: str, server: str) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as home:
        environment = {"TOUCHSTONE_HOME": home, "TOUCHSTONE_MODE": "embedded", "REDIS_URL": ""}
        if engine == "sqlite":
            yield environment | {"DATABASE_URL": f"sqlite:///{Path(home) / 'benchmark.sqlite3'}"}
            return
        name = f"touchstone_benchmark_{uuid.uuid4().hex[:12]}"
        _execute(server, f"CREATE DATABASE {name}")
        try:
            url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
            yield environment | {"DATABASE_URL": url}
        finally:
            _execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        connection.execute(statement)


def _case(options: argparse.Namespace) -> dict[str, Any]:
    """One size on one database, in a process whose environment names it."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    (queries,) = options.queries
    rng = np.random.default_rng(7)
    ranked = _rankings(rng, options, queries)
    list_id, query_pks, run_pks = _fill(ranked, rng, options)
    if options.averages:
        _keep(list_id, query_pks, rng, options)
    began = time.perf_counter()
    _refresh_all(list_id)
    from_scratch = time.perf_counter() - began
    commits, refreshes = _label_by_label(list_id, query_pks, ranked, options)
    return {
        "queries": queries,
        "runs": options.runs,
        "from_scratch_s": from_scratch,
        "commit_ms": _percentiles(commits),
        "refresh_ms": _percentiles(refreshes),
        "pytrec_eval_ms": _percentiles(_by_pytrec_eval(ranked, options)),
        "differing": _differing(list_id, run_pks[:CHECKED]),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _rankings(
    rng: np.random.Generator, options: argparse.Namespace, queries: int
) -> "np.ndarray[Any, np.dtype[np.int32]]":
    """Document numbers from 1, (queries, runs, depth), distinct within a ranking.

    The runs of a query draw from the same 500 documents, the better ones more often, as rankers do.
    """
    pool_size = min(options.documents, max(500, 2 * options.depth))
    out = np.empty((queries, options.runs, options.depth), np.int32)
    for query in range(queries):
        pool = rng.choice(options.documents, pool_size, replace=False).astype(np.int32) + 1
        taste = rng.random((options.runs, pool_size)) + np.linspace(0, 1, pool_size)
        best = np.argpartition(taste, options.depth - 1, axis=1)[:, : options.depth]
        out[query] = pool[best]
    return out


def _fill(
    ranked: "np.ndarray[Any, np.dtype[np.int32]]",
    rng: np.random.Generator,
    options: argparse.Namespace,
) -> tuple[int, list[int], list[int]]:
    """A collection with everything in it: the list's pk, the queries' and the runs' pks."""
    from django.db import connection, transaction

    from evaluation.models import Ranking, Run
    from evaluation.runs.rankers import start_ranker
    from judgments.collections.services import (
        create_collection,
        ensure_documents,
        ensure_queries,
    )
    from judgments.lists.services import start_list
    from judgments.storage.bulk import insert_rows
    from touchstone.files.id_columns import IdColumn
    from touchstone.scales import Scale

    queries = len(ranked)
    collection = create_collection(by=None, at=START, slug="benchmark", name="Benchmark")
    by_qid = ensure_queries(collection=collection, qids=[f"q{i:06}" for i in range(queries)])
    query_pks = [by_qid[f"q{i:06}"] for i in range(queries)]
    docids = [f"d{i:06}" for i in range(1, options.documents + 1)]
    pks = ensure_documents(collection=collection, docids=IdColumn.of(docids))
    if pks.tolist() != list(range(1, options.documents + 1)):
        raise AssertionError("a fresh database numbers documents from 1")
    ranker = start_ranker(collection=collection, by=None, at=START, slug="ranker")
    runs = Run.objects.bulk_create(
        Run(
            ranker=ranker,
            name=f"run {number}",
            sha256=f"{number:064}",
            query_count=queries,
            row_count=queries * options.depth,
            created_at=START,
        )
        for number in range(options.runs)
    )
    scores = np.linspace(1, 0, options.depth).astype("<f8").tobytes()
    order = np.arange(options.depth).astype("<u2").tobytes()
    columns = ("run_id", "query_id", "documents", "scores", "order")
    with transaction.atomic():
        # queries in order, runs within them: as scattered on disk as imports of runs leave them
        for number, run in enumerate(runs):
            insert_rows(
                Ranking,
                columns,
                [
                    (run.pk, query_pk, ranked[query, number].astype("<i4").tobytes(), scores, order)
                    for query, query_pk in enumerate(query_pks)
                ],
            )
    judgments = start_list(
        collection=collection, by=None, at=START, slug="main", name="Main", scale=Scale.default()
    )
    _judge(judgments, ranked, query_pks, rng, options)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return judgments.pk, query_pks, [run.pk for run in runs]


def _judge(
    judgment_list: Any,
    ranked: "np.ndarray[Any, np.dtype[np.int32]]",
    query_pks: list[int],
    rng: np.random.Generator,
    options: argparse.Namespace,
) -> None:
    """Version 1: for every query some of what the runs return, graded 0 to 4."""
    from judgments.versions.services import Change, commit_judgments

    changes = []
    for query, query_pk in enumerate(query_pks):
        shown = np.unique(ranked[query, :, :20])
        chosen = rng.choice(shown, min(options.judged, len(shown)), replace=False)
        grades = rng.choice(5, len(chosen), p=[0.55, 0.15, 0.12, 0.1, 0.08])
        changes += [
            Change(query_pk, int(document), int(grade))
            for document, grade in zip(chosen, grades, strict=True)
        ]
    commit_judgments(
        judgment_list=judgment_list, changes=changes, by=None, at=START, reason="", source="import"
    )


def _keep(
    list_id: int, query_pks: list[int], rng: np.random.Generator, options: argparse.Namespace
) -> None:
    """The usual measures and those asked for; weights and segments as traffic might have them."""
    from evaluation.evaluations.measure_set_services import ensure_measure_set
    from evaluation.models import Leaderboard
    from judgments.models import Query
    from touchstone.measures.defaults import DEFAULT_MEASURES
    from touchstone.measures.grammar import parse_measures

    found = list(Query.objects.filter(pk__in=query_pks))
    weights, segments = rng.lognormal(sigma=2, size=len(found)), rng.integers(20, size=len(found))
    for query, weight, segment in zip(found, weights.tolist(), segments.tolist(), strict=True):
        query.weight, query.segment = weight, f"segment {segment}"
    Query.objects.bulk_update(found, ["weight", "segment"], batch_size=500)
    besides = [measure for _, measure in parse_measures(options.averages)]
    measure_set = ensure_measure_set(measures=[*DEFAULT_MEASURES, *besides])
    Leaderboard.objects.create(list_id=list_id, measure_set=measure_set)


def _refresh_all(list_id: int) -> None:
    from evaluation.evaluations.refreshing import refresh_evaluations

    while refresh_evaluations(list_id=list_id, at=START).left:
        pass


def _label_by_label(
    list_id: int,
    query_pks: list[int],
    ranked: "np.ndarray[Any, np.dtype[np.int32]]",
    options: argparse.Namespace,
) -> tuple[list[float], list[float]]:
    """Seconds of each commit, and from its end until all evaluations were committed."""
    from evaluation.evaluations.refreshing import refresh_evaluations
    from evaluation.models import Evaluation
    from judgments.models import JudgmentList
    from judgments.versions.services import Change, commit_judgments

    chance = random.Random(11)
    judgment_list = JudgmentList.objects.get(pk=list_id)
    commits, refreshes = [], []
    for number in range(options.labels):
        query = chance.randrange(len(query_pks))
        document = int(chance.choice(ranked[query, chance.randrange(options.runs), :20]))
        at = START + timedelta(seconds=number + 1)
        began = time.perf_counter()
        for grade in chance.sample(range(5), 2):  # one of the two is new
            made = commit_judgments(
                judgment_list=judgment_list,
                changes=[Change(query_pks[query], document, grade)],
                by=None,
                at=at,
                reason="",
                source="labels",
            )
            if made is not None:
                break
        committed = time.perf_counter()
        done = refresh_evaluations(list_id=list_id, at=at)
        ended = time.perf_counter()
        if made is None or done.evaluated != options.runs or done.from_scratch:
            raise AssertionError(f"label {number}: {done}")
        commits.append(committed - began)
        refreshes.append(ended - committed)
    if not Evaluation.objects.filter(version__number=options.labels + 1).count() == options.runs:
        raise AssertionError("not every run was evaluated")
    return commits, refreshes


def _differing(list_id: int, run_pks: list[int]) -> int:
    """How many of the runs have other bytes at the head than a computation from scratch gives."""
    from evaluation.evaluations.measure_sets import get_leaderboard, grades_of, measures_of
    from evaluation.evaluations.sums import Board, RunSize, compute_sums
    from evaluation.models import Evaluation, Run
    from judgments.models import JudgmentList
    from touchstone.measures.exact import to_bytes

    judgment_list = JudgmentList.objects.get(pk=list_id)
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    if leaderboard is None:
        raise AssertionError("there is no leaderboard")
    board = Board(list_id, measures_of(leaderboard.measure_set), grades_of(judgment_list))
    sizes = [
        RunSize(run.pk, run.row_count, run.query_count)
        for run in Run.objects.filter(pk__in=run_pks).order_by("pk")
    ]
    right = compute_sums(board=board, version=judgment_list.head, runs=sizes)
    stored = {
        row.run_id: bytes(row.sums)
        for row in Evaluation.objects.filter(version__number=judgment_list.head)
    }
    return sum(stored[size.run_id] != to_bytes(own) for size, own in zip(sizes, right, strict=True))


def _by_pytrec_eval(
    ranked: "np.ndarray[Any, np.dtype[np.int32]]", options: argparse.Namespace
) -> list[float]:
    """Seconds to score one query of every run, all of it in memory already."""
    import pytrec_eval

    chance = random.Random(13)
    times = []
    for _ in range(options.labels):
        query = chance.randrange(len(ranked))
        rows = ranked[query].tolist()
        runs = [
            {"q": {f"d{d:06}": 1.0 - rank / options.depth for rank, d in enumerate(row)}}
            for row in rows
        ]
        shown = sorted({document for row in rows for document in row[:20]})
        judged = {f"d{d:06}": chance.randrange(5) for d in shown[: options.judged]}
        began = time.perf_counter()
        evaluator = pytrec_eval.RelevanceEvaluator({"q": judged}, PYTREC_MEASURES)
        for run in runs:
            evaluator.evaluate(run)
        times.append(time.perf_counter() - began)
    return times


def _percentiles(seconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {
        "p50": 1e3 * statistics.median(seconds),
        "p95": 1e3 * cuts[-1],
        "max": 1e3 * max(seconds),
    }


def _line(found: dict[str, Any]) -> str:
    own, theirs = found["refresh_ms"], found["pytrec_eval_ms"]
    return (
        f"{found['engine']}: {found['runs']} runs × {found['queries']:,} queries: "
        f"refresh p50 {own['p50']:.1f} p95 {own['p95']:.1f} max {own['max']:.1f} ms; "
        f"commit p50 {found['commit_ms']['p50']:.1f} ms; "
        f"pytrec_eval, storing nothing, p50 {theirs['p50']:.1f} p95 {theirs['p95']:.1f} ms; "
        f"from scratch {found['from_scratch_s']:.1f} s; differing {found['differing']}; "
        f"peak {found['peak_mib']} MiB"
    )


if __name__ == "__main__":
    main()
