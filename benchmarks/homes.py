"""What benchmarks start in: an empty installation, and other processes beside it."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def temporary_home() -> Iterator[Path]:
    """An empty installation on SQLite in embedded mode, which Django is set up for.

    Migrated by another process, so that it is not in this one's memory.
    """
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as name:
        home = Path(name)
        os.environ |= {
            "TOUCHSTONE_HOME": name,
            "TOUCHSTONE_MODE": "embedded",
            "REDIS_URL": "",
            "DATABASE_URL": f"sqlite:///{home / 'benchmark.sqlite3'}",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, check=True)
        import django

        django.setup()
        yield home


@contextmanager
def other_process(module: str, *words: str) -> Iterator[str]:
    """A module that runs until it is killed; the first line that it prints."""
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
