"""Loops are compiled once on a machine, and loaded without Numba ever after."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from touchstone import compiled

MODULES = ("touchstone.files.loops", "touchstone.measures.loops")
TINY = """
from touchstone.compiled import loop


@loop("int64[1]", "uint8[2]", "float64", "int64")
def weigh(numbers, bytes_, weight, more):
    total = more
    for number in numbers:
        total += number
    for row in range(bytes_.shape[0]):
        for column in range(bytes_.shape[1]):
            total += bytes_[row, column]
    return int(total * weight)
"""
BAD = """
import numpy as np

from touchstone.compiled import loop


@loop("int64")
def allocate(n):
    return len(np.empty(n))
"""
WITHOUT_NUMBA = """
import sys

sys.modules["numba"] = None
from touchstone import compiled

for module in {modules!r}:
    assert compiled.loops_of(module, may_compile=False) is not None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where modules of loops may be written, and compiled; none has been yet."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    for kept in (compiled._loaded, compiled._compiled):
        kept.cache_clear()
    return tmp_path


def write(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text)
    return name


@pytest.mark.parametrize("module", MODULES)
def test_they_are_there(module: str) -> None:
    assert compiled.loops_of(module) is not None


def test_what_is_compiled_is_loaded_by_the_next_process_without_numba() -> None:
    for module in MODULES:
        compiled.loops_of(module)
    subprocess.run([sys.executable, "-c", WITHOUT_NUMBA.format(modules=MODULES)], check=True)


def test_a_loop_takes_arrays_and_numbers(folder: Path) -> None:
    loops = compiled.loops_of(write(folder, "tiny_taken", TINY))
    bytes_ = np.full((2, 3), 255, np.uint8)
    assert loops.weigh(np.arange(5), bytes_, 0.5, 4) == (10 + 6 * 255 + 4) // 2
    assert loops.weigh(np.empty(0, np.int64), bytes_[:0], 2.0, -3) == -6


def test_a_loop_is_bound_to_what_it_is_given_many_times(folder: Path) -> None:
    loops = compiled.loops_of(write(folder, "tiny_bound", TINY))
    bytes_ = np.full((2, 3), 255, np.uint8)
    weigh = loops.weigh.bound(np.arange(5)).bound(bytes_)
    assert weigh(0.5, 4) == loops.weigh(np.arange(5), bytes_, 0.5, 4)
    bytes_[:] = 0  # the memory is that of the caller
    assert weigh(0.5, 4) == (10 + 4) // 2
    with pytest.raises(TypeError, match="contiguous"):
        loops.weigh.bound(np.arange(10)[::2])


@pytest.mark.parametrize(
    ("numbers", "bytes_"),
    [
        (np.arange(5, dtype=np.int32), np.zeros((1, 1), np.uint8)),
        (np.arange(10)[::2], np.zeros((1, 1), np.uint8)),
        (np.arange(5), np.zeros(1, np.uint8)),
        (np.arange(5), np.zeros((2, 3), np.uint8).T),
    ],
)
def test_what_does_not_lie_as_a_loop_reads_it_is_refused(
    folder: Path, numbers: np.ndarray, bytes_: np.ndarray
) -> None:
    loops = compiled.loops_of(write(folder, "tiny_refused", TINY))
    with pytest.raises(TypeError, match="contiguous"):
        loops.weigh(numbers, bytes_, 1.0, 0)


def test_a_damaged_file_is_compiled_anew(folder: Path) -> None:
    module = write(folder, "tiny_damaged", TINY)
    compiled.loops_of(module)
    file = compiled._file_of(module)
    file.write_bytes(file.read_bytes()[:-1])
    compiled._loaded.cache_clear()
    compiled._compiled.cache_clear()
    assert compiled.loops_of(module, may_compile=False) is None
    assert compiled.loops_of(module) is not None


def test_another_source_is_another_file(folder: Path) -> None:
    module = write(folder, "tiny_changed", TINY)
    before = compiled._file_of(module)
    write(folder, module, TINY.replace("total = more", "total = -more"))
    assert compiled._file_of(module) != before


def test_another_source_of_any_part_of_a_package_is_another_file(folder: Path) -> None:
    (folder / "parted").mkdir()
    write(folder / "parted", "__init__", "from parted.weighing import weigh")
    write(folder / "parted", "weighing", TINY)
    assert compiled.loops_of("parted").weigh(np.arange(5), np.zeros((1, 1), np.uint8), 1.0, 0) == 10
    before = compiled._file_of("parted")
    write(folder / "parted", "weighing", TINY.replace("total = more", "total = -more"))
    assert compiled._file_of("parted") != before


def test_a_loop_that_needs_numba_when_it_runs_is_none(folder: Path) -> None:
    assert compiled.loops_of(write(folder, "bad_loops", BAD)) is None


def test_without_a_folder_numba_or_llvmlite_there_are_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = write(folder, "tiny_without", TINY)
    (folder / "kept").write_text("a file, where a folder should be")
    assert compiled.loops_of(module) is None
    (folder / "kept").unlink()
    for name in ("numba", "llvmlite.binding"):
        compiled._loaded.cache_clear()
        compiled._compiled.cache_clear()
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            assert compiled.loops_of(module) is None
    compiled._compiled.cache_clear()
    assert compiled.loops_of(module) is not None


def test_they_are_loaded_when_they_are_worth_it_and_compiled_later(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = write(folder, "tiny_worth", TINY)
    monkeypatch.setattr(compiled._Saved, "seconds", 0.0)
    monkeypatch.setattr(compiled, "LOADING", 1.0)
    monkeypatch.setattr(compiled, "COMPILING", 3.0)
    assert compiled.loops_after(module, 0.5) is None
    assert compiled.loops_after(module, 1.0) is None  # there is nothing to be loaded
    found = compiled.loops_after(module, 2.0)
    assert found is not None
    monkeypatch.setattr(compiled._Saved, "seconds", 0.0)
    assert compiled.loops_after(module, 0.5) is None
    compiled._loaded.cache_clear()
    assert compiled.loops_after(module, 0.6) is not None


def test_a_file_is_there_whole_or_not_at_all(folder: Path) -> None:
    compiled._keep(folder / "kept" / "one.o", {"loops": {}}, b"code\n")
    assert [one.name for one in (folder / "kept").iterdir()] == ["one.o"]
    assert compiled._read(folder / "kept" / "one.o")[1] == b"code\n"
    (folder / "two.o").mkdir()
    with pytest.raises(OSError, match="two"):
        compiled._keep(folder / "two.o", {"loops": {}}, b"code")
    assert not any(one.name.startswith("tmp") for one in folder.iterdir())
