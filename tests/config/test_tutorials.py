"""The commands of the tutorials, run as they stand, and what they print."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fork_request import __file__ as fork_request
from tests.forks import run_forked, start_forking
from tests.running_server import running_server

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOKEN = """
import json
import django
django.setup()
from tests.api.callers import make_token
print(json.dumps({"TOUCHSTONE_TOKEN": make_token(username="researcher")}))
"""
ON_THE_DEMO = ("compare-runs", "labels-to-release")


class Step(NamedTuple):
    """A command, and the lines that stand below it."""

    command: str
    says: str


def blocks(name: str) -> list[tuple[str, str, str]]:
    """Language, title and text of each block of code on the page."""
    return BLOCK.findall((TUTORIALS / f"{name}.md").read_text(encoding="utf-8"))


def steps(name: str) -> Iterator[Step]:
    for language, _, text in blocks(name):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, says = part.partition("\n")
                yield Step(command, says)


def programs() -> dict[str, str]:
    """What stands for each program of a tutorial here; `-P` looks for nothing in its folder."""
    python = shlex.quote(sys.executable)
    forked = f"{python} -I -S {shlex.quote(fork_request)} {shlex.quote(start_forking())}"
    return {
        "./run manage ": f"{forked} {shlex.quote(str(ROOT / 'manage.py'))} ",
        "touchstone ": f"{forked} -P -m touchstone ",
        "python ": f"{python} ",
    }


def environment(home: Path) -> dict[str, str]:
    """That of a process whose installation lies in `home`, on SQLite."""
    ours = ("TOUCHSTONE_", "REDIS_", "DATABASE_")
    outside = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**outside, "TOUCHSTONE_HOME": str(home), "PYTHONPATH": str(ROOT)}


def follow(name: str, folder: Path, home: Path, **variables: str) -> list[str]:
    """Write the page's files, run its commands in order, and hold what they print to the page.

    Gives what each printed.
    """
    printed = []
    for _, title, text in blocks(name):
        if title:
            (folder / title).write_text(text, encoding="utf-8")
    done = list(steps(name))
    assert done
    for step in done:
        command = step.command
        for written, here in programs().items():
            if command.startswith(written):
                command = here + command.removeprefix(written)
        found = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=folder,
            env=environment(home) | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert found.returncode == 0, f"{step.command}\n{found.stderr}"
        if step.says:
            assert found.stdout == step.says
        printed.append(found.stdout)
    return printed


def test_your_own_data_in_ten_minutes(tmp_path: Path, make_home: Callable[[Path], Path]) -> None:
    follow("your-own-data", tmp_path, make_home(tmp_path / "var"))


@pytest.fixture(scope="module")
def demo_home(tmp_path_factory: pytest.TempPathFactory, make_home: Callable[[Path], Path]) -> Path:
    """The home of an installation that `./run demo --no-serve` has made."""
    home = make_home(tmp_path_factory.mktemp("demo") / "var")
    built = run_forked(("manage.py", "demo", "--no-serve"), env=environment(home))
    assert built.returncode == 0, built.stderr
    return home


@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("name", ON_THE_DEMO)
def test_what_is_done_on_the_demo(name: str, tmp_path: Path, demo_home: Path) -> None:
    follow(name, tmp_path, demo_home)


@pytest.mark.xdist_group("demo")
def test_a_notebook_asks_the_server_of_the_demo(tmp_path: Path, demo_home: Path) -> None:
    (program,) = [text for _, title, text in blocks("notebook") if title]
    assert len([line for line in program.splitlines() if line.strip()]) <= 25
    assert "\n".join(_cells(TUTORIALS / "notebook.ipynb")) == re.sub(r"\n+", "\n", program).strip()
    with running_server(demo_home, seed=TOKEN) as found:
        found["TOUCHSTONE_URL"] = found["TOUCHSTONE"]
        asking = {name: found[name] for name in ("TOUCHSTONE_URL", "TOUCHSTONE_TOKEN")}
        printed = follow("notebook", tmp_path, demo_home, **asking)[-1]
    # the board, two comparisons, and ten queries with their texts
    assert re.search(r"^\d+ +my-bm25 +0\.\d+", printed, re.MULTILINE)
    assert re.search(r"my-title-only/first .* worse ", printed)
    assert "[10 rows x 4 columns]" in printed


def _cells(notebook: Path) -> list[str]:
    """The code of a notebook's cells, without empty lines."""
    cells = json.loads(notebook.read_text())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [re.sub(r"\n+", "\n", text) for text in texts]


def test_every_tutorial_with_commands_is_followed() -> None:
    pages = {path.stem for path in TUTORIALS.glob("*.md")}
    followed = {"your-own-data", "notebook", *ON_THE_DEMO}
    assert {name for name in pages if list(steps(name))} == followed
