"""Judgments in other tools' formats: round trips, and hostile files named by their lines."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.files.errors import FileRefused
from touchstone.files.ids import id_problem, query_id_problem
from touchstone.files.rating_lines import guarded, unguarded
from touchstone.files.rating_rows import JudgedPair
from touchstone.files.ratings import (
    FORMATS,
    FormatRefused,
    get_format,
    grade_ratings,
    read_ratings,
    write_ratings,
)
from touchstone.files.signals import SignalRefusedError, Signals, SignalsRefused
from touchstone.scales import Scale

SCALE = Scale.parse("-2..4")
IDS = st.text(min_size=1, max_size=8) | st.sampled_from(["=1+1", "'=x", "''@a", "-b", "+1", "a,b"])
DOC_IDS = IDS.filter(lambda text: id_problem(text) is None)
QUERY_IDS = IDS.filter(lambda text: query_id_problem(text) is None)
TEXTS = st.text(max_size=12) | st.sampled_from(['=HYPERLINK("x")', "red, shoes", 'a "b"', "-x"])
GRADED = st.dictionaries(st.tuples(QUERY_IDS, DOC_IDS), st.sampled_from(SCALE.codes), min_size=1)


def read(name, content, *, signals=None, queries=None, scale=SCALE):
    form = get_format(name)
    ratings = read_ratings(io.BytesIO(content), form, name="file")
    qrels = grade_ratings(ratings, name="file", scale=scale, signals=signals, queries=queries)
    return sorted(qrels.pairs())


def problems(name, content, **more):
    with pytest.raises(FileRefused) as caught:
        read(name, content if isinstance(content, bytes) else content.encode(), **more)
    return [(problem.line, str(problem.rule)) for problem in caught.value.problems]


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if not form.by_text])
@settings(max_examples=40)
@given(graded=GRADED)
def test_what_is_written_is_read_again(name, graded) -> None:
    pairs = [JudgedPair(q, "", d, grade) for (q, d), grade in graded.items()]
    assert read(name, write_ratings(get_format(name), pairs)) == sorted(
        (q, d, grade) for (q, d), grade in graded.items()
    )


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.by_text])
@settings(max_examples=40)
@given(graded=GRADED, texts=st.lists(TEXTS, min_size=30, max_size=30))
def test_a_format_that_names_queries_by_text_gives_them_back(name, graded, texts) -> None:
    # a file has no NUL and no half surrogate, and neither has the database
    clean = [text.replace("\x00", "").encode(errors="ignore").decode() for text in texts]
    of_query = dict(zip(sorted({q for q, _ in graded}), clean, strict=False))
    pairs = [JudgedPair(q, of_query.get(q, ""), d, grade) for (q, d), grade in graded.items()]
    names = {pair.query_id: pair.query_name for pair in pairs}
    if len(set(names.values())) < len(names):
        with pytest.raises(FormatRefused):
            write_ratings(get_format(name), pairs)
        return
    queries = {text: [query_id] for query_id, text in names.items()}
    content = write_ratings(get_format(name), pairs)
    assert read(name, content, queries=queries) == sorted(
        (q, d, grade) for (q, d), grade in graded.items()
    )


@settings(max_examples=40)
@given(cell=st.text(max_size=6) | IDS)
def test_a_guarded_cell_is_no_formula_and_is_given_back(cell) -> None:
    assert unguarded(guarded(cell)) == cell
    assert guarded(cell)[:1] not in {"=", "@", "\t", "\r"}
    assert guarded(cell)[:1] not in {"+", "-"} or float(cell) == float(guarded(cell))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40)
@given(content=st.binary(max_size=60) | st.text("{}[]:,\"'\\ \n\t\r1aé=\ufeff", max_size=40))
def test_a_reader_takes_a_file_or_refuses_it_and_never_fails(name, content) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    try:
        found = read_ratings(io.BytesIO(raw), get_format(name), name="file")
    except FileRefused as error:
        refused = error
    else:
        assert found
        return
    assert all(problem.line >= 1 for problem in refused.problems)


def test_the_forms_that_the_tools_themselves_write_are_read() -> None:
    queries = {"fender": ["q1"], "Fender": ["q2"], "jazz bass": ["q3"]}
    rre = """{"topics": [{"query_groups": [
      {"queries": [{"placeholders": {"$query": "fender"}}, {"placeholders": {"$query": "Fender"}}],
       "relevant_documents": {"1": {"gain": 3}}},
      {"queries": [{"placeholders": {"$query": " jazz  bass "}}],
       "relevant_documents": {"2": ["7", "8"], "0": ["9"]}}]}]}"""
    expected = [("q1", "1", 3), ("q2", "1", 3), ("q3", "7", 2), ("q3", "8", 2), ("q3", "9", 0)]
    assert read("rre", rre.encode(), queries=queries) == expected
    of_quepid = """{"id_field": "id", "index": "x", "template": "t.json", "queries": [
      {"placeholders": {"$query": "fender"}, "relevant_documents": {"1": ["a", "b"]}}]}"""
    assert read("rre", of_quepid.encode(), queries=queries) == [("q1", "a", 1), ("q1", "b", 1)]
    opensearch = """{"name": "n", "type": "IMPORT_JUDGMENT", "judgmentRatings": [
      {"query": "fender", "ratings": [{"docId": "B1", "rating": "3.000"},
                                      {"docId": "B2", "rating": 0}]}]}"""
    assert read("opensearch", opensearch.encode(), queries=queries) == [
        ("q1", "B1", 3),
        ("q1", "B2", 0),
    ]
    quepid = "\ufeffquery,docid,rating\r\n fender,1,3\r\njazz bass\r\n"
    assert read("quepid", quepid.encode(), queries=queries) == [("q1", "1", 3)]
    beir = "query-id\tcorpus-id\tscore\nq1\td1\t2\n"
    assert read("beir", beir.encode()) == [("q1", "d1", 2)]
    columns = 'grade,note,doc_id,query_id\n2,"two\nlines",d1,q1\n1.0,,d2,q1\n'
    assert read("csv", columns.encode()) == [("q1", "d1", 2), ("q1", "d2", 1)]


RATED = '[{"docId": "B1", "rating": "3.000"}, {"rating": 0, "docId": "B2"}]'
SCORED = '[{"docId": "B1", "score": "3.000"}, {"score": "0.000", "docId": "B2"}]'
LISTED = f'"judgmentRatings": [{{"query": "fender", "ratings": {RATED}}}]'


@pytest.mark.parametrize(
    "content",
    [
        f"{{{LISTED}}}",
        (
            f'{{"took": 36, "hits": {{"total": {{"value": 1}}, "hits": [{{"_id": "b5", '
            f'"_source": {{"id": "b5", "status": "COMPLETED", {LISTED}}}}}]}}}}'
        ),
        f'{{"hits": {{"hits": [{{{LISTED}}}]}}}}',
        f'{{"judgmentRatings": {{"fender": {RATED}}}}}',
        f'{{"judgmentScores": {{"fender": {SCORED}}}}}',
        '{"judgmentRatings": {"fender": {"B1": "3.000", "B2": 0}}}',
    ],
    ids=["imported", "answered", "hits without source", "by query", "scores", "by document"],
)
def test_every_form_of_opensearchs_ratings_is_recognised(content) -> None:
    found = read("opensearch", content.encode(), queries={"fender": ["q1"]})
    assert found == [("q1", "B1", 3), ("q1", "B2", 0)]


def test_a_rating_is_compared_with_its_signal_as_a_number() -> None:
    scale = Scale.parse("0..3")
    signals = Signals.parse("100=3, 50.5=2, 0=0, high=1", scale=scale)
    assert signals is not None
    same = ("100", "100.000", "1e2", "+100", " 100.0 ")
    assert [signals.grade(text) for text in same] == [3] * 5
    assert [signals.grade(text) for text in ("50.50", "0.000", "-0", "high")] == [2, 0, 0, 1]
    for text in ("100.001", "High", "1e400"):
        with pytest.raises(SignalRefusedError):
            signals.grade(text)


def test_one_number_written_in_two_ways_has_one_grade() -> None:
    with pytest.raises(SignalsRefused):
        Signals.parse("100=3, 100.0=2", scale=Scale.parse("0..3"))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("opensearch", '{"hits": {"hits": [\n{"_source": {}}]}}', [(2, "field")]),
        ("opensearch", '{"hits": {"hits": []}}', [(1, "empty")]),
        ("opensearch", '{"judgmentRatings": {"one":\n7}}', [(2, "field")]),
        ("csv", "q1,d1,nan\nq1,d2,1e999\nq1,d3,2.5\nq1,d4,9\n",
         [(1, "grade"), (2, "grade"), (3, "grade"), (4, "scale")]),
        ("csv", "q1,d1\n\nq1,d2,1,x\n", [(1, "columns"), (3, "columns")]),
        ("csv", "q1,d1,1\nq2,d1,1\nq1,d1,2\n", [(3, "duplicate")]),
        ("csv", 'q1,"d1,1\n', [(1, "columns")]),
        ("csv", "#q,d1,1\nq1,,1\nq1,a b,1\n", [(1, "id"), (2, "id"), (3, "id")]),
        ("csv", "", [(1, "empty")]),
        ("csv", "query_id,doc_id,grade\n", [(1, "empty")]),
        ("csv", b"q1,d\xff,1\n", [(1, "encoding")]),
        ("jsonl", '{"query_id": "q", "doc_id": "d"}\n{"query_id": "q"\n[1]\n',
         [(1, "field"), (2, "json"), (3, "json")]),
        ("jsonl", '{"query_id": "q", "doc_id": "d", "grade": true}\n', [(1, "field")]),
        ("jsonl", '{"query_id": "q", "doc_id": "d", "grade": NaN}\n', [(1, "number")]),
        ("beir", "query-id\tcorpus-id\tscore\nq1 d1 1\n", [(2, "columns")]),
        ("quepid", "query,docid,rating\nnone,1,3\ntwo,1,3\n",
         [(2, "unknown-query"), (3, "ambiguous-query")]),
        ("opensearch", "[]", [(1, "field")]),
        ("opensearch", '{"judgmentRatings":\n[{"query": "a",\n"query": "b"}]}', [(3, "key")]),
        ("opensearch", '{"judgmentRatings":\n[1,\n{"query": "one", "ratings": [{}]}]}',
         [(2, "field"), (3, "field")]),
        ("opensearch", "[" * 100_000, [(1, "depth")]),
        ("opensearch", '{"a": "\\ud800"}', [(1, "surrogate")]),
        ("opensearch", '{"a": 1e999}', [(1, "number")]),
        ("opensearch", '\n{"a": "', [(2, "json")]),
        ("opensearch", '{"a": 1} {', [(1, "json")]),
        ("opensearch", '{"a": [1,]}', [(1, "json")]),
        ("rre", '{"queries": [{"placeholders": {}, "relevant_documents": {"1": ["a"]}}]}',
         [(1, "field")]),
        ("rre", '{"topics": [\n{"queries": [{"placeholders": {"$query": "one"}}]}]}',
         [(2, "field")]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_its_line(name, content, expected) -> None:
    queries = {"one": ["q1"], "two": ["q2", "q3"]}
    by_text = get_format(name).by_text
    assert problems(name, content, queries=queries if by_text else None) == expected


def test_signals_become_grades_by_what_was_said_of_them() -> None:
    letters = Signals.parse("E=3, S=2\nC=1; I=0", scale=SCALE)
    assert letters is not None
    assert letters.steps() == [("E", 3), ("S", 2), ("C", 1), ("I", 0)]
    assert read("csv", b"q1,d1,E\nq1,d2,I\n", signals=letters) == [("q1", "d1", 3), ("q1", "d2", 0)]
    assert problems("csv", "q1,d1,E\nq1,d2,X\n", signals=letters) == [(2, "signal")]
    seconds = Signals.parse(">=0=0, >=60=3, >=12.5=1", scale=SCALE)
    assert seconds is not None
    assert seconds.steps() == [(">=60", 3), (">=12.5", 1), (">=0", 0)]
    values = {"12.5": 1, "12.4": 0, "60": 3, "1e9": 3}
    assert {text: seconds.grade(text) for text in values} == values
    for text in ("-1", "nan", "inf", "1e999", "", "long"):
        with pytest.raises(SignalRefusedError):
            seconds.grade(text)
    assert read("trec", b"q1 0 d1 75\n", signals=seconds) == [("q1", "d1", 3)]
    assert Signals.parse(" \n", scale=SCALE) is None


@pytest.mark.parametrize(
    "text",
    ["E", "E=", "=3", "E=9", "E=3, E=2", ">=a=1", ">=nan=1", ">=1=1, E=2", ">=1=3, >=2=1",
     "a" * 101 + "=1", ",".join(f"a{i}=1" for i in range(101)), "E=3" * 1000],
)  # fmt: skip
def test_signals_that_say_nothing_or_contradict_themselves_are_refused(text) -> None:
    with pytest.raises(SignalsRefused):
        Signals.parse(text, scale=SCALE)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(FormatRefused, match="trec, csv"):
        get_format("xlsx")
