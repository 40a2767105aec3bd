"""What import-linter does not see: what a package's __init__ runs, what a contract forgets."""

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("annotation", "evaluation", "judgments")
WITHOUT_WORDS = {"management", "migrations", "templatetags"}  # what they are, Django says
PROBE = """
import importlib, sys
forbidden = set(sys.argv[1].split(","))
for name in sys.argv[2:]:
    importlib.import_module(name)
    loaded = forbidden & set(sys.modules)
    if loaded:
        sys.exit(f"importing {name} loads {sorted(loaded)}")
"""
WORKER = """
import sys
from config.celery import app
app.loader.import_default_modules()
assert "evaluation.refresh" in app.tasks
loaded = {"config.urls", "scipy.stats"} & set(sys.modules)
sys.exit(f"a worker's start loads {sorted(loaded)}" if loaded else 0)
"""


def contract(name: str) -> dict[str, Any]:
    """The import-linter contract with this id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return next(one for one in settings["contracts"] if one["id"] == name)


def modules_in(package: str) -> list[str]:
    """Every module of a package or module that is named with dots, itself included."""
    place = ROOT / Path(*package.split("."))
    if not place.is_dir():
        return [package]
    files = sorted(path.relative_to(ROOT).with_suffix("") for path in place.rglob("*.py"))
    return [".".join(path.parts).removesuffix(".__init__") for path in files]


def run_afresh(program: str, *words: str) -> None:
    """Run a program in an interpreter of its own; it must end well."""
    result = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", ["pure", "library-alone"])
def test_importing_a_pure_module_loads_no_framework(name: str) -> None:
    pure = contract(name)
    forbidden = ",".join(pure["forbidden_modules"])
    names = [one for package in pure["source_modules"] for one in modules_in(package)]
    assert names
    run_afresh(PROBE, forbidden, *names)


def test_a_worker_starts_without_loading_the_pages() -> None:
    """What is due after a worker was killed waits for the next one's start."""
    run_afresh(WORKER)


def test_the_rules_of_every_package_are_held_to_purity() -> None:
    paths = [path for app in APPS for path in (ROOT / app).rglob("rules.py")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    assert names
    assert names <= set(contract("pure")["source_modules"])


@pytest.mark.parametrize("app", APPS)
def test_every_package_says_what_it_holds(app: str) -> None:
    found = (ROOT / app).glob("*/__init__.py")
    packages = [path for path in found if path.parent.name not in WITHOUT_WORDS]
    assert packages
    assert [path.parent.name for path in packages if not ast.get_docstring(parsed(path))] == []


def parsed(path: Path) -> ast.Module:
    """The module at this path."""
    return ast.parse(path.read_text())


@pytest.mark.parametrize("app", APPS)
def test_an_app_runs_nothing_when_it_is_imported(app: str) -> None:
    statements = parsed(ROOT / app / "__init__.py").body
    assert [type(one).__name__ for one in statements if not isinstance(one, ast.Expr)] == []


@pytest.mark.parametrize("app", APPS)
def test_no_module_is_named_after_nothing(app: str) -> None:
    vague = {"utils", "helpers", "core", "managers", "common", "misc"}
    found = [path for path in (ROOT / app).rglob("*.py") if path.stem in vague]
    assert found == []


def test_no_two_classes_of_the_library_have_one_name() -> None:
    names = Counter(
        node.name
        for path in (ROOT / "touchstone").rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
