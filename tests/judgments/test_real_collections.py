"""The commands on public collections, as they are."""

import gzip
import json

import pytest
from django.core.management import call_command

pytestmark = [pytest.mark.django_db, pytest.mark.data, pytest.mark.first_pass]


def said(capsys, *words):
    call_command(*words, "--json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "case",
    [
        ("cranfield", "qrels_0to4.txt", "0..4", 225, 1400, 1612),
        ("chorus-ecommerce", "qrels_final_0to3.txt", "0..3", 135, 19406, 3188),
    ],
)
def test_a_collection_with_texts(capsys, data_dir, case):
    name, qrels, scale, queries, documents, pairs = case
    files = data_dir / name / "derived"
    words = ["--queries", str(files / "queries.tsv"), "--documents", str(files / "docs.jsonl.gz")]
    made = said(capsys, "create_collection", name, *words)
    assert (made["queries"]["added"], made["documents"]["added"]) == (queries, documents)
    imported = said(capsys, "import_qrels", f"{name}/main", str(files / qrels), "--scale", scale)
    assert (imported["added"], imported["new_documents"]) == (pairs, 0)
    call_command("export_qrels", f"{name}/main")
    exported = capsys.readouterr().out.splitlines()
    lines = [line.split() for line in (files / qrels).read_text().splitlines()]
    assert sorted(line.split() for line in exported) == sorted(
        [q, "0", d, g] for q, _, d, g in lines
    )


@pytest.mark.parametrize(
    "case",
    [
        ("cast-2021/raw/trec-cast-qrels-docs.2021.qrel.gz", "0..4", 158, 19334),
        ("web-2012/raw/qrels.web.151-200.txt.gz", "-2..4", 50, 16055),
        ("trec-covid-r1-sample/raw/qrels-rnd1.txt.gz", "0..4", 30, 8691),
    ],
)
def test_qrels_without_texts(capsys, data_dir, case):
    file, scale, queries, pairs = case
    path = data_dir / file
    words = ["import_qrels", "web/main", str(path), "--create", "--scale", scale]
    imported = said(capsys, *words)
    assert (imported["new_queries"], imported["added"]) == (queries, pairs)
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == pairs
    assert said(capsys, *words)["version"] is None
