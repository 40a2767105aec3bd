"""Docstrings of what is written in C."""

import pytest

from config.demo import native_docstrings as native
from config.demo.docstrings import Docstring


@pytest.fixture(scope="module")
def found() -> dict[str, Docstring]:
    return {docstring.name: docstring for docstring in native.native_docstrings()}


def test_built_ins_have_no_module_in_their_name(found: dict[str, Docstring]) -> None:
    assert found["len"].title == "len(obj, /)"
    assert found["str.split"].kind == "method"
    assert found["ValueError"].kind == "class"
    assert "builtins" not in found


def test_c_modules_go_by_the_name_that_programmers_import(found: dict[str, Docstring]) -> None:
    assert found["functools.reduce"].module == "functools"
    assert found["os.getpid"].title == "os.getpid()"
    assert not [name for name in found if name.startswith("_")]


def test_the_module_is_a_document_only_where_it_is_imported_itself(
    found: dict[str, Docstring],
) -> None:
    assert found["itertools"].kind == "module"
    assert "collections" not in found


def test_objects_that_only_inherit_a_docstring_are_left_out(found: dict[str, Docstring]) -> None:
    assert "sys.maxsize" not in found
    assert "sys.flags" not in {n for n, d in found.items() if d.text == int.__doc__}
    assert not [name for name, d in found.items() if d.text == type.__doc__ and name != "type"]


def test_a_module_that_this_python_lacks_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "NATIVE", {"_no_such_module": "nothing", "math": "math"})
    names = {docstring.name for docstring in native.native_docstrings()}
    assert "math.sqrt" in names
    assert not [name for name in names if not name.startswith("math")]
