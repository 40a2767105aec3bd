"""What checks the page scripts comes the same everywhere, from whichever registry npm is set to."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WANTED = json.loads((ROOT / "package.json").read_text())["devDependencies"]
PACKAGES = json.loads((ROOT / "package-lock.json").read_text())["packages"]


def test_every_tool_is_wanted_in_one_version_and_locked_in_that() -> None:
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in WANTED.values())
    assert {name: PACKAGES[f"node_modules/{name}"]["version"] for name in WANTED} == WANTED
    assert PACKAGES[""]["devDependencies"] == WANTED


def test_every_package_is_locked_by_its_hash_and_not_by_its_address() -> None:
    locked = {path: package for path, package in PACKAGES.items() if path}
    assert [path for path, one in locked.items() if "integrity" not in one] == []
    assert [path for path, one in locked.items() if "resolved" in one] == []


def test_what_a_tool_needs_on_another_platform_is_locked_too() -> None:
    needed = {
        name: version
        for package in PACKAGES.values()
        for name, version in package.get("optionalDependencies", {}).items()
    }
    assert any("darwin" in name for name in needed)
    assert {name: PACKAGES[f"node_modules/{name}"]["version"] for name in needed} == needed
