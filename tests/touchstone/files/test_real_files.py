"""The public collections: all that they hold is read, and their known faults are named."""

from collections import Counter
from pathlib import Path

import pytest

from touchstone.files.collections import read_documents, read_queries
from touchstone.files.errors import FileRefused
from touchstone.files.trec import read_qrels, read_run
from touchstone.scales import Scale

pytestmark = pytest.mark.data

# file: its grades and how often each is there, as its README or its publisher says
QRELS = {
    "cast-2021/raw/trec-cast-qrels-docs.2021.qrel.gz": {
        0: 13829,
        1: 2072,
        2: 1710,
        3: 1007,
        4: 716,
    },
    "web-2012/raw/qrels.web.151-200.txt.gz": {-2: 858, 0: 11674, 1: 2208, 2: 405, 3: 52, 4: 858},
    "trec-covid-r1-sample/raw/qrels-rnd1.txt.gz": {0: 6339, 1: 1115, 2: 1237},
    "clef-ehealth-2018/raw/CLEF2018_qrel_20180914.txt.gz": {0: 13316, 1: 5775, 2: 6934},
    "cranfield/derived/qrels_0to4.txt": {1: 363, 2: 734, 3: 387, 4: 128},
    "chorus-ecommerce/derived/qrels_final_0to3.txt": {0: 1471, 1: 198, 2: 93, 3: 1426},
    "chorus-ecommerce/derived/qrels_rated_0to3.txt": {0: 1853, 1: 238, 2: 105, 3: 1472},
    "trec-eval-reference/raw/qrels.test": {0: 3120, 1: 561},
    "trec-eval-reference/raw/qrels.test.with-comments": {0: 3120, 1: 561},
    "trec-eval-reference/raw/qrels.rel_level": {-1: 304, 0: 2818, 1: 462, 2: 14, 3: 77, 4: 6},
    "reference/nasty/nasty.qrels": {-2: 2, -1: 3, 0: 68, 1: 25, 2: 21, 3: 16, 4: 14},
}
# folder: how many runs, lines and queries
RUNS = {
    "cast-2021/raw/runs": (5, 81_112, 5 * 239),
    "chorus-ecommerce/generated-runs": (6, 61_524, 767),
    "cranfield/generated-runs": (6, 133_611, 6 * 225),
    "trec-covid-r1-sample/raw/runs": (17, 356_576, 17 * 30),
}
WITH_DUPLICATES = {
    "CUNI_en.run1.gz": (111, 202, 201),
    "CUNI_en.run2.gz": (111, 202, 201),
    "CUNI_en.run3.gz": (56, 203, 202),
    "UEvoraIRtask1run1.res.gz": (166, 202, 201),
    "terrier_BM25_noqe.out.gz": (55, 203, 202),
    "terrier_DirichletLM_noqe.out.gz": (111, 202, 201),
    "terrier_TF_IDF_noqe.out.gz": (56, 203, 202),
}


@pytest.mark.parametrize(("path", "grades"), QRELS.items(), ids=QRELS)
def test_real_qrels_have_the_grades_that_are_known(
    data_dir: Path, path: str, grades: dict[int, int]
) -> None:
    qrels = read_qrels(data_dir / path, name=path, scale=Scale.parse("-2..4"))
    assert Counter(qrels.grades.tolist()) == grades


def test_grades_below_zero_are_refused_on_the_default_scale(data_dir: Path) -> None:
    path = data_dir / "web-2012/raw/qrels.web.151-200.txt.gz"
    with pytest.raises(FileRefused) as refused:
        read_qrels(path, name="web", scale=Scale.default())
    assert refused.value.total == 858
    assert {problem.rule for problem in refused.value.problems} == {"scale"}


@pytest.mark.parametrize(("folder", "counts"), RUNS.items(), ids=RUNS)
def test_real_runs_are_read_whole(
    data_dir: Path, folder: str, counts: tuple[int, int, int]
) -> None:
    runs = [read_run(path, name=path.name) for path in sorted((data_dir / folder).iterdir())]
    found = (len(runs), sum(map(len, runs)), sum(len(run.query_ids) for run in runs))
    assert found == counts


