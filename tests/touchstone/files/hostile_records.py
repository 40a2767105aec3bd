"""Hostile queries and documents: JSON, headers, columns, ids, texts, weights."""

from collections.abc import Iterator
from typing import Final

from tests.touchstone.files.hostile import Case
from tests.touchstone.files.hostile_trec import NOT_IN_IDS, ODD_IDS
from touchstone.files.reading import Limits

DEEP: Final = "[" * 100_000 + "]" * 100_000

# What stands for X in {"id": "b", "x": X}; the rule, and the column where it is known.
VALUES: Final = {
    "100,000 levels": (DEEP, "depth"),
    "100,000 levels without an end": ("[" * 100_000, "depth"),
    "100,000 objects": ('{"a":' * 100_000 + "1" + "}" * 100_000, "depth"),
    "21 levels": ("[" * 20 + "]" * 20, "depth"),
    "levels after brackets in a string": ('["' + "]" * 50 + '",' + "[" * 30, "depth"),
    "levels after an escaped quote": ('["\\"", ' + "[" * 30, "depth"),
    "a key twice": ('{"a": 1, "b": 2, "a": 1}', "key"),
    "a key twice, once escaped": ('{"a": 1, "\\u0061": 2}', "key"),
    "NaN": ("NaN", "number"),
    "Infinity": ("Infinity", "number"),
    "-Infinity": ("-Infinity", "number"),
    "1e400": ("1e400", "number"),
    "-1e400": ("-1e400", "number"),
    "a long fraction": ("9" * 400 + ".0", "number"),
    "an integer of 65 bits": (str(2**64), "number"),
    "an integer of 10,000 digits": ("9" * 10_000, "number"),
    "a large negative integer": (str(-(2**63)), "number"),
    "an escaped NUL": ('"\\u0000"', "nul"),
    "an escaped NUL as a key": ('{"\\u0000": 1}', "nul"),
    "an escaped NUL deep inside": ('[[{"a": ["x\\u0000y"]}]]', "nul"),
    "half a surrogate pair": ('"\\ud800"', "surrogate"),
    "the other half": ('"\\udc00"', "surrogate"),
    "halves in the wrong order": ('"\\ude00\\ud83d"', "surrogate"),
    "half a pair as a key": ('{"\\uD83D": 1}', "surrogate"),
    "a raw tab in a string": ('"a\tb"', "json"),
    "a raw control character": ('"a\x01b"', "json"),
    "an unknown escape": ('"\\x41"', "json"),
    "half an escape": ('"\\u12"', "json"),
    "quotes of another kind": ("'a'", "json"),
    "a bare word": ("yes", "json"),
    "Python's None": ("None", "json"),
    "a number with underscores": ("1_000", "json"),
    "a leading zero": ("007", "json"),
    "a leading plus": ("+1", "json"),
    "a bare point": (".5", "json"),
    "hexadecimal": ("0x10", "json"),
    "Arabic digits": ("٣", "json"),
    "a comment": ("1 /* one */", "json"),
    "a comma too many": ("[1,]", "json"),
    "nothing": ("", "json"),
    "an open string": ('"a', "json"),
    "an open list": ("[1, 2", "json"),
    "a second value": ("1} {", "json"),
    "a no-break space between": ("\u00a01", "json"),
}
GOOD_VALUES: Final = {
    "20 levels": "[" * 19 + "]" * 19,
    "many brackets side by side": "[" + "[]," * 1000 + "[]]",
    "brackets in a string": '"' + "[{" * 100 + '"',
    "a backslash before a quote": '"\\\\"',
    "a whole surrogate pair": '"\\ud83d\\ude00"',
    "the text \\u0000": '"\\\\u0000"',
    "63 bits": str(2**63 - 1),
    "a tiny number": "1e-400",
    "markup": '"<script>alert(1)</script>"',
    "a line separator": '"a\u2028b"',
    "an empty list": "[]",
    "200,000 numbers": "[" + "1," * 200_000 + "1]",
}
NO_WEIGHT: Final = ("0", "-1", "1e12", "1e400", "nan", "inf", "1_0", "٣", "x", "1,5", "0x1", " 1")


