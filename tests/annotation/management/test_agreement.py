"""The command `agreement`: a file in, alpha out, and every bad line named."""

import gzip
import json

import pytest
from django.core.management import call_command

HEADER = "annotator,query_id,doc_id,grade\n"


def run(capsys, path, *options):
    call_command("agreement", str(path), *options)
    return capsys.readouterr().out


def refused(capsys, path, *options):
    with pytest.raises(SystemExit) as ended:
        call_command("agreement", str(path), *options)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [f"{who},q{n % 7},d{n},{(n + (who == 'ben') * (n % 3 == 0)) % 4}\n"
            for n in range(40) for who in ("ada", "ben")]  # fmt: skip
    path.write_text(HEADER + "".join(rows))
    return path


def test_alpha_is_printed_with_its_interval_and_what_it_is_of(capsys, labels):
    out = run(capsys, labels)
    assert out.startswith("alpha (ordinal)  0.")
    assert "pairs with 2+ labels  40 of 40" in out


def test_json_has_alpha_with_every_digit(capsys, labels):
    found = json.loads(run(capsys, labels, "--json", "--level", "nominal", "--bootstrap", "200"))
    assert 0 < found["low"] < found["alpha"] < found["high"] < 1
    assert (found["level"], found["annotators"], found["labels"]) == ("nominal", 2, 80)
    assert json.loads(run(capsys, labels, "--json", "--bootstrap", "0"))["low"] is None


def test_columns_may_stand_in_any_order_and_the_file_may_be_gzipped(capsys, labels, tmp_path):
    expected = json.loads(run(capsys, labels, "--json"))
    turned = tmp_path / "turned.csv.gz"
    rows = [line.split(",") for line in labels.read_text().splitlines()]
    text = "".join(f'{q},"{d}",note,{grade},{who}\n' for who, q, d, grade in rows)
    with gzip.open(turned, "wt") as file:
        file.write(text)
    assert json.loads(run(capsys, turned, "--json")) == expected
    bare = tmp_path / "bare.csv"
    bare.write_text("".join(labels.read_text().splitlines(keepends=True)[1:]))
    assert json.loads(run(capsys, bare, "--json")) == expected


def test_without_overlap_it_says_so_instead_of_a_number(capsys, tmp_path):
    path = tmp_path / "alone.csv"
    path.write_text(HEADER + "ada,q1,d1,3\nben,q1,d2,2\n")
    assert "not enough overlap" in run(capsys, path)
    found = json.loads(run(capsys, path, "--json"))
    assert found["alpha"] is None
    assert "not enough overlap" in found["why"]
    path.write_text(HEADER + "".join(f"{who},q1,d{n},2\n" for who in "ab" for n in range(9)))
    assert "undefined" in run(capsys, path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("ada,q1,d1", "2: columns: 3 columns"),
        ("ada,q1,d1,high", "2: grade: the grade “high”"),
        ("ada,q1,d1,1e999", "2: not-finite:"),
        ("ada,,d1,1", "2: id: the query_id is empty"),
        (",q1,d1,1", "2: id: an annotator"),
        ('ada,"q1,d1,1', "2: columns: a quotation mark"),
        ("ada,q1,d1,1\nada,q1,d1,2", "3: duplicate: “ada” already labels this pair on line 2"),
        ("ada,q1,d\x00,1", "2:9: nul:"),
    ],
)
def test_a_bad_line_is_named(capsys, tmp_path, line, problem):
    path = tmp_path / "bad.csv"
    path.write_text(HEADER + line + "\n")
    assert refused(capsys, path)[0].startswith(f"{path}:{problem}")


def test_a_missing_file_column_or_label_is_named(capsys, tmp_path):
    assert refused(capsys, tmp_path / "none.csv") == [
        f"{tmp_path}/none.csv:1: unreadable: no such file or directory."
    ]
    path = tmp_path / "labels.csv"
    path.write_text("annotator,query_id,doc_id\nada,q1,d1\n")
    assert ":1: header: missing column grade" in refused(capsys, path)[0]
    path.write_text("")
    assert ":1: empty:" in refused(capsys, path)[0]


def test_a_number_of_resamples_that_makes_no_sense_is_refused(capsys, labels):
    assert "--bootstrap" in refused(capsys, labels, "--bootstrap", "-1")[0]
    assert "--seed" in refused(capsys, labels, "--seed", "-1")[0]


@pytest.mark.data
def test_the_products_raters_agree_as_published(capsys, data_dir):
    path = data_dir / "chorus-ecommerce" / "derived" / "ratings_long.csv"
    for level, value in (("nominal", 0.6426), ("ordinal", 0.7695), ("interval", 0.7707)):
        found = json.loads(run(capsys, path, "--json", "--level", level, "--bootstrap", "50"))
        assert round(found["alpha"], 4) == value
