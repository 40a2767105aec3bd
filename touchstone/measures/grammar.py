"""Parser of measure names: ir_measures' syntax with more parameters.

    nDCG@10   RR   AP(rel=2)@100   nDCG(gain='exp2',ideal='local')@10   nDCG(gain={0:0,1:1,2:3})

A family, then parameters in parentheses, then a cutoff; the last two are optional. ir_measures'
own `dcg='exp-log2'`, `gains={…}` and `judged_only=True` are accepted as well. Nothing is
evaluated, and names have a length limit, so untrusted text can be parsed.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from touchstone.measures.definition import FAMILIES, PARAMETERS, Measure, gain_table
from touchstone.measures.errors import MeasureError

LONGEST_NAME: Final = 600
MOST_MEASURES: Final = 200

_SHAPE: Final = re.compile(
    r"(?P<family>[A-Za-z][A-Za-z_]*)(?:\((?P<parameters>[^()]*)\))?(?:@(?P<cutoff>[^()@]*))?"
)
_NUMBER: Final = r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_PARAMETER: Final = re.compile(
    rf"\s*(?P<name>[A-Za-z_]+)\s*=\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\""
    rf"|(?P<number>{_NUMBER})|(?P<word>True|False)|\{{(?P<table>[^}}]*)\}})\s*(?P<end>,|$)"
)
_ENTRY: Final = re.compile(
    rf"\s*(?P<value>{_NUMBER})\s*:\s*(?P<gain>{_NUMBER})\s*(?P<end>,|$)", re.ASCII
)
_FAMILY_BY_ALIAS: Final = {
    alias.lower(): family.name
    for family in FAMILIES.values()
    for alias in (family.name, *family.aliases)
}
# What trec_eval prints before a cutoff: ndcg_cut_10. As ir_measures reads these names.
_TREC_EVAL_CUT: Final = {
    "ndcg_cut": "nDCG",
    "P": "P",
    "recall": "R",
    "success": "Hit",
    "map_cut": "AP",
}
_TREC_EVAL: Final = re.compile(
    rf"(?P<stem>{'|'.join(_TREC_EVAL_CUT)})[_.](?P<cutoff>[1-9][0-9]{{0,8}})"
)
_WHOLE: Final = {one.name for one in PARAMETERS.values() if one.kind == "whole"}
# ir_measures' own parameters: (name, value) there -> (name, value) here; None: nothing to set.
_TRANSLATED: Final[dict[tuple[str, object], tuple[str, object] | None]] = {
    ("dcg", "log2"): None,
    ("dcg", "exp-log2"): ("gain", "exp2"),
    ("judged_only", False): None,
    ("judged_only", True): ("unjudged", "condensed"),
}


def parse_measure(text: str) -> Measure:
    """The measure that a name means. Raises MeasureError that says what is wrong with it."""
    name = _of_trec_eval(text.strip())
    if len(name) > LONGEST_NAME:
        raise MeasureError(f"the name of a measure has at most {LONGEST_NAME} characters")
    shape = _SHAPE.fullmatch(name)
    if shape is None:
        raise MeasureError(f"{_shown(name)} is not the name of a measure; example: nDCG@10")
    family = _family(shape["family"])
    parameters = dict(_parameters(name, shape["parameters"] or ""))
    cutoff = None if shape["cutoff"] is None else _cutoff(name, shape["cutoff"])
    try:
        return Measure(family=family, cutoff=cutoff, **parameters)
    except MeasureError as error:
        raise MeasureError(f"{_shown(name)}: {error.message}") from None


def parse_measures(text: str) -> list[tuple[str, Measure]]:
    """Several names, apart by blanks or commas: each as it was written, with its measure.

    The same name again is left out. Raises MeasureError where one is wrong, or there is none.
    """
    return [(name, parse_measure(name)) for name in split_names(text)]


def split_names(text: str) -> list[str]:
    """The distinct names in a text, apart by blanks or commas, before any of them is read.

    Raises MeasureError where there is none, or where there are too many.
    """
    names = list(dict.fromkeys(_split(text)))
    if not names:
        raise MeasureError("enter a measure, such as nDCG@10")
    if len(names) > MOST_MEASURES:
        raise MeasureError(f"at most {MOST_MEASURES} measures can be computed at a time")
    return names


def _split(text: str) -> Iterator[str]:
    """Cuts at blanks and commas that are outside parentheses."""
    depth, name = 0, ""
    for character in text:
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        if depth <= 0 and (character == "," or character.isspace()):
            if name:
                yield name
            name = ""
        else:
            name += character
    if name:
        yield name


def _of_trec_eval(name: str) -> str:
    """Our name of what trec_eval prints as `ndcg_cut_10` or `recip_rank`; others as they are."""
    result = _TREC_EVAL.fullmatch(name)
    return f"{_TREC_EVAL_CUT[result['stem']]}@{result['cutoff']}" if result else name


def _family(text: str) -> str:
    family = _FAMILY_BY_ALIAS.get(text.lower())
    if family is None:
        near = get_close_matches(text.lower(), _FAMILY_BY_ALIAS, n=1)
        hint = f"; did you mean {_FAMILY_BY_ALIAS[near[0]]}?" if near else ""
        raise MeasureError(f"unknown measure {_shown(text)}{hint or _known()}")
    return family


def _known() -> str:
    return "; available: " + ", ".join(FAMILIES)


def _cutoff(name: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        raise MeasureError(f"{_shown(name)}: the cutoff must be a whole number from 1")
    return int(text)


def _parameters(name: str, text: str) -> Iterator[tuple[str, Any]]:
    position, seen = 0, set()
    while position < len(text):
        match = _PARAMETER.match(text, position)
        if match is None or (match["end"] == "," and match.end() == len(text)):
            raise MeasureError(
                f"{_shown(name)}: write parameters as name=value, with words in quotes"
            )
        position = match.end()
        parameter, value = _translated(name, match["name"], _value(name, match))
        if parameter in seen:
            raise MeasureError(f"{_shown(name)}: {parameter} is set twice")
        seen.add(parameter)
        if parameter is not None:
            yield parameter, value


def _value(name: str, match: re.Match[str]) -> object:
    if match["word"] is not None:
        return match["word"] == "True"
    if match["number"] is not None:
        number = float(match["number"])
        whole = match["name"] in _WHOLE and number.is_integer()
        return int(number) if whole else number
    if match["table"] is not None:
        return gain_table(_table(name, match["table"]))
    return match["single"] if match["single"] is not None else match["double"]


def _table(name: str, text: str) -> dict[float, float]:
    table: dict[float, float] = {}
    position = 0
    while position < len(text):
        match = _ENTRY.match(text, position)
        if match is None or float(match["value"]) in table:
            raise MeasureError(f"{_shown(name)}: write a table of gains as {{0:0,1:1,2:3}}")
        table[float(match["value"])] = float(match["gain"])
        position = match.end()
    return table


def _translated(name: str, parameter: str, value: object) -> tuple[str | None, object]:
    if parameter == "gains" and isinstance(value, tuple):
        return "gain", value
    if parameter in ("dcg", "judged_only"):
        if (parameter, value) not in _TRANSLATED:
            raise MeasureError(f"{_shown(name)}: {parameter} can't be {value!r}")
        return _TRANSLATED[parameter, value] or (None, None)
    if parameter not in PARAMETERS:
        known = ", ".join(PARAMETERS)
        raise MeasureError(f"{_shown(name)}: unknown parameter {parameter}; available: {known}")
    return parameter, value


def _shown(text: str) -> str:
    shown = text if len(text) <= 60 else text[:59] + "…"
    return repr(shown)