def all_cases() -> list[Case]:
    """Every case of the two record formats."""
    return [
        *_json_cases(),
        *_json_shape_cases(),
        *_tsv_cases(),
        *_id_cases(),
        *_weight_cases(),
        *_field_cases(),
        *_duplicate_cases(),
    ]


def _lines(*lines: str) -> bytes:
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")


def _json_cases() -> Iterator[Case]:
    for name, (value, rule) in VALUES.items():
        content = _lines('{"id": "a"}', f'{{"id": "b", "x": {value}}}', '{"id": "c"}')
        yield Case(f"{name} in JSON", "documents", content, rule, 2)
    for name, value in GOOD_VALUES.items():
        content = _lines(f'{{"id": "b", "x": {value}}}')
        yield Case(f"{name} in JSON", "documents", content, None)


def _json_shape_cases() -> Iterator[Case]:
    shapes = {
        "a list": "[1]",
        "a string": '"a"',
        "a number": "7",
        "null": "null",
        "an open object": '{"id": "b"',
        "an object and a comma": '{"id": "b"},',
        "two objects": '{"id": "b"}{"id": "c"}',
        "TSV": "b\ttext",
    }
    for name, shape in shapes.items():
        content = _lines('{"id": "a"}', shape)
        yield Case(f"{name} among JSON lines", "documents", content, "json", 2)
    array = '[{"id": "a"}, {"id": "b"}]'
    yield Case("one JSON array", "documents", _lines(array), "json", 1)
    yield Case("an array over lines", "queries", _lines("[", '{"id": "a"}', "]"), "json", 1)
    yield Case("an object over lines", "documents", _lines("{", '"id": "a"', "}"), "json", 1)
    yield Case("blanks before", "documents", _lines("", ' \t{"id": "a"} '), None)


def _tsv_cases() -> Iterator[Case]:
    yield Case("blanks for tabs", "queries", _lines("a\tx", "b  some text"), "columns", 2)
    yield Case("commas for tabs", "queries", _lines("a,text", "a,x"), "columns", 1)
    yield Case("CSV without a column for the id", "documents", _lines("a,b", "c,d"), "columns", 1)
    yield Case("a column of CSV twice", "queries", _lines("id,text,text", "a,x,y"), "header", 1)
    yield Case("a column without a name", "queries", _lines("id,,text", "a,x,y"), "header", 1)
    yield Case("more cells of CSV", "queries", _lines("id,text", "a,x,y"), "columns", 2)
    yield Case("a quote that does not end", "queries", _lines("id,text", 'a,"x'), "columns", 2)
    yield Case("an id of CSV twice", "documents", _lines("id,text", "a,x", "a,y"), "duplicate", 3)
    yield Case("a tab in the text", "queries", _lines("a\tx", "b\tx\ty"), "columns", 2)
    yield Case("a tab in the text", "documents", _lines("a\tx", "b\tx\ty"), "columns", 2)
    yield Case("fewer cells than the header", "queries", _lines("id\ttext", "a"), "columns", 2)
    yield Case("more cells", "queries", _lines("id\ttext", "a\tx\t"), "columns", 2)
    yield Case("a header alone", "queries", _lines("query_id\ttext"), "empty", 1)
    yield Case("a column twice", "queries", _lines("id\ttext\ttext", "a\tx\ty"), "header", 1)
    yield Case("a column without a name", "documents", _lines("id\t\t", "a\tx\ty"), "header", 1)
    yield Case("an unknown column", "queries", _lines("id\ttext\twieght"), "header", 1)
    yield Case("a tail of tabs", "queries", _lines("id\ttext\t\t", "a\tx\t\t"), "header", 1)
    yield Case("no text", "queries", _lines("a\tx", "b\t"), "text", 2)
    yield Case("a text of blanks", "queries", _lines("a\tx", "b\t  \u3000"), "text", 2)
    yield Case("no text in JSON", "queries", _lines('{"id": "a"}'), "text", 1)
    yield Case("null for a text", "queries", _lines('{"id": "a", "text": null}'), "text", 1)
    yield Case(
        "a long segment", "queries", _lines("id\ttext\tsegment", f"a\tx\t{'s' * 201}"), "field", 2
    )
    yield Case(
        "a segment of two lines",
        "queries",
        _lines('{"id":"a","text":"x","segment":"a\\nb"}'),
        "field",
    )
    yield Case("quotes", "queries", _lines('"a"\t"x"'), None)
    yield Case("a document without text", "documents", _lines("a\t"), None)
    yield Case("JSON in a cell", "documents", _lines('a\t{"x": NaN}'), None)
    yield Case("a bracket first", "queries", _lines("[1]\tx"), None)


