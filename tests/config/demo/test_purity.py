"""The demo's content needs no framework, whatever else is in its package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PURE = ("corpus", "queries", "rankers", "guideline", "grades")
PROBE = """
import importlib, sys
importlib.import_module(sys.argv[1])
print(sorted({"django", "celery", "redis", "annotation", "evaluation"} & set(sys.modules)))
"""


@pytest.mark.parametrize("module", PURE)
def test_the_content_of_the_demo_loads_no_framework(module: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROBE, f"config.demo.{module}"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert result.stdout.strip() == "[]"
