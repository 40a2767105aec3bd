"""The presets of tools that are given arrays, against the tools, on random queries with ties.

They run where the tools are installed; what the tools printed for one small file is recorded, and
is met everywhere (test_recorded).
"""

import random
from typing import Any

import numpy as np
import pytest

from tests.touchstone.measures.file_builders import judged, run
from touchstone.files.trec import RunFile
from touchstone.measures.files import FileValues, evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import preset

QUERIES = 150
CUTOFFS = (1, 3, 5, 10, 20)
Lists = dict[str, list[tuple[int, float]]]


@pytest.fixture(scope="module")
def lists() -> Lists:
    """For each query the grade and the score of every document, best first; scores tie."""
    rng = random.Random(3)
    return {
        f"q{number:03}": [
            (rng.choice((0, 0, 0, 1, 2, 3, 4)), score)
            for score in sorted((rng.randint(0, 20) / 4 for _ in range(size)), reverse=True)
        ]
        for number in range(QUERIES)
        for size in [rng.randint(2, 60)]
    }


@pytest.fixture(scope="module")
def files(lists: Lists) -> tuple[JudgedQueries, RunFile]:
    rows = [(q, f"d{i}", g, s) for q, own in lists.items() for i, (g, s) in enumerate(own)]
    return (
        judged("\n".join(f"{q} {d} {g}" for q, d, g, _ in rows)),
        run("\n".join(f"{q} {d} {s!r}" for q, d, _, s in rows)),
    )


def found(files: tuple[JudgedQueries, RunFile], name: str, k: int) -> FileValues:
    return evaluate_file(*files, [parse_measure(f"nDCG@{k}")], preset(name))


@pytest.mark.parametrize("k", CUTOFFS)
def test_scikit_learn_is_met_in_every_query(
    k: int, lists: Lists, files: tuple[JudgedQueries, RunFile]
) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    own = found(files, "sklearn_ndcg_score", k)
    assert own.counts == (QUERIES,)
    for row, query_id in enumerate(own.query_ids):
        grades, scores = (np.array([column]) for column in zip(*lists[query_id], strict=True))
        expected = metrics.ndcg_score(grades, scores, k=k)
        assert own.values[row, 0] == pytest.approx(expected, abs=1e-15), (query_id, k)


def test_lightgbm_is_met_in_every_query(lists: Lists, files: tuple[JudgedQueries, RunFile]) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    own = {k: found(files, "lightgbm", k) for k in CUTOFFS}
    for row, query_id in enumerate(own[1].query_ids):
        expected = by_lightgbm(lightgbm, lists[query_id])
        values = {k: float(own[k].values[row, 0]) for k in CUTOFFS}
        assert values == expected, query_id


def by_lightgbm(lightgbm: Any, documents: list[tuple[int, float]]) -> dict[int, float]:
    """Its ndcg of one list: what a model that has learned nothing says of given scores."""
    grades, scores = (np.array(column) for column in zip(*documents, strict=True))
    data = lightgbm.Dataset(
        np.arange(len(grades), dtype=float)[:, None],
        label=grades,
        group=[len(grades)],
        init_score=scores,
        free_raw_data=False,
        params={"min_data_in_bin": 1, "min_data_in_leaf": 1, "verbose": -1},
    )
    seen: dict[str, Any] = {}
    lightgbm.train(
        {
            "objective": "lambdarank",
            "metric": "ndcg",
            "eval_at": list(CUTOFFS),
            "verbose": -1,
            "learning_rate": 1e-300,
            "num_leaves": 2,
            "num_threads": 1,
        },
        data,
        num_boost_round=1,
        valid_sets=[data],
        valid_names=["one"],
        callbacks=[lightgbm.record_evaluation(seen)],
    )
    return {k: float(seen["one"][f"ndcg@{k}"][0]) for k in CUTOFFS}
