"""Hostile runs and qrels: numbers, columns, blanks, ids, comments, duplicates."""

from collections.abc import Iterator
from typing import Final

from tests.touchstone.files.hostile import Case
from touchstone.files.reading import Limits

NOT_FINITE: Final = ("nan", "NaN", "-nan", "inf", "-inf", "+Inf", "Infinity", "-INFINITY")
TOO_LARGE: Final = ("1e400", "-1e400", "1e309", "9" * 400, "1" + "0" * 60_000)
NO_SCORE: Final = (
    "1_000.5",
    "1,5",
    "1.2.3",
    "1e",
    "1e+",
    "e5",
    ".",
    "-",
    "+",
    "--1",
    "+-1",
    "1f",
    "1d0",
    "1L",
    "0x10",
    "0x1p3",
    "0b1",
    "1e5.5",
    "nan(1)",
    "infinit",
    "∞",
    "٣",
    "1٣",
    "３",
    "²",
    "½",
    "−1",
    "1\u00a0",
    "\u20281",
    "1/2",
    "50%",
    "$1",
    "None",
    "null",
    "true",
    "'1'",
    '"1"',
    "(1)",
    "1j",
    "1;",
    "#1",
    "9" * 60_000 + "x",
    "1e" + "9" * 60_000 + "x",
    "0." + "9" * 60_000 + "x",
)
ODD_SCORES: Final = ("1.", "+.5E-3", "-0", "007", "5e-324", "1e-400", "1E+05", "0" * 60_000)
NO_GRADE: Final = (
    "1.0",
    "1e0",
    "0.5",
    "1_0",
    "٣",
    "３",
    "²",
    "−1",
    "nan",
    "inf",
    "x",
    "-",
    "--1",
    "0x1",
    "1,0",
    "True",
    "#",
    "2147483648",
    "-2147483648",
    "99999999999999999999",
    "9" * 60_000,
)
ODD_GRADES: Final = ("+1", "-2", "-0", "007", "2147483647", "0000000000001")
NOT_BLANKS: Final = {
    "a no-break space": "\u00a0",
    "a line separator": "\u2028",
    "a paragraph separator": "\u2029",
    "a wide space": "\u3000",
    "a thin space": "\u2009",
    "a next-line character": "\x85",
    "a vertical tab": "\x0b",
    "a form feed": "\x0c",
    "a file separator": "\x1c",
    "a comma": ",",
    "a semicolon": ";",
    "a zero-width space": "\u200b",
}
NOT_IN_IDS: Final = {
    "a vertical tab": "\x0b",
    "a form feed": "\x0c",
    "a bell": "\x07",
    "an escape": "\x1b[31m",
    "a unit separator": "\x1f",
    "a delete": "\x7f",
    "a next-line character": "\x85",
    "a byte order mark": "\ufeff",
}
ODD_IDS: Final = {
    "a no-break space": "a\u00a0b",
    "a line separator": "a\u2028b",
    "right to left": "\u202ea",
    "an emoji family": "👩\u200d👧",
    "markup": "<script>alert(1)</script>",
    "SQL": "';DROP--",
    "a formula": "=1+1",
    "a path": "../../etc/passwd",
    "a hash sign": "#1",
    "200 characters": "字" * 200,
    "a noncharacter": "\uffff",
    "a decomposed letter": "e\u0301",
}


def all_cases() -> list[Case]:
    """Every case of the two TREC formats."""
    return [
        *_score_cases(),
        *_grade_cases(),
        *_column_cases(),
        *_id_cases(),
        *_comment_cases(),
        *_duplicate_cases(),
        *_rest_cases(),
        *_memory_cases(),
    ]


def _shown(text: str) -> str:
    return ascii(text if len(text) < 30 else f"{text[:3]} to {text[-3:]} of {len(text)}")


