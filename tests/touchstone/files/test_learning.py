"""Files that rankers are trained on, read again by those that train."""

import io
import zipfile

import lightgbm
import pytest
from sklearn.datasets import load_svmlight_file

from touchstone.files.errors import FileRefused
from touchstone.files.learning import NothingToLearn, read_features, write_learning
from touchstone.files.rating_rows import JudgedPair

PAIRS = [
    JudgedPair("q2", "", "d1", 4),
    JudgedPair("q1", "", "d2", -2),
    JudgedPair("q1", "", "d1", 3),
    JudgedPair("q1", "", "d9", 1),
]
CSV = b"doc_id,bm25,query_id,age\nd1,0.5,q1,3\nd2,1e-3,q1,\nd1,2,q2,-1\nd7,1,q2,1\n"


def unpacked(kind, folder):
    features = read_features(io.BytesIO(CSV), name="file")
    with zipfile.ZipFile(io.BytesIO(write_learning(kind, PAIRS, features))) as archive:
        archive.extractall(folder)
    return folder / "judgments.txt"


def test_ranklib_gets_letors_lines(tmp_path) -> None:
    file = unpacked("ranklib", tmp_path)
    assert file.read_text().splitlines() == [
        "3 qid:1 1:0.5 2:3 # q1 d1",
        "0 qid:1 1:1e-3 # q1 d2",
        "4 qid:2 1:2 2:-1 # q2 d1",
    ]
    assert (tmp_path / "features.tsv").read_text() == "1\tbm25\n2\tage\n"
    assert "1 judged pairs had no features" in (tmp_path / "README.txt").read_text()


def test_what_xgboost_gets_is_read_by_scikit_learn(tmp_path) -> None:
    file = unpacked("xgboost", tmp_path)
    rows, grades, queries = load_svmlight_file(str(file), query_id=True)
    assert rows.toarray().tolist() == [[0.5, 3], [0.001, 0], [2, -1]]
    assert (grades.tolist(), queries.tolist()) == ([3, 0, 4], [1, 1, 2])
    assert (tmp_path / "judgments.txt.group").read_text() == "2\n1\n"


def test_lightgbm_finds_its_groups_beside_the_file(tmp_path) -> None:
    file = unpacked("lightgbm", tmp_path)
    data = lightgbm.Dataset(str(file), params={"verbosity": -1, "min_data_in_bin": 1}).construct()
    assert data.get_group().tolist() == [2, 1]
    assert data.get_label().tolist() == [3, 0, 4]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [(1, "header")]),
        (b"query_id,doc_id\nq,d\n", [(1, "header")]),
        (b"query_id,doc_id,a,a\n", [(1, "header")]),
        (b"query_id,doc_id,a\nq,d,nan\nq,e,1e999\nq,d,1\nq,d,2\nq,d\n",
         [(2, "not-finite"), (3, "not-finite"), (5, "duplicate"), (6, "columns")]),
        (b"query_id,doc_id,a\n#q,d,1\nq,,1\n", [(2, "id"), (3, "id")]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_features_is_named_by_its_line(content, expected) -> None:
    with pytest.raises(FileRefused) as caught:
        read_features(io.BytesIO(content), name="file")
    assert [(one.line, str(one.rule)) for one in caught.value.problems] == expected


def test_features_of_other_pairs_are_refused() -> None:
    features = read_features(io.BytesIO(b"query_id,doc_id,a\nx,y,1\n"), name="file")
    with pytest.raises(NothingToLearn):
        write_learning("ranklib", PAIRS, features)