def _id_cases() -> Iterator[Case]:
    for name, piece in (*NOT_IN_IDS.items(), ("a blank", " "), ("a wrong length", "x" * 200)):
        content = _lines("a\tx", f"b{piece}c\tx")
        yield Case(f"an id with {name}", "queries", content, "id", 2)
        yield Case(f"an id with {name}", "documents", content, "id", 2)
    for name, odd in ODD_IDS.items():
        rule = "id" if odd.startswith("#") else None
        yield Case(f"an id with {name}", "queries", _lines(f"{odd}\tx"), rule, 1)
        yield Case(f"an id with {name}", "documents", _lines(f"{odd}\tx"), None)
    yield Case("no id", "documents", _lines('{"id": "a"}', '{"text": "x"}'), "id", 2)
    yield Case("an empty id", "documents", _lines('{"id": ""}'), "id", 1)
    yield Case("an empty cell for an id", "queries", _lines("a\tx", "\tx"), "id", 2)
    for name, value in {
        "null": "null",
        "true": "true",
        "a fraction": "1.0",
        "a list": "[1]",
    }.items():
        yield Case(f"{name} for an id", "documents", _lines(f'{{"id": {value}}}'), "id", 1)
    yield Case("a number for an id", "documents", _lines('{"id": -7}'), None)
    yield Case("an escaped line feed in an id", "documents", _lines('{"id": "a\\nb"}'), "id", 1)


def _weight_cases() -> Iterator[Case]:
    for weight in NO_WEIGHT:
        content = _lines("id\ttext\tweight", "a\tx\t1", f"b\tx\t{weight}")
        yield Case(f"the weight {weight!a}", "queries", content, "weight", 3)
    for value in ("0", "-0.0", "-1", "1e12", '"1"', "true", "[1]", "1e-400"):
        content = _lines(f'{{"id": "a", "text": "x", "weight": {value}}}')
        yield Case(f"the JSON weight {value}", "queries", content, "weight", 1)
    for value in ("5e-324", "999999999999", "null"):
        content = _lines(f'{{"id": "a", "text": "x", "weight": {value}}}')
        yield Case(f"the JSON weight {value}", "queries", content, None)


def _field_cases() -> Iterator[Case]:
    for name in ("title", "text", "url"):
        for value in ("1", "[]", "{}", "false"):
            content = _lines('{"id": "a"}', f'{{"id": "b", "{name}": {value}}}')
            yield Case(f"{value} for {name}", "documents", content, "field", 2)
    many = ", ".join(f'"f{n}": 1' for n in range(201))
    yield Case("201 fields", "documents", _lines(f'{{"id": "a", {many}}}'), "field", 1)
    yield Case("a field without a name", "documents", _lines('{"id": "a", " ": 1}'), "field", 1)
    long = "n" * 201
    yield Case("a long field name", "documents", _lines(f'{{"id": "a", "{long}": 1}}'), "field", 1)


def _duplicate_cases() -> Iterator[Case]:
    yield Case("an id twice", "queries", _lines("a\tx", "b\tx", "a\ty"), "duplicate", 3)
    twice = _lines('{"id": "1"}', '{"id": 1}')
    yield Case("an id twice, once a number", "documents", twice, "duplicate", 2)
    later = _lines('{"id": "a"}', '{"id": "b", "text": 7}', '{"id": "a"}')
    yield Case("a wrong field, then an id twice", "documents", later, "field", 2)
    small = Limits(memory=10_000)
    many = _lines(*(f"{n}\tx" for n in range(1000)))
    yield Case("more ids than fit", "queries", many, "too-much", 53, limits=small)
