"""What people ask for: a measure by its name, or as a tool means it, `lightgbm:nDCG@10`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.grammar import parse_measure, split_names
from touchstone.measures.presets import PRESETS, Preset, preset
from touchstone.measures.tool_rules import apply

_AS_A_TOOL: Final = re.compile(r"(?P<preset>[A-Za-z][A-Za-z0-9_]*):(?P<measure>.+)", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """A requested measure.

    name: as it was written. plain: the measure that is named. preset: whose rules are meant.
    measure: what that comes to, and what is computed.
    """

    name: str
    plain: Measure
    preset: Preset | None
    measure: Measure

    @property
    def canonical(self) -> str:
        """The one name of just this, which `ask` reads back."""
        return self.plain.name if self.preset is None else f"{self.preset.name}:{self.plain.name}"

    @property
    def caveat(self) -> str:
        """Where the tool can't be followed; "" for none."""
        return "" if self.preset is None else self.preset.caveat


def ask(name: str, usual: Preset | None = None) -> Asked:
    """What a name asks for. usual: the preset that is meant where the name has none of its own.

    Raises MeasureError that says what is wrong with it.
    """
    result = _AS_A_TOOL.fullmatch(name.strip())
    if result is None:
        return as_meant(name, parse_measure(name), usual)
    return as_meant(name, parse_measure(result["measure"]), preset(result["preset"]))


def ask_all(text: str, usual: Preset | None = None) -> tuple[Asked, ...]:
    """Several names, apart by blanks or commas. The same name again is left out."""
    return tuple(ask(name, usual) for name in split_names(text))


def as_meant(name: str, plain: Measure, chosen: Preset | None) -> Asked:
    """A measure as a preset's tool means it. Raises MeasureError where the tool has none such."""
    return Asked(name, plain, chosen, plain if chosen is None else apply(chosen, plain))


@lru_cache(maxsize=1024)
def recognise(measure: Measure) -> Asked:
    """A measure under the name by which it is known best: a tool's, where its definition is one's.

    Its own name where that says nothing unusual, or no tool means just this. Where several tools
    mean the same, the first of the presets gives its name.
    """
    plain = Measure(family=measure.family, cutoff=measure.cutoff, average=measure.average)
    named = dict.fromkeys([plain, replace(plain, rel=measure.rel)])
    for known in () if measure in named else named:
        for asked in every_preset(known):
            if asked.measure == measure:
                return asked
    return as_meant(measure.name, measure, None)


def every_preset(plain: Measure) -> Iterator[Asked]:
    """The measure as every tool means it that has it."""
    for chosen in PRESETS.values():
        try:
            yield as_meant(f"{chosen.name}:{plain.name}", plain, chosen)
        except MeasureError:
            continue
