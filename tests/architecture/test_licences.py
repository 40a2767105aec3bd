"""What production installs may be passed on together with Touchstone, which is GPL-3.0-or-later."""

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKED = re.findall(
    r"^([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE
)
pytestmark = pytest.mark.first_pass  # there is no database in it

# SPDX identifiers that https://www.gnu.org/licenses/license-list.html calls compatible with GPLv3
COMPATIBLE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "GPL-3.0-or-later",
    "LGPL-3.0-only", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib",
}  # fmt: skip
# What packages say that give no identifier, by field or classifier.
IN_OTHER_WORDS = {
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "BSD 3-Clause OR Apache-2.0": "BSD-3-Clause OR Apache-2.0",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-or-later",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "New BSD": "BSD-3-Clause",
}
# Packages whose metadata name none; read in their repositories.
READ_BY_HAND = {"pyrage": "MIT"}


def _licences(package: str) -> Iterator[str]:
    """SPDX expressions of an installed package: its own, else by its field, else by classifiers."""
    about = metadata.metadata(package)
    (own, *_) = about.get_all("License-Expression") or [""]
    (field, *_) = about.get_all("License") or [""]
    field = "" if "\n" in field else IN_OTHER_WORDS.get(field, field)  # else it is the whole text
    classifiers = [
        line.rsplit("::", 1)[1].strip()
        for line in about.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    if own:
        yield own
    elif field in COMPATIBLE or " OR " in field:
        yield field
    elif classifiers:
        yield from (IN_OTHER_WORDS.get(words, words) for words in classifiers)
    elif package in READ_BY_HAND:
        yield READ_BY_HAND[package]


def _is_compatible(expression: str) -> bool:
    """Whether one of the alternatives is, in all of its parts."""
    plain = expression.replace("(", "").replace(")", "").replace(" WITH LLVM-exception", "")
    return any(
        all(part.strip() in COMPATIBLE for part in choice.split(" AND "))
        for choice in plain.split(" OR ")
    )


def _is_installed(package: str, version: str) -> bool:
    """Locked for this Python and this platform: others have versions of their own."""
    try:
        return metadata.version(package) == version
    except metadata.PackageNotFoundError:
        return False


@pytest.mark.parametrize(
    "package", [name for name, version in LOCKED if _is_installed(name, version)]
)
def test_each_package_has_a_licence_that_is_compatible(package: str) -> None:
    licences = list(_licences(package))
    assert licences, f"{package} names no licence"
    assert any(map(_is_compatible, licences)), licences


def test_most_of_what_is_locked_is_installed_here() -> None:
    installed = [name for name, version in LOCKED if _is_installed(name, version)]
    assert len(installed) >= 0.9 * len({name for name, _ in LOCKED})


@pytest.mark.parametrize(
    ("expression", "is_compatible"),
    [
        ("MIT", True),
        ("GPL-2.0-only", False),
        ("GPL-2.0-only OR MIT", True),
        ("BSD-3-Clause AND SSPL-1.0", False),
        ("Proprietary", False),
    ],
)
def test_an_expression_is_read_as_a_whole(*, expression: str, is_compatible: bool) -> None:
    assert _is_compatible(expression) is is_compatible