def test_the_runs_of_web_2012_are_read_whole(data_dir: Path) -> None:
    runs = [read_run(path, name=path.name) for path in (data_dir / "web-2012/raw/runs").iterdir()]
    assert (len(runs), sum(map(len, runs))) == (8, 259_144)
    assert {run.tag for run in runs} == {"indri"}
    assert {len(run.query_ids) for run in runs} == {50}


def test_the_runs_with_a_document_twice_are_refused_and_the_others_read(data_dir: Path) -> None:
    found = {}
    paths = sorted((data_dir / "clef-ehealth-2018/trimmed/runs-top100").iterdir())
    for path in paths:
        if path.name not in WITH_DUPLICATES:
            run = read_run(path, name=path.name)
            assert len(run) == (493 if path.name.startswith("Base_Bing") else 5000)
            continue
        with pytest.raises(FileRefused) as refused:
            read_run(path, name=path.name)
        first = refused.value.problems[0]
        assert {problem.rule for problem in refused.value.problems} == {"duplicate"}
        assert str(first).startswith(f"{path.name}:{first.line}: duplicate: document “")
        earlier = int(first.message.removesuffix(".").rsplit(" ", 1)[1])
        found[path.name] = (refused.value.total, first.line, earlier)
    assert found == WITH_DUPLICATES
    assert len(paths) == 19


def test_trec_evals_own_runs_are_read_and_text_after_the_tag_only_where_asked_for(
    data_dir: Path,
) -> None:
    folder = data_dir / "trec-eval-reference/raw"
    assert len(read_run(folder / "results.test", name="results")) == 1500
    with pytest.raises(FileRefused) as refused:
        read_run(folder / "results.trunc", name="results")
    assert {problem.rule for problem in refused.value.problems} == {"columns"}
    run = read_run(folder / "results.trunc", name="results", text_after_tag=True)
    assert (len(run), run.tag) == (584, "STANDARD")


def test_the_nasty_run_keeps_its_odd_ids_and_scores(data_dir: Path) -> None:
    run = read_run(data_dir / "reference/nasty/nasty.run", name="nasty")
    assert (len(run), len(run.query_ids)) == (132, 16)
    assert "ünï-15" in run.query_ids
    assert {"日本", "é1", "😀"} <= set(run.documents.texts())


@pytest.mark.parametrize(("name", "count"), [("cranfield", 225), ("chorus-ecommerce", 135)])
def test_real_queries_are_read(data_dir: Path, name: str, count: int) -> None:
    queries = list(read_queries(data_dir / name / "derived/queries.tsv", name=name))
    assert len(queries) == count
    assert all(query.text and query.weight == 1.0 for query in queries)


def test_the_abstracts_of_cranfield_are_read(data_dir: Path) -> None:
    path = data_dir / "cranfield/derived/docs.jsonl.gz"
    documents = {document.doc_id: document for document in read_documents(path, name="docs")}
    assert len(documents) == 1400
    assert {doc_id for doc_id, document in documents.items() if not document.text} == {"471", "995"}
    assert documents["1"].fields["author"] == "brenckman,m."


def test_the_products_of_chorus_are_read(data_dir: Path) -> None:
    path = data_dir / "chorus-ecommerce/derived/docs.jsonl.gz"
    documents = list(read_documents(path, name="docs"))
    assert len(documents) == 19_406
    assert all(document.title for document in documents)
    assert documents[0].fields["price"] == 4995


def test_what_is_no_collection_is_refused_with_its_first_line(data_dir: Path) -> None:
    for path in ("cranfield/raw/cran.qry", "web-2012/raw/topics.web.151-200.txt"):
        with pytest.raises(FileRefused) as refused:
            list(read_queries(data_dir / path, name=path))
        assert (refused.value.problems[0].line, refused.value.problems[0].rule) == (1, "columns")
    with pytest.raises(FileRefused) as refused:
        read_qrels(data_dir / "cranfield/raw/cranqrel", name="cranqrel")
    assert (refused.value.total, refused.value.problems[0].rule) == (1837, "columns")
