"""P and AP of tools for learning to rank, as they printed them for lists drawn at random.

recorded/precision_of_learning_to_rank.json says which versions, and how they were run.
"""

import json
from typing import Any

import numpy as np
import pytest

from tests.reference.record import RECORDED
from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.files import FileValues, evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.presets import preset
from touchstone.measures.tool_rules import printed

RECORD: dict[str, Any] = json.loads(
    (RECORDED / "precision_of_learning_to_rank.json").read_text(encoding="utf-8")
)
CUTOFFS: list[int] = RECORD["cutoffs"]


def evaluated(lists: list[dict[str, Any]], name: str, measures: list[str]) -> FileValues:
    rows = [
        (f"{query:03}", f"d{rank:03}", grade, 1000 - rank)
        for query, own in enumerate(lists)
        for rank, grade in enumerate(own["grades"])
    ]
    qrels = "\n".join(f"{query} {document} {grade}" for query, document, grade, _ in rows)
    ranked = "\n".join(f"{query} {document} {score}" for query, document, _, score in rows)
    return evaluate_file(
        judged(qrels), run(ranked), [parse_measure(one) for one in measures], preset(name)
    )


@pytest.mark.parametrize("name", ["xgboost_ndcg", "xgboost_ndcg_minus"])
def test_xgboost_is_met_to_the_last_bit_where_labels_are_0_and_1(name: str) -> None:
    lists = RECORD["xgboost"]["lists"]
    if name == "xgboost_ndcg_minus":  # of a list without gain it says something else
        lists = [own for own in lists if "1" in own["grades"]]
    assert len(lists) > 60
    names = [f"{family}@{k}" for family in ("P", "AP") for k in CUTOFFS]
    own = evaluated(lists, name, names)
    for row, expected in enumerate(lists):
        assert own.values[row].tolist() == [*expected["P"], *expected["AP"]], expected


def test_the_script_of_mslr_is_met_in_all_that_it_prints() -> None:
    record = RECORD["mslr_eval"]
    names = [f"P@{k}" for k in CUTOFFS] + ["AP"]
    own = evaluated(record["lists"], "mslr_eval", names)
    tool = preset("mslr_eval")
    for row, expected in enumerate(record["lists"]):
        found = np.array([float(f"{value:.4f}") for value in own.values[row]])
        assert found.tolist() == [*expected["P"], expected["AP"]], expected
    means = printed(tool, np.array(own.means, np.float64))
    expected = [*record["average"]["P"], record["average"]["AP"]]
    assert [float(f"{mean:.4f}") for mean in means] == expected
