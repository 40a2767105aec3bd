"""The docstrings of modules written in C, which have no source to read: a fixed list of modules
whose import does nothing but define names."""

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType

from config.demo.docstrings import Docstring, tidy_text

# The module written in C, and the name under which programmers import it.
NATIVE = {
    "builtins": "builtins",
    "array": "array",
    "atexit": "atexit",
    "binascii": "binascii",
    "errno": "errno",
    "faulthandler": "faulthandler",
    "fcntl": "fcntl",
    "gc": "gc",
    "grp": "grp",
    "itertools": "itertools",
    "marshal": "marshal",
    "math": "math",
    "cmath": "cmath",
    "mmap": "mmap",
    "pwd": "pwd",
    "resource": "resource",
    "select": "select",
    "sys": "sys",
    "syslog": "syslog",
    "termios": "termios",
    "time": "time",
    "unicodedata": "unicodedata",
    "zlib": "zlib",
    "_asyncio": "asyncio",
    "_bisect": "bisect",
    "_bz2": "bz2",
    "_codecs": "codecs",
    "_collections": "collections",
    "_contextvars": "contextvars",
    "_csv": "csv",
    "_datetime": "datetime",
    "_decimal": "decimal",
    "_elementtree": "xml.etree.ElementTree",
    "_functools": "functools",
    "_hashlib": "hashlib",
    "_heapq": "heapq",
    "_io": "io",
    "_json": "json",
    "_locale": "locale",
    "_lzma": "lzma",
    "_operator": "operator",
    "_pickle": "pickle",
    "_queue": "queue",
    "_random": "random",
    "_signal": "signal",
    "_socket": "socket",
    "_sqlite3": "sqlite3",
    "_sre": "re",
    "_ssl": "ssl",
    "_stat": "stat",
    "_statistics": "statistics",
    "_struct": "struct",
    "_thread": "threading",
    "_tracemalloc": "tracemalloc",
    "_warnings": "warnings",
    "_weakref": "weakref",
    "_zoneinfo": "zoneinfo",
    "posix": "os",
    "pyexpat": "xml.parsers.expat",
}


def native_docstrings() -> Iterator[Docstring]:
    """Every public docstring of the listed modules, in the list's order, names sorted.

    Yields modules (only where the C module is what one imports), classes, functions and methods.
    A module that this Python was built without is passed over.
    """
    for real, public in NATIVE.items():
        try:
            module = importlib.import_module(real)
        except ImportError:
            continue
        if real == public != "builtins":
            yield from _told(module, public, "module", public)
        yield from _of_module(module, public)


def _of_module(module: ModuleType, public: str) -> Iterator[Docstring]:
    for name in sorted(vars(module)):
        if name.startswith("_"):
            continue
        # sys keeps its hooks under such names too, in case someone replaced them.
        value = vars(module).get(f"__{name}__", vars(module)[name])
        dotted = name if public == "builtins" else f"{public}.{name}"
        if inspect.isclass(value) and value.__name__ == name:
            yield from _told(value, dotted, "class", public)
            yield from _of_class(value, dotted, public)
        elif inspect.isbuiltin(value):
            yield from _told(value, dotted, "function", public)


def _of_class(owner: type, dotted: str, public: str) -> Iterator[Docstring]:
    for name, value in sorted(vars(owner).items()):
        if not name.startswith("_") and not inspect.isclass(value):
            member = getattr(value, "__func__", value)
            yield from _told(member, f"{dotted}.{name}", "method", public)


def _told(value: object, dotted: str, kind: str, public: str) -> Iterator[Docstring]:
    text = value.__doc__
    described = isinstance(value, type | ModuleType) or text != type(value).__doc__
    if isinstance(text, str) and text.strip() and described:
        yield Docstring(dotted, kind, public, dotted + _signature(value), tidy_text(text))


def _signature(value: object) -> str:
    """The parameters as documented by the C function, without the bound first one."""
    text = getattr(value, "__text_signature__", None)
    if not isinstance(text, str):
        return ""
    inside = [part.strip() for part in text.strip("()").split(",")]
    if inside and inside[0] in {"$self", "$module", "$type", "self", "$cls"}:
        inside = inside[1:]
        if inside[:1] == ["/"]:
            inside = inside[1:]
    return f"({', '.join(inside)})"
