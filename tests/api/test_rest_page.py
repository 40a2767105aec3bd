"""The examples of docs/rest.md, run by a shell against a server, answer as the page says."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.running_server import PATIENCE, running_server

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "rest.md").read_text()
BLOCK = re.compile(r"^```(sh|python|json|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "\x1e"  # between the outputs of the blocks
SEED = """
import json
from datetime import timedelta
import django
django.setup()
from tests.api.callers import make_token
from tests.builders import make_world
from tests.builders_annotation import make_campaign
campaign = make_campaign(world=make_world())
day = timedelta(days=1)
print(json.dumps({
    "TOKEN": make_token(username="ada", life=day),
    "ANNOTATOR_TOKEN": make_token(username="ben", life=day),
    "CAMPAIGN": str(campaign.public_id),
}))
"""


def examples() -> list[tuple[str, str | None, str]]:
    """Each program of the page, with the kind and the text of the answer that follows it."""
    blocks = BLOCK.findall(PAGE)
    found: list[tuple[str, str | None, str]] = []
    for kind, text in blocks:
        if kind in ("sh", "python"):
            program = text if kind == "sh" else f"python3 - <<'PYTHON'\n{text}PYTHON\n"
            found.append((program, None, ""))
        else:
            program, before, _ = found[-1]
            assert before is None, "two answers to one program"
            found[-1] = (program, kind, text)
    return found


@pytest.fixture
def environment(tmp_path: Path, make_home: Callable[[Path], Path]) -> Iterator[dict[str, str]]:
    """A server of this test alone, with someone to be and a campaign to label in."""
    with running_server(make_home(tmp_path / "home"), seed=SEED) as variables:
        yield variables


def values_of(text: str) -> list[Any]:
    """The JSON values that follow each other in a text."""
    decoder, found = json.JSONDecoder(), []
    text = text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].strip()
    return found


def is_as_told(told: Any, seen: Any) -> bool:
    """Whether a value is the one on the page, where … stands for whatever differs each time."""
    if told == "…":
        return isinstance(seen, str) and bool(seen)
    if isinstance(told, dict) and isinstance(seen, dict):
        return told.keys() == seen.keys() and all(is_as_told(told[k], seen[k]) for k in told)
    if isinstance(told, list) and isinstance(seen, list):
        return len(told) == len(seen) and all(map(is_as_told, told, seen))
    return bool(told == seen) and type(told) is type(seen)


def test_every_example_answers_as_the_page_says(environment, tmp_path):
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("curl and bash are needed to run the examples")
    programs = examples()
    script = "set -e\n" + "".join(f"{program}printf '{MARK}'\n" for program, _, _ in programs)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * PATIENCE,
    )
    outputs = done.stdout.split(MARK)
    last = programs[min(len(outputs), len(programs)) - 1][0]
    assert done.returncode == 0, f"{last}\n{outputs[-1]}\n{done.stderr}"
    assert len(outputs) == len(programs) + 1
    for (program, kind, told), seen in zip(programs, outputs, strict=False):
        if kind == "text":
            assert seen == told, program
        elif kind == "json":
            assert is_as_told(values_of(told), values_of(seen)), f"{program}\n{seen}"


def test_an_answer_that_differs_is_noticed():
    assert is_as_told([{"a": "…", "b": 1}], [{"a": "x", "b": 1}])
    assert not is_as_told([{"a": "…", "b": 1}], [{"a": "x", "b": 2}])
    assert not is_as_told({"a": 1}, {"a": 1, "b": 2})
    assert not is_as_told({"a": "…"}, {"a": ""})
    assert not is_as_told(1, True)
