"""Finds texts in Python and in scripts that no mark makes translatable.

What looks like a text has a word with a capital letter in front, or two words. What only looks like
one is named in NO_TEXTS.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

from babel.messages.jslexer import Token, tokenize

from tests.texts.sources import KEYWORDS

LOOKS_LIKE_TEXT: Final = re.compile(r"^\W*[A-Z][a-z’]+(?![\w-])|[A-Za-z’…]+[,:;.]? [A-Za-z’]{2,}")
# names of keys, headers, fonts, storage and classes, words of other languages, file formats
NO_TEXTS: Final = frozenset(
    {
        "(prefers-reduced-motion: reduce)",
        ".table-wrap, .table-wrap > table, main pre",
        ".table-wrap, main pre",
        "; Path=/; Max-Age=",
        "; Secure",
        "Alt",
        "Backspace",
        "Control",
        "Dead",
        "Delete",
        "End",
        "Error",
        "Enter",
        "Escape",
        "Home",
        "Insert",
        "Meta",
        "Plus",
        "Shift",
        "Tab",
        "Touchstone-Account",
        "button danger",
        "button primary",
        "grade none",
        "input, textarea, select",
        "input, textarea, select, [contenteditable]",
        "noopener noreferrer",
        "not enough context",
        "not readable",
        "piece code",
        "public, max-age=31536000, immutable",
        "small muted clamp",
        "toast is-",
        "touchstone grid",
        "touchstone guideline ",
        "wrong language",
    }
)
# what no reader sees: errors of ours, types, descriptions of the REST interface
UNSEEN_CALLS: Final = frozenset(
    {
        "Error",
        "ValueError",
        "OpenApiParameter",
        "PolymorphicProxySerializer",
        "extend_schema",
        "inline_serializer",
        "NotFound",
        "compile",
    }
)
UNSEEN_ARGUMENTS: Final = frozenset({"help_text", "description"})


def find_unmarked_in_python(source: str) -> list[str]:
    """The texts of a module that stay in English, docstrings and annotations aside."""
    tree = ast.parse(source)
    unseen = {id(node) for parent in ast.walk(tree) for node in _unseen(parent)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in unseen
        and _is_text(node.value)
    ]


def _unseen(parent: ast.AST) -> Iterator[ast.AST]:
    match parent:
        case ast.Expr(value=ast.Constant() as docstring):
            yield docstring
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if (
            name in KEYWORDS or name in UNSEEN_CALLS
        ):
            yield from ast.walk(parent)
        case ast.keyword(arg=name, value=value) if name in UNSEEN_ARGUMENTS:
            yield from ast.walk(value)
        case ast.Subscript(slice=annotation) | ast.arg(annotation=ast.expr() as annotation):
            yield from ast.walk(annotation)
        case (
            ast.AnnAssign(annotation=annotation) | ast.FunctionDef(returns=ast.expr() as annotation)
        ):
            yield from ast.walk(annotation)


def find_unmarked_in_script(source: str) -> list[str]:
    """The texts of a module that stay in English."""
    tokens = list(tokenize(source, dotted=False))
    found = []
    for position, token in enumerate(tokens):
        if token.type in {"string", "template_string"} and not _is_marked(tokens, position):
            parts = re.split(r"\$\{[^}]*\}", token.value[1:-1])
            found += [part for part in parts if _is_text(part)]
    return found


def _is_marked(tokens: list[Token], position: int) -> bool:
    """Whether the nearest call around the token marks it, or shows it to no one."""
    depth = 0
    for before in range(position - 1, 0, -1):
        match tokens[before].value:
            case ")":
                depth += 1
            case "(" if depth:
                depth -= 1
            case "(":
                name = tokens[before - 1].value
                return name in KEYWORDS or name in UNSEEN_CALLS
            case ";" | "{" | "}":
                return False
    return False


def _is_text(value: str) -> bool:
    return value not in NO_TEXTS and bool(LOOKS_LIKE_TEXT.search(value))
