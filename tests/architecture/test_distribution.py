"""The library, installed by pip into an environment with nothing else in it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.touchstone.files.hostile_trec import all_cases

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.first_pass  # there is no database in it

EVALUATE_EACH = """
import contextlib, io, json, sys
from pathlib import Path
from touchstone.cli import main

told = {}
for bad in sorted(Path("cases").iterdir()):
    files = {"qrels": "sound.qrels", "run": "sound.run", bad.suffix[1:]: str(bad)}
    words = ["evaluate", "--qrels", files["qrels"], "--run", files["run"], "--measures", "nDCG@10"]
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
        told[bad.name] = main(words), said.getvalue()
json.dump(told, sys.stdout)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment's Python, with the library and what it names."""
    folder = tmp_path_factory.mktemp("installed")
    source, environment = folder / "source", folder / "environment"
    shutil.copytree(ROOT / "touchstone", source / "touchstone")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    own = environment / "bin" / "python"
    install = (own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source)
    subprocess.run(install, check=True)
    return own


def run(python: Path, *words: str, folder: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": os.devnull}  # where nothing can be kept
    done = subprocess.run(
        [python, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_it_brings_numpy_scipy_and_krippendorff_alone(python: Path, tmp_path: Path) -> None:
    listed = run(python, "-m", "pip", "list", "--format=json", folder=tmp_path)
    names = {package["name"] for package in json.loads(listed)} - {"pip", "setuptools"}
    assert names == {"touchstone-relevance", "krippendorff", "numpy", "scipy"}


def test_it_is_typed_and_holds_no_application(python: Path, tmp_path: Path) -> None:
    code = "import pathlib, touchstone; print(pathlib.Path(touchstone.__file__).parent)"
    installed = Path(run(python, "-c", code, folder=tmp_path).strip())
    assert installed.is_relative_to(python.parents[1])
    assert (installed / "py.typed").exists()
    assert not {"annotation", "judgments", "evaluation", "config"} & {
        path.name for path in installed.parent.iterdir()
    }


def test_every_hostile_file_gets_its_answer(python: Path, tmp_path: Path) -> None:
    (tmp_path / "sound.qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "sound.run").write_text("1 Q0 a 1 2.5 t\n")
    (folder := tmp_path / "cases").mkdir()
    cases = {}
    for number, case in enumerate(all_cases()):
        # evaluate knows no scale, has limits of its own, and ignores what follows a tag
        is_elsewhere = case.limits or case.rule == "scale"
        is_longer = case.name in {"7 columns", "8 columns", "10000 columns"}
        if isinstance(case.content, bytes) and not (is_elsewhere or is_longer):
            name = f"{number:03}.{'qrels' if case.kind.startswith('qrels') else 'run'}"
            (folder / name).write_bytes(case.content)
            cases[name] = case
    assert len(cases) > 150
    found = json.loads(run(python, "-c", EVALUATE_EACH, folder=tmp_path))
    for name, case in cases.items():
        status, said = found[name]
        assert status == (0 if case.rule is None else 2), (case, said)
        if case.rule is not None:
            assert f"{name}:{case.line}:" in said, (case, said)
            assert f" {case.rule}:" in said, (case, said)


def test_a_client_needs_no_frames_and_pytest_finds_its_fixtures(
    python: Path, tmp_path: Path
) -> None:
    code = (
        "from importlib.metadata import entry_points\n"
        "import sys, touchstone\n"
        "client = touchstone.Client('http://127.0.0.1:9')\n"
        "assert not {'numpy', 'pytest'} & set(sys.modules)\n"
        "print([point.value for point in entry_points(group='pytest11')], client.url)\n"
    )
    printed = run(python, "-c", code, folder=tmp_path)
    assert printed == "['touchstone.client.pytest_plugin'] http://127.0.0.1:9\n"


def test_without_its_extra_bulk_says_what_to_install(python: Path, tmp_path: Path) -> None:
    columns = ("--query", "q", "--document", "d", "--score", "s", "--grade", "g")
    done = subprocess.run(
        [python, "-m", "touchstone", "bulk", "some.parquet", *columns, "--measures", "RR"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip().endswith("pip install 'touchstone-relevance[parquet]'")
