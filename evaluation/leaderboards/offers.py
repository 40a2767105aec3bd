"""What can be chosen as a measure: every family, and every tool's definition, each in a line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.measures.asking import Asked, as_meant
from touchstone.measures.definition import (
    CHOICES,
    FAMILIES,
    PARAMETERS,
    Family,
    Measure,
    usual_value,
)
from touchstone.measures.errors import MeasureError
from touchstone.measures.families import Edges
from touchstone.measures.presets import PRESETS, Preset
from touchstone.measures.scoring import can_be_stored
from touchstone.measures.wording import describe

USUAL_CUTOFF: Final = 10


@dataclass(frozen=True)
class Offer:
    """A name that can be asked for, what it means, and where a tool can't be followed."""

    name: str
    reading: str
    caveat: str = ""


@dataclass(frozen=True)
class Offers:
    """of: the measure that the tools' definitions are of."""

    families: tuple[Offer, ...]
    of: str
    tools: tuple[Offer, ...]


@dataclass(frozen=True)
class ParameterOffer:
    """A parameter. usual: its default; words: the allowed words, if any.

    values: description of its values.
    """

    name: str
    usual: object
    words: tuple[str, ...]
    values: str


@dataclass(frozen=True)
class FamilyOffer:
    """A family of measures. example: a measure of it; reading: its description.

    cutoff: needed, optional or none. kept: whether leaderboards can have it.
    """

    name: str
    title: str
    formula: str
    source: str
    aliases: tuple[str, ...]
    cutoff: str
    revision: int
    example: str
    reading: str
    kept: bool
    parameters: tuple[ParameterOffer, ...]
    edges: Edges


@dataclass(frozen=True)
class DefinitionOffer:
    """A preset's definition of a family. name: to use in requests; definition: what is computed."""

    name: str
    definition: str
    reading: str


@dataclass(frozen=True)
class PresetOffer:
    """A public tool's definitions. is_exact: reproduced to the last digit; caveat: what is not.

    parameters: those it sets. definitions: of each family that the tool has.
    """

    name: str
    tool: str
    reading: str
    caveat: str
    is_exact: bool
    parameters: Mapping[str, object]
    definitions: tuple[DefinitionOffer, ...]


def list_offers(measure: Measure) -> Offers:
    """Every family that a leaderboard can have, and what every tool that has the measure means."""
    families = tuple(Offer(own.example, own.reading) for own in list_families() if own.kept)
    tools = (_as_meant(measure, chosen) for chosen in PRESETS.values())
    offered = tuple(
        Offer(asked.canonical, f"{asked.preset.tool}: {asked.preset.reading}.", asked.preset.caveat)
        for asked in tools
        if asked is not None and asked.preset is not None and can_be_stored(asked.measure)
    )
    return Offers(families, measure.name, offered)


def list_families() -> tuple[FamilyOffer, ...]:
    """Every family of measures."""
    return tuple(map(_family, FAMILIES.values()))


def list_presets() -> tuple[PresetOffer, ...]:
    """Every preset, with its definition of every family that its tool has."""
    return tuple(map(_preset, PRESETS.values()))


def _family(family: Family) -> FamilyOffer:
    example = _example(family)
    parameters = tuple(
        ParameterOffer(
            name,
            usual_value(family, name),
            family.words_of(name) if name in CHOICES else (),
            parameter.words.replace("`", ""),
        )
        for name, parameter in PARAMETERS.items()
        if name in family.parameters
    )
    return FamilyOffer(
        name=family.name,
        title=family.title,
        formula=family.formula,
        source=family.source,
        aliases=tuple(family.aliases),
        cutoff=family.cutoff,
        revision=family.revision,
        example=example.name,
        reading=describe(example),
        kept=can_be_stored(example),
        parameters=parameters,
        edges=family.edges,
    )


def _preset(chosen: Preset) -> PresetOffer:
    meant = [_as_meant(_example(family), chosen) for family in FAMILIES.values()]
    return PresetOffer(
        name=chosen.name,
        tool=chosen.tool,
        reading=chosen.reading,
        caveat=chosen.caveat,
        is_exact=not chosen.caveat,
        parameters=chosen.parameters,
        definitions=tuple(
            DefinitionOffer(one.canonical, one.measure.name, describe(one.measure))
            for one in meant
            if one is not None
        ),
    )


def _example(family: Family) -> Measure:
    """A measure of the family with all that is usual, cut at ten where it can be cut."""
    return Measure(family=family.name, cutoff=None if family.cutoff == "none" else USUAL_CUTOFF)


def _as_meant(measure: Measure, chosen: Preset) -> Asked | None:
    try:
        return as_meant(measure.name, measure, chosen)
    except MeasureError:
        return None
