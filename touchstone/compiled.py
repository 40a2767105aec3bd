"""Loops that Numba compiles once on a machine, and that are loaded without it ever after.

Importing Numba takes most of a second of CPU time, and LLVM's own loader a tenth of one. So what
Numba made of a module of loops is kept as an object file, beside the module or in NUMBA_CACHE_DIR,
and any process that has enough to do loads that file through llvmlite. Where Numba or llvmlite is
missing, or nothing can be kept, there are no loops, and everything is worked out by arrays.

A module of loops, or a package, marks each with `@loop`, which says what it takes; it is imported
by nobody but `_compile`. No loop raises, allocates or returns anything but a whole number: an
object file has neither Python nor Numba at hand. Its arrays are contiguous, and as long as they
say.
"""

import ctypes
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

LOADING: Final = 0.05  # seconds that loops must have been able to save: loading takes about 0.1
COMPILING: Final = 2.0  # likewise where they must be compiled first, which takes ten, once

# How Numba compiles a loop and its parts: what they work in is owned by who calls them, so nothing
# need count how many refer to it, which would be most of the work of a loop over short arrays.
PLAINLY: Final[dict[str, Any]] = {"error_model": "numpy", "_nrt": False}

# What a C function of Numba's calls where Python code raises or an array of its own is dropped.
# No loop does either.
_OF_RAISING: Final = re.compile(
    r"Py\w+|numba_(?:do_raise|gil_\w+|unpickle|runtime_build_excinfo_struct)"
    r"|NRT_(?:Free|MemInfo_call_dtor)"
)
_OF_C: Final = frozenset({"memcpy", "memmove", "memset", "memcmp"})
_DECLARED: Final = re.compile(r"^declare (?P<what>.*@(?P<name>[\w.$]+)\([^)]*\)).*$", re.MULTILINE)
_EXTERNAL: Final = re.compile(r"^(?P<name>@\w+) = external (?:\w+ )*global (?P<kind>.+?)(?:, .*)?$")


class Kind(NamedTuple):
    """What a loop takes: an array of so many axes, or, with none, a number."""

    dtype: str
    axes: int

    @classmethod
    def of(cls, text: str) -> "Kind":
        """From `uint8[2]`, or `int64` for a number."""
        dtype, _, axes = text.rstrip("]").partition("[")
        return cls(dtype, int(axes or 0))


class _Saved:
    """How many seconds loops would have saved this process so far."""

    seconds = 0.0


def loops_after(module: str, seconds: float) -> Any:
    """The loops of a module, once it is worth having them; None until then, or for ever.

    seconds: that they would save in what is to be done now.
    """
    if _Saved.seconds < COMPILING:
        _Saved.seconds += seconds
        if _Saved.seconds < LOADING:
            return None
    return loops_of(module, may_compile=_Saved.seconds >= COMPILING)


def load_soon() -> None:
    """What was compiled before is loaded as soon as anybody asks for loops."""
    _Saved.seconds = max(_Saved.seconds, LOADING)


def loops_of(module: str, *, may_compile: bool = True) -> Any:
    """The loops of a module by name; None where there are none, or none compiled."""
    found = _loaded(module)
    return _compiled(module) if found is None and may_compile else found


@cache
def _loaded(module: str) -> Any:
    """What was compiled before; None where nothing was."""
    try:
        return _load(_read(_file_of(module)))
    except (ImportError, OSError, RuntimeError, ValueError):
        return None


@cache
def _compiled(module: str) -> Any:
    """What is compiled now, unless another process did so, and kept; None where that can't be."""
    _loaded.cache_clear()
    if (found := _loaded(module)) is not None:
        return found
    try:
        _keep(_file_of(module), *_compile(module))
    except (ImportError, OSError, RuntimeError, ValueError):
        return None
    _loaded.cache_clear()
    return _loaded(module)


def _file_of(module: str) -> Path:
    """Where the object file of a module belongs: its name tells all that it depends on."""
    binding = import_module("llvmlite.binding")
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ImportError(module)
    source = Path(spec.origin)
    # imported here, for it takes a tenth of what a small file takes; it raises an ImportError
    version = import_module("importlib.metadata").version
    versions = f"{version('numba')} {version('llvmlite')} {sys.version}"
    machine = f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"
    digest = hashlib.sha256(f"{versions} {machine}".encode())
    digest.update(Path(__file__).read_bytes())
    for one in sorted(source.parent.glob("*.py")) if spec.submodule_search_locations else [source]:
        digest.update(one.read_bytes())
    folder = os.environ.get("NUMBA_CACHE_DIR") or source.parent / "__pycache__"
    return Path(folder) / f"{module}.{digest.hexdigest()[:20]}.o"


def _keep(file: Path, header: Mapping[str, object], code: bytes) -> None:
    """Writes an object file, whole or not at all."""
    head = json.dumps({**header, "sha256": hashlib.sha256(code).hexdigest()}).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as made:
        try:
            made.write(head + b"\n" + code)
            made.close()
            Path(made.name).replace(file)
        except OSError:
            Path(made.name).unlink(missing_ok=True)
            raise


def _read(file: Path) -> tuple[dict[str, Any], bytes]:
    """What `_keep` wrote. Raises ValueError where that is damaged."""
    head, _, code = file.read_bytes().partition(b"\n")
    header = json.loads(head)
    if header["sha256"] != hashlib.sha256(code).hexdigest():
        raise ValueError(f"{file} is damaged")
    return header, code


