"""docs/bulk.md: its tutorial prints what the page shows."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.touchstone.bulk.builders import ROOT
from touchstone.cli import main

PAGE = (ROOT / "docs" / "bulk.md").read_text()


def test_the_tutorial_prints_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shown = re.search(r"```\n\$ touchstone (bulk .*?)\n```\n\n```\n(.*?)```", PAGE, re.DOTALL)
    assert program is not None
    assert shown is not None
    subprocess.run([sys.executable, "-c", program[1]], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(shown[1])) == 0
    assert capsys.readouterr().out == shown[2]
    assert main([*shlex.split(shown[1]), "--by", "day"]) == 0
    assert "\nDE, 2026-11-01 " in capsys.readouterr().out
