"""The docstrings of the standard library's Python sources, read without running any of them."""

import ast
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from config.demo.docstrings import Docstring, tidy_text

# Left out: tests, an editor, toy programs, code tables, protocols and machinery that few programs
# call, what some systems package apart, and what newer Pythons removed, so that the demo is of a
# handy size and much the same on each.
LEFT_OUT = frozenset(
    {
        "__pycache__",
        "aifc",
        "antigravity",
        "asynchat",
        "asyncore",
        "base64mime",
        "bdb",
        "cgi",
        "cgitb",
        "charset",
        "chunk",
        "codeop",
        "compileall",
        "contentmanager",
        "cookiejar",
        "crypt",
        "dist-packages",
        "distutils",
        "dom",
        "encodings",
        "ensurepip",
        "feedparser",
        "forkserver",
        "generator",
        "headerregistry",
        "idle_test",
        "idlelib",
        "imaplib",
        "imghdr",
        "imp",
        "lib-dynload",
        "lib2to3",
        "macholib",
        "mailbox",
        "mailcap",
        "managers",
        "modulefinder",
        "msilib",
        "netrc",
        "nntplib",
        "ntpath",
        "nturl2path",
        "opcode",
        "optparse",
        "pickletools",
        "pipes",
        "plistlib",
        "policy",
        "popen_fork",
        "poplib",
        "py_compile",
        "pyclbr",
        "pydoc",
        "pydoc_data",
        "quoprimime",
        "reduction",
        "rlcompleter",
        "sax",
        "sharedctypes",
        "site",
        "site-packages",
        "smtpd",
        "sndhdr",
        "spawn",
        "sunau",
        "symtable",
        "tabnanny",
        "telnetlib",
        "test",
        "tests",
        "this",
        "tkinter",
        "trace",
        "turtle",
        "turtledemo",
        "uu",
        "venv",
        "windows_events",
        "windows_utils",
        "wsgiref",
        "xdrlib",
        "xmlrpc",
        "zipimport",
    }
)

# Where Python code lives under another name than the one that programmers import.
RENAMED = {
    "posixpath": "os.path",
    "genericpath": "os.path",
    "_collections_abc": "collections.abc",
    "_pydatetime": "datetime",
    "_pydecimal": "decimal",
    "_py_warnings": "warnings",
    "_weakrefset": "weakref",
    "_threading_local": "threading",
    "concurrent.futures._base": "concurrent.futures",
    "pathlib._local": "pathlib",
    "zipfile._path": "zipfile",
}

# Packages whose public names are imported from the package, whichever file defines them.
GATHERED = ("asyncio", "unittest", "json", "sqlite3", "zoneinfo", "tomllib", "concurrent.futures")
NOT_GATHERED = frozenset({"unittest.mock", "json.tool"})


def python_docstrings(library: Path) -> Iterator[Docstring]:
    """Every public docstring of the Python sources below `library`, in a fixed order.

    library: the directory that holds `os.py`.
    Yields modules, classes, functions and methods; private names and tests are left out.
    """
    for name, path in sorted(_modules(library), key=_public_first):
        tree = _parsed(path)
        if tree is not None:
            yield from _of_module(name, tree)


def _public_first(module: tuple[str, Path]) -> tuple[bool, str]:
    name = module[0]
    return (any(part.startswith("_") for part in name.split(".")), name)


def _modules(library: Path) -> Iterator[tuple[str, Path]]:
    for path in _source_files(library):
        parts = path.relative_to(library).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        private = any(part.startswith("_") for part in name.split("."))
        if name and (name in RENAMED or not private):
            yield name, path


def _source_files(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()):
        if path.stem in LEFT_OUT or (path.is_symlink() and path.is_dir()):
            continue
        if path.suffix == ".py":
            yield path
        elif path.is_dir() and (path / "__init__.py").is_file():
            yield from _source_files(path)


def _parsed(path: PurePath) -> ast.Module | None:
    try:
        with tokenize.open(str(path)) as source, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.read())
    except (SyntaxError, UnicodeDecodeError, OSError):
        return None  # a file that this Python can't read is not part of its library


def _of_module(name: str, tree: ast.Module) -> Iterator[Docstring]:
    text = ast.get_docstring(tree)
    public = RENAMED.get(name, name)
    if text:
        yield Docstring(public, "module", public, public, tidy_text(text))
    home = _home(name)
    exported = _exported(tree)
    for node in _definitions(tree.body):
        if exported is not None and node.name not in exported:
            continue
        if isinstance(node, ast.ClassDef):
            yield from _of_class(home, home, node)
        else:
            yield from _of_function(home, home, node, "function")


def _exported(tree: ast.Module) -> frozenset[str] | None:
    """What `__all__` lists; None where there is none or where it is put together piece by piece."""
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "__all__"]
    plain = [n for n in tree.body if isinstance(n, ast.Assign) and n.targets[0] in uses]
    if len(uses) != 1 or not plain:
        return None
    try:
        return frozenset(ast.literal_eval(plain[0].value))
    except ValueError:
        return None


def _home(name: str) -> str:
    if name not in NOT_GATHERED:
        for package in GATHERED:
            if name.startswith(package + "."):
                return package
    return RENAMED.get(name, name)


AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


def _definitions(body: Iterable[ast.stmt]) -> Iterator[ast.ClassDef | AnyFunction]:
    """Public definitions, also those behind an `if` or a `try` for one system or another."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_"):
                yield node
        elif isinstance(node, ast.If):
            yield from _definitions([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from _definitions([*node.body, *handlers, *node.orelse, *node.finalbody])


def _of_class(module: str, scope: str, node: ast.ClassDef) -> Iterator[Docstring]:
    name = f"{scope}.{node.name}"
    starts = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    documented: list[ast.ClassDef | AnyFunction] = [node, *starts[:1]]
    texts = [tidy_text(text) for n in documented if (text := ast.get_docstring(n))]
    signature = _signature(starts[0], is_method=True) if starts else ""
    if texts:
        yield Docstring(name, "class", module, name + signature, "\n\n".join(texts))
    for inner in _definitions(node.body):
        if isinstance(inner, ast.ClassDef):
            yield from _of_class(module, name, inner)
        else:
            yield from _of_function(module, name, inner, "method")


def _of_function(module: str, scope: str, node: AnyFunction, kind: str) -> Iterator[Docstring]:
    text = ast.get_docstring(node)
    if text:
        name = f"{scope}.{node.name}"
        title = name + _signature(node, is_method=kind == "method")
        yield Docstring(name, kind, module, title, tidy_text(text))


def _signature(node: AnyFunction, *, is_method: bool) -> str:
    """The parameters as a caller sees them: without annotations and without `self`."""
    arguments = node.args
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    shown = ast.unparse(arguments)
    decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    if decorators & {"property", "_SpecialForm"}:
        return ""
    if is_method and "staticmethod" not in decorators:
        first, _, rest = shown.partition(", ")
        shown = rest.removeprefix("/, ") if first in {"self", "cls"} else shown
    return f"({shown})"