def _load(kept: tuple[dict[str, Any], bytes]) -> SimpleNamespace:
    """The loops of an object file, ready to be called."""
    header, code = kept
    binding = import_module("llvmlite.binding")
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine(binding))
    engine.add_object_file(binding.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    loops = SimpleNamespace()
    for name, (symbol, kinds) in header["loops"].items():
        setattr(loops, name, _entry(engine, symbol, [Kind(*kind) for kind in kinds]))
    return loops


def _machine(binding: Any) -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


class Entry:
    """A loop as Python calls it; what it is given is checked.

    call: the C function. kinds: what it is still to be given. first: what it is given before that,
    as C takes it. owners: of the memory of that.
    """

    def __init__(
        self,
        call: Any,
        kinds: Sequence[Kind],
        first: Sequence[Any] = (),
        owners: Sequence[Any] = (),
    ) -> None:
        self._call, self._kinds, self._first, self._owners = call, kinds, first, owners

    def __call__(self, *arguments: Any) -> int:
        """What the loop returns."""
        return int(self._call(*self._first, *_flat(self._kinds, arguments)))

    def bound(self, *arguments: Any) -> "Entry":
        """The loop that has been given these already, for whoever calls it many times."""
        own, rest = self._kinds[: len(arguments)], self._kinds[len(arguments) :]
        first = (*self._first, *_flat(own, arguments))
        return Entry(self._call, rest, first, (*self._owners, *arguments))


def _flat(kinds: Sequence[Kind], arguments: Sequence[Any]) -> list[Any]:
    """Arguments as C takes them: numbers, and arrays as their addresses and lengths."""
    flat: list[Any] = []
    for (dtype, axes), given in zip(kinds, arguments, strict=True):
        if not axes:
            flat.append(float(given) if dtype == "float64" else int(given))
            continue
        if given.dtype != dtype or given.ndim != axes or not given.flags.c_contiguous:
            raise TypeError(f"{given.dtype} {given.shape} is not contiguous {dtype}[{axes}]")
        flat.append(given.ctypes.data)
        flat += given.shape
    return flat


def _entry(engine: Any, symbol: str, kinds: list[Kind]) -> Entry:
    words: list[Any] = []
    for dtype, axes in kinds:
        number = ctypes.c_double if dtype == "float64" else ctypes.c_int64
        words += [ctypes.c_void_p] + [ctypes.c_int64] * axes if axes else [number]
    call: Any = ctypes.CFUNCTYPE(ctypes.c_int64, *words)(engine.get_function_address(symbol))
    call.engine = engine  # which owns the code
    return Entry(call, kinds)


def loop(*kinds: str) -> Callable[[Function], Function]:
    """Marks a loop. kinds: what it takes, as `Kind.of` reads it. It returns a whole number."""

    def mark(function: Function) -> Function:
        vars(function)["kinds"] = [Kind.of(kind) for kind in kinds]
        return function

    return mark


def _compile(module: str) -> tuple[dict[str, object], bytes]:
    """All loops of a module, as the header and the code of an object file."""
    found = {
        name: function
        for name, function in vars(import_module(module)).items()
        if hasattr(function, "kinds")
    }
    binding = import_module("llvmlite.binding")
    machine = _machine(binding)
    linked = binding.parse_assembly("")
    loops = {}
    for name, function in found.items():
        compiled = _c_function(name, function, function.kinds)
        loops[name] = (compiled.native_name, function.kinds)
        linked.link_in(binding.parse_assembly(_alone(compiled.inspect_llvm())))
    linked.verify()
    return {"loops": loops}, machine.emit_object(linked)


def _c_function(name: str, function: Callable[..., int], kinds: list[Kind]) -> Any:
    """A C function that takes each array as its address and its lengths.

    Raises ImportError for what Numba does not take, an array of a loop's own for example.
    """
    numba = import_module("numba")
    parameters: list[str] = []
    arguments: list[str] = []
    types: list[Any] = []
    for place, (dtype, axes) in enumerate(kinds):
        own = [f"p{place}", *(f"p{place}_{axis}" for axis in range(axes))]
        parameters += own
        kind = getattr(numba.types, dtype)
        types += [numba.types.CPointer(kind)] + [numba.int64] * axes if axes else [kind]
        arguments.append(f"carray({own[0]}, ({', '.join(own[1:])},))" if axes else own[0])
    scope: dict[str, Any] = {
        "carray": numba.carray,
        "inner": numba.njit(**PLAINLY)(function),
    }
    text = f"def {name}({', '.join(parameters)}):\n    return inner({', '.join(arguments)})\n"
    exec(text, scope)  # noqa: S102 (made of names and numbers of our own modules)
    try:
        return numba.cfunc(numba.int64(*types), error_model="numpy")(scope[name])
    except numba.errors.NumbaError as error:
        raise ImportError(f"{name} can't be compiled") from error


def _alone(text: str) -> str:
    """A module of LLVM's language that needs nothing but C's library.

    Raises ImportError where it needs more: such loops can't be loaded without Numba.
    """

    def defined(found: re.Match[str]) -> str:
        name = found["name"]
        if name.startswith("llvm.") or name in _OF_C:
            return found[0]
        if not _OF_RAISING.fullmatch(name):
            raise ImportError(f"a compiled loop needs {name}")
        return f"define linkonce_odr {found['what']} {{\n  unreachable\n}}"

    lines = [
        _EXTERNAL.sub(r"\g<name> = linkonce_odr global \g<kind> zeroinitializer", line)
        for line in _DECLARED.sub(defined, text).splitlines()
    ]
    return "\n".join(lines)
