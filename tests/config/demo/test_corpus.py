"""The demo's documents, read from the Python that runs the tests."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.demo import corpus
from config.demo.corpus import DemoDocument, standard_library
from judgments.collections.content_hash import content_hash

ROOT = Path(__file__).resolve().parents[3]
KINDS = {"module", "class", "function", "method", "topic"}
READ = """
import hashlib
import sys
from config.demo.corpus import standard_library
print(hashlib.sha256(repr(standard_library()).encode()).hexdigest())
touchy = {"antigravity", "this", "tkinter", "idlelib", "turtle", "webbrowser", "test"}
print(sorted(touchy & set(sys.modules)))
"""


@pytest.fixture(scope="module")
def by_docid(documents: list[DemoDocument]) -> dict[str, DemoDocument]:
    return {document.docid: document for document in documents}


def test_there_are_some_thousand_documents(documents: list[DemoDocument]) -> None:
    assert 2_500 <= len(documents) <= 6_000
    assert {document.fields["kind"] for document in documents} == KINDS


def test_docids_are_unique_readable_and_sorted(documents: list[DemoDocument]) -> None:
    docids = [document.docid for document in documents]
    assert docids == sorted(set(docids))
    assert all(docid.startswith(("py:", "topic:")) for docid in docids)
    assert not [docid for docid in docids if not docid.isascii() or docid.split() != [docid]]


def test_another_interpreter_reads_the_same_and_runs_no_module_that_does_something(
    documents: list[DemoDocument],
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    here = hashlib.sha256(repr(documents).encode()).hexdigest()
    assert done.stdout.splitlines() == [here, "[]"]


def test_well_known_documentation_is_there(by_docid: dict[str, DemoDocument]) -> None:
    assert by_docid["py:pathlib.Path.read_text"].fields == {"kind": "method", "module": "pathlib"}
    assert by_docid["py:len"].fields == {"kind": "function", "module": "builtins"}
    assert by_docid["py:json.loads"].title.startswith("json.loads(s, *, cls=None")
    assert by_docid["py:os.path.join"].fields["module"] == "os.path"
    assert by_docid["py:math"].fields["kind"] == "module"
    assert by_docid["topic:for"].title == 'The "for" statement'
    assert "for_stmt" in by_docid["topic:for"].body
    assert not by_docid["topic:for"].body.startswith("*")


def test_private_names_and_tests_are_left_out(documents: list[DemoDocument]) -> None:
    names = [d.docid.removeprefix("py:").split(".") for d in documents if d.docid[0] == "p"]
    assert not [name for name in names if any(part.startswith("_") for part in name)]
    assert not [name for name in names if name[0] in {"test", "idlelib", "tkinter", "this"}]


def test_no_text_is_there_twice_or_trivially_short(documents: list[DemoDocument]) -> None:
    texts = [" ".join(document.body.split()) for document in documents]
    assert len(texts) == len(set(texts))
    assert min(len(text.split()) for text in texts) >= 3


def test_texts_are_clean(documents: list[DemoDocument]) -> None:
    for document in documents:
        text = document.title + document.body
        assert not [c for c in text if not (c.isprintable() or c in "\n\t")], document.docid
        assert document.body == document.body.strip("\n")
        assert "\n" not in document.title


def test_the_hash_is_that_of_the_list_of_judgments(documents: list[DemoDocument]) -> None:
    for document in documents[::100]:
        expected = content_hash(document.title, document.body, document.fields)
        assert document.content_hash == expected


def test_a_python_without_topics_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    assert list(corpus.topic_docstrings()) == []


def test_an_empty_library_leaves_what_is_built_in(tmp_path: Path) -> None:
    documents = standard_library(tmp_path)
    assert "py:print" in {document.docid for document in documents}
    assert "py:json.loads" not in {document.docid for document in documents}
