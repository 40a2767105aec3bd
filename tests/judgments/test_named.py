"""What apps register by name is there, and is imported when it is called, not before."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from judgments.named import Named

ROOT = Path(__file__).resolve().parents[2]
APPS = ("annotation", "config", "evaluation", "judgments")
NAMED = re.compile(r'Named\(\s*"([\w.]+)"')


def test_every_name_is_of_a_function() -> None:
    paths = [path for app in APPS for path in NAMED.findall((ROOT / app / "apps.py").read_text())]
    assert len(paths) > 20
    assert all(callable(Named(path).function) for path in paths)


def test_a_name_passes_on_what_it_is_given_and_what_comes_of_it() -> None:
    assert Named("builtins.sorted")([2, 1], reverse=True) == [2, 1]
    assert Named("builtins.sorted") == Named("builtins.sorted")
    with pytest.raises(ImportError):
        Named("builtins.nothing_of_this_name")()


def test_a_process_that_starts_imports_neither_pages_nor_the_work_of_jobs() -> None:
    program = "import django, sys; django.setup(); print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": "sqlite:///:memory:"},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "judgments.models" in loaded
    heavy = (
        "config.urls",
        "config.demo.",
        "rest_framework.views",
        "scipy",
        "evaluation.comparison.",
    )
    assert [name for name in loaded if name.startswith(heavy)] == []
