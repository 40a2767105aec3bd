"""Several small ES modules as one file, so that a page with many of them asks only once.

A browser would read the modules as they are; this saves it the round trips. Each module becomes
a function that returns what it exports, so that two modules may use the same name. Comments stay
behind, with the types a third of the text, and so do blanks that say nothing (rjsmin). Each marked
text is put into one language here, so that no page carries the texts of another.
"""

import json
import re
from collections.abc import Iterable, Mapping
from gettext import NullTranslations
from typing import Final, Protocol

import rjsmin

_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT: Final = re.compile(
    r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE
)
_STYLE_COMMENT: Final = re.compile(r"[ \t]*/\*(?:(?!\*/).)*\*/\n?", re.DOTALL)
_AROUND: Final = re.compile(r"\s*([{};])\s*")
# rjsmin takes what follows for a division, and would cut blanks and quotes out of the pattern
_PATTERN_AFTER_ARROW: Final = re.compile(r"=>\s*/(?![/*])")
# a marked text: static/annotation/texts.js
_STRING: Final = r'"(?:[^"\\\n]|\\.)*"'
_TEXT: Final = re.compile(rf"\bgettext\(\s*({_STRING}),?\s*\)")
_TEXT_IN_CONTEXT: Final = re.compile(rf"\bpgettext\(\s*({_STRING}),\s*({_STRING}),?\s*\)")
_COUNTED_TEXT: Final = re.compile(rf"\bngettext\(\s*({_STRING}),\s*({_STRING}),")
_MARK: Final = re.compile(rf"\b[np]?gettext\((?!{_STRING},{_STRING},)")
_LEFT: Final = re.compile(r"^\s*(?:import|export)\b", re.MULTILINE)


class Texts(Protocol):
    """The texts of a language, as `gettext.GNUTranslations` has them."""

    def gettext(self, message: str) -> str:
        """The text."""

    def pgettext(self, context: str, message: str) -> str:
        """The text where it stands for `context`."""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """The text for a number."""


def joined_modules(sources: Mapping[str, str], entry: str, texts: Texts | None = None) -> str:
    """One module that does what `entry` does with all that it imports.

    sources: the text of every module by its name, without `.js`. Understood are
    `import { a, b as c } from "./name.js";` on lines of their own, and `export` before a
    function, class or const; nothing else may be imported or exported.
    texts: of the reader's language; as they are marked if None. Understood are `gettext("…")`,
    `pgettext("context", "…")` and `ngettext("…", "…", n)`, all with literal texts.
    Raises ValueError for anything else, a missing module, modules that import each other, and a
    regular expression right after `=>`.
    """
    order: list[str] = []
    _visit(sources, entry, order, ())
    functions = (_as_function(name, sources[name], texts or NullTranslations()) for name in order)
    return str(rjsmin.jsmin("\n".join(functions)))


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


def _as_function(name: str, source: str, texts: Texts) -> str:
    exported = _EXPORT.findall(source)
    body = _IMPORT.sub(lambda match: _as_constants(*match.groups()), _in_language(source, texts))
    if _MARK.search(body):
        raise ValueError(f"{name}.js marks a text in a way that is not understood")
    body = _EXPORT.sub("", body)
    if _LEFT.search(body):
        raise ValueError(f"{name}.js imports or exports in a way that is not understood")
    if _PATTERN_AFTER_ARROW.search(body):
        raise ValueError(f"{name}.js has a regular expression after =>; give it a name")
    return (
        f"const {_constant(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"
    )


def _in_language(source: str, texts: Texts) -> str:
    """The module with its marked texts in another language; of a counted one both forms stay."""

    def put(match: re.Match[str]) -> str:
        return _quoted(texts.gettext(*map(json.loads, match.groups())))

    def put_in_context(match: re.Match[str]) -> str:
        return _quoted(texts.pgettext(*map(json.loads, match.groups())))

    def put_counted(match: re.Match[str]) -> str:
        one, more = map(json.loads, match.groups())
        forms = (_quoted(texts.ngettext(one, more, count)) for count in (1, 2))
        return f"ngettext({','.join(forms)},"

    source = _COUNTED_TEXT.sub(put_counted, source)
    return _TEXT.sub(put, _TEXT_IN_CONTEXT.sub(put_in_context, source))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _as_constants(names: str, module: str) -> str:
    return f"const {names.replace(' as ', ': ')} = {_constant(module)};\n"


def _constant(module: str) -> str:
    return f"${module.replace('-', '_')}"
