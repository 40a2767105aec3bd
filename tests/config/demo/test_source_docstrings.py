"""Docstrings of Python sources, from a small library made here."""

from pathlib import Path
from textwrap import dedent

import pytest

from config.demo.docstrings import Docstring
from config.demo.source_docstrings import python_docstrings


def read(library: Path, **files: str) -> dict[str, Docstring]:
    """The docstrings of some files by name; `__` in a file's name is a slash."""
    for name, text in files.items():
        path = library / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    for directory in {path.parent for path in library.rglob("*.py")} - {library}:
        (directory / "__init__.py").touch()
    found = list(python_docstrings(library))
    assert len({docstring.name for docstring in found}) == len(found)
    return {docstring.name: docstring for docstring in found}


def test_modules_classes_functions_and_methods_are_found(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        box='''
        """What a box is."""
        class Box:
            """A box
            with a lid."""
            def open(self, force: bool = False, *, by: str): "Opens it."
            @staticmethod
            def new(size): "Makes one."
            @property
            def size(self): "How big."
        async def ship(box: Box) -> None: "Sends it."
        ''',
    )
    assert found["box"] == Docstring("box", "module", "box", "box", "What a box is.")
    assert found["box.Box"].text == "A box\nwith a lid."
    assert found["box.Box.open"].title == "box.Box.open(force=False, *, by)"
    assert found["box.Box.new"].title == "box.Box.new(size)"
    assert found["box.Box.size"].title == "box.Box.size"
    assert found["box.ship"] == Docstring(
        "box.ship", "function", "box", "box.ship(box)", "Sends it."
    )
    assert len(found) == 6


def test_a_class_is_told_with_how_it_is_made(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        box='''
        class Box:
            """A box."""
            def __init__(self, size=1): "Of that size."
        ''',
    )
    assert found["box.Box"].title == "box.Box(size=1)"
    assert found["box.Box"].text == "A box.\n\nOf that size."


def test_private_names_are_left_out(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        _hidden='"""Hidden."""',
        box="""
        class _Inner: "Hidden."
        def _helper(): "Hidden."
        class Box:
            def _part(self): "Hidden."
        """,
    )
    assert found == {}


def test_only_exported_names_are_documents_where_a_module_lists_them(tmp_path: Path) -> None:
    source = 'def one(): "One."\ndef two(): "Two."\n'
    assert set(read(tmp_path, box='__all__ = ["one"]\n' + source)) == {"box.one"}


@pytest.mark.parametrize("more", ['__all__.append("two")', '__all__ += ["two"]'])
def test_a_list_of_exports_that_grows_limits_nothing(tmp_path: Path, more: str) -> None:
    source = f'__all__ = ["one"]\n{more}\ndef one(): "One."\ndef two(): "Two."\n'
    assert set(read(tmp_path, box=source)) == {"box.one", "box.two"}


def test_definitions_for_one_system_or_another_are_found(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        box="""
        if True:
            def here(): "Here."
        else:
            def there(): "There."
        try:
            import nothing
        except ImportError:
            def instead(): "Instead."
        """,
    )
    assert set(found) == {"box.here", "box.there", "box.instead"}


def test_names_are_those_that_programmers_import(tmp_path: Path) -> None:
    source = 'def join(): "Joins them."'
    found = read(tmp_path, posixpath=source, ntpath=source, asyncio__tasks='def gather(): "All."')
    assert set(found) == {"os.path.join", "asyncio.gather"}


def test_tests_and_other_peoples_packages_are_left_out(tmp_path: Path) -> None:
    text = '"""Some text."""'
    assert read(tmp_path, test__box=text, box__tests__lid=text, idlelib__x=text) == {}


def test_a_file_that_is_not_python_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "strange.py").write_bytes(b"\xff\xfe not python")
    found = read(tmp_path, broken="def (", fine='"""Fine."""')
    assert set(found) == {"fine"}


def test_nothing_is_run(tmp_path: Path) -> None:
    assert set(read(tmp_path, bomb='"""A bomb."""\nraise SystemExit("run")')) == {"bomb"}
