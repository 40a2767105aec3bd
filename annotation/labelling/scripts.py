"""Several small ES modules as one file, so that a page with many of them asks only once.

A browser would read the modules as they are; this saves it the round trips. Each module becomes
a function that returns what it exports, so that two modules may use the same name. Comments stay
behind, with the types a third of the text, and so do blanks that say nothing (rjsmin).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import rjsmin

_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE
)
_STYLE_COMMENT: Final = re.compile(r"[ \t]*/\*(?:(?!\*/).)*\*/\n?", re.DOTALL)
_AROUND: Final = re.compile(r"\s*([{};])\s*")
# rjsmin takes what follows for a division, and would cut blanks and quotes out of the pattern
_PATTERN_AFTER_ARROW: Final = re.compile(r"=>\s*/(?![/*])")
_LEFT: Final = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)


def joined_modules(sources: Mapping[str, str], entry: str) -> str:
    """One module that does what `entry` does with all that it imports.

    sources: the text of every module by its name, without `.js`. Understood are
    `import { a, b as c } from "./name.js";` on lines of their own, and `export` before a
    function, class or const; nothing else may be imported or exported.
    Raises ValueError for anything else, a missing module, modules that import each other, and a
    regular expression right after `=>`.
    """
    order: list[str] = []
    _visit(sources, entry, order, ())
    return str(rjsmin.jsmin("\n".join(_as_function(name, sources[name]) for name in order)))


def joined_styles(sources: Iterable[str]) -> str:
    """One style sheet of several, without comments and the blanks around its rules.

    No string in them may hold a brace or a semicolon.
    """
    return _AROUND.sub(r"\1", _STYLE_COMMENT.sub("", "".join(sources)))


def _visit(sources: Mapping[str, str], name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above or name not in sources:
        raise ValueError(f"{' > '.join((*above, name))}: modules import each other, or one lacks")
    if name in order:
        return
    for _, imported in _IMPORT.findall(sources[name]):
        _visit(sources, imported, order, (*above, name))
    order.append(name)


def _as_function(name: str, source: str) -> str:
    exported = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda match: _as_constants(*match.groups()), source)
    body = _EXPORT.sub("", body)
    if _LEFT.search(body):
        raise ValueError(f"{name}.js imports or exports in a way that is not understood")
    if _PATTERN_AFTER_ARROW.search(body):
        raise ValueError(f"{name}.js has a regular expression after =>; give it a name")
    return (
        f"const {_constant(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"
    )


def _as_constants(names: str, module: str) -> str:
    return f"const {names.replace(' as ', ': ')} = {_constant(module)};\n"


def _constant(module: str) -> str:
    return f"${module.replace('-', '_')}"