def _run(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def _score_cases() -> Iterator[Case]:
    for rule, scores in (("not-finite", (*NOT_FINITE, *TOO_LARGE)), ("score", NO_SCORE)):
        for score in scores:
            content = _run("1 Q0 a 1 1 t", f"1 Q0 b 2 {score} t", "1 Q0 c 1 1 t")
            yield Case(f"the score {_shown(score)}", "run", content, rule, 2, 10)
    for rank in ("1.0", "1e0", "1_0", "x"):
        content = _run("1 a 1", f"1 b {rank}", "1 c 3")
        yield Case(f"the rank {_shown(rank)}", "run", content, "rank", 2, 5)
    for score in ODD_SCORES:
        yield Case(f"the score {_shown(score)}", "run", _run(f"1 Q0 a 1 {score} t"), None)


def _grade_cases() -> Iterator[Case]:
    for grade in NO_GRADE:
        content = _run("1 0 a 1", f"1 0 b {grade}", "1 0 c 1")
        yield Case(f"the grade {_shown(grade)}", "qrels", content, "grade", 2, 7)
    for grade in ODD_GRADES:
        yield Case(f"the grade {_shown(grade)}", "qrels", _run(f"1 0 a {grade}"), None)
    for grade in ("5", "-1", "127", "100000"):
        content = _run("1 0 a 4", f"1 0 b {grade}")
        yield Case(f"the grade {grade}", "qrels 0..4", content, "scale", 2)
    yield Case("all grades", "qrels 0..4", _run(*(f"1 0 {g} {g}" for g in range(5))), None)


def _column_cases() -> Iterator[Case]:
    for name, blank in NOT_BLANKS.items():
        content = _run("1 Q0 a 1 1 t", blank.join(("1", "Q0", "b", "2", "1", "t")))
        yield Case(f"columns parted by {name}", "run", content, "columns", 2)
        content = _run("1 0 a 1", blank.join(("1", "0", "b", "2")))
        yield Case(f"columns parted by {name}", "qrels", content, "columns", 2)
    for count in (1, 2, 3, 4, 5, 7, 8, 10_000):
        content = _run("1 Q0 a 1 1 t", " ".join(["1"] * count))
        yield Case(f"{count} columns", "run", content, "columns", 2)
    for count in (1, 2, 3, 5, 6, 10_000):
        content = _run("1 0 a 1", " ".join(["1"] * count))
        yield Case(f"{count} columns", "qrels", content, "columns", 2)
    yield Case("qrels for a run", "run", _run("1 0 a 1"), "columns")
    yield Case("a run for qrels", "qrels", _run("1 Q0 a 1 1 t"), "columns")
    yield Case("a header", "qrels", _run("query-id\tcorpus-id\tscore", "1\ta\t1"), "columns")
    yield Case("a header of four", "qrels", _run("query 0 doc rel", "1 0 a 1"), "grade")
    yield Case("JSON", "run", b'{"1": {"a": 1.0}}\n', "columns")
    yield Case("many blanks", "run", b" \t 1\t \tQ0  a\t\t1   1 \t t  \t\n", None)
    yield Case("many blanks", "qrels", b" \t 1\t \t0.5  a\t\t-1 \t \n", None)
    yield Case("any second and fourth", "run", _run("1 é a ½ 1 t"), None)


def _id_cases() -> Iterator[Case]:
    for name, piece in NOT_IN_IDS.items():
        run = _run("1 Q0 a 1 1 t", f"1 Q0 b{piece}c 2 1 t")
        yield Case(f"a document with {name}", "run", run, "id", 2, 6)
        run = _run("1 Q0 a 1 1 t", f"1{piece} Q0 b 2 1 t")
        yield Case(f"a query with {name}", "run", run, "id", 2, 1)
        run = _run("1 Q0 a 1 1 t", f"1 Q0 b 2 1 t{piece}")
        yield Case(f"a tag with {name}", "run", run, "id", 2, 12)
        qrels = _run("1 0 a 1", f"1 0 b{piece}c 2")
        yield Case(f"a document with {name}", "qrels", qrels, "id", 2, 5)
    long = "d" * 201
    yield Case("a document of 201", "run", _run("1 Q0 a 1 1 t", f"1 Q0 {long} 1 1 t"), "id", 2, 6)
    yield Case("a query of 201", "run", _run("1 Q0 a 1 1 t", f"{long} Q0 a 1 1 t"), "id", 2, 1)
    yield Case("a tag of 201", "run", _run("1 Q0 a 1 1 t", f"1 Q0 b 1 1 {long}"), "id", 2, 12)
    yield Case("a document of 201", "qrels", _run("1 0 a 1", f"1 0 {long} 1"), "id", 2, 5)
    for name, odd in ODD_IDS.items():
        yield Case(f"an id with {name}", "run", _run(f"1 Q0 {odd} 1 1 {odd}"), None)
        yield Case(f"an id with {name}", "qrels", _run(f"1 0 {odd} 1"), None)


def _comment_cases() -> Iterator[Case]:
    data = "looks like data"
    yield Case(data, "run", _run("1 Q0 a 1 1 t", "#1 Q0 a 1 1 t"), "comment", 2, 1)
    yield Case(data, "qrels", _run("1 0 a 1", "  #1 0 a 1"), "comment", 2, 3)
    yield Case(
        "a comment of six words", "run", _run("# one two three four five", "1 Q0 a 1 1 t"), None
    )
    yield Case("comments alone", "run", _run("# a", "#", "#b"), "empty")
    yield Case("a hash sign later", "qrels", _run("1 # #a 1"), None)


def _duplicate_cases() -> Iterator[Case]:
    yield Case("twice in a row", "run", _run("1 Q0 a 1 2 t", "1 Q0 a 2 1 t"), "duplicate", 2)
    yield Case("the same line twice", "qrels", _run("1 0 a 1", "1 0 a 1"), "duplicate", 2)
    yield Case("two grades", "qrels", _run("1 0 a 1", "1 1 a 2"), "duplicate", 2)
    between = _run("1 Q0 a 1 2 t", "2 Q0 a 1 2 t", "# c", "", "1\tQ0\ta\t2\t1\tt")
    yield Case("other queries between", "run", between, "duplicate", 5)
    many = [f"{q} Q0 d{d} 1 1 t" for q in range(300) for d in range(100)]
    far = _run(*many, "7 Q0 d13 1 1 t")
    yield Case("30,000 lines between", "run", far, "duplicate", 30_001)
    yield Case("the whole file twice", "run", _run(*many[:5000], *many[:5000]), "duplicate", 5001)
    yield Case("another case of letters", "run", _run("1 Q0 a 1 1 t", "1 Q0 A 1 1 t"), None)
    yield Case("another form of é", "run", _run("1 Q0 é 1 1 t", "1 Q0 e\u0301 1 1 t"), None)
    yield Case("another query", "run", _run("1 Q0 a 1 1 t", "01 Q0 a 1 1 t"), None)
    late = _run("1 Q0 a 1 2 t", "1 Q0 a 2 1 t", "1 Q0 b 1 x t")
    yield Case("a duplicate before a wrong score", "run", late, "duplicate", 2)


def _rest_cases() -> Iterator[Case]:
    kind = "run with a rest"
    yield Case("words after the tag", kind, _run("1 Q0 a 1 1 t and more"), None)
    yield Case("a blank in the document", kind, _run("1 Q0 my doc 1 1 t"), "columns")
    yield Case("five columns", kind, _run("1 Q0 a 1 1"), "columns")
    yield Case("a comment like data", kind, _run("#1 Q0 a 1 1 t more"), "comment")


def _memory_cases() -> Iterator[Case]:
    small = Limits(memory=50_000)
    distinct = _run(*(f"1 Q0 {n} 1 1 t" for n in range(2000)))
    yield Case("more than fits into memory", "run", distinct, "too-much", 2000, limits=small)
