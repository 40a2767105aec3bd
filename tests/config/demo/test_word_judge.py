"""The demo's machine judge answers as an endpoint does, by rules about words."""

import json

import pytest

from annotation.machine_judges.answers import read_completion
from annotation.machine_judges.configuration import Configuration, Prompter
from annotation.machine_judges.prompts import ShownPair
from config.demo.inverted_index import inverted_index
from config.demo.word_judge import Unreadable, complete

INDEX = inverted_index(
    [
        ("a", "json.load", "Read JSON from a file."),
        ("b", "json.dump", "Write JSON to a file."),
        ("c", "os.remove", "Delete a file."),
    ]
)


def grade(body):
    """The grade and the reason for the question "read json file"."""
    prompter = Prompter(Configuration(url="http://a/", model="m"), "Judge.", "salt", range(5))
    pair = ShownPair(query="read json file", description="What else.", body=body, fields={})
    answer = json.dumps(complete(prompter.prompt(pair).body, INDEX.whole)).encode()
    found = read_completion(answer, codes=range(5), gives_reason=True)
    assert found.outcome == "labelled"
    return found.grade, found.detail


def test_a_document_with_all_words_is_best_and_one_with_none_worst():
    assert grade("Reads a file that holds JSON; read it.")[0] == 4
    assert grade("Unrelated.") == (0, "Holds 0 of 3 words of the question.")
    assert 0 < grade("Deletes a file, or a JSON file.")[0] < 4


def test_rare_words_weigh_more():
    assert grade("read")[0] > grade("file")[0]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"messages": []}', b'{"messages": [{"content": 1}]}']
)
def test_what_is_no_request_about_a_pair_is_refused(body):
    with pytest.raises(Unreadable):
        complete(body, INDEX.whole)
