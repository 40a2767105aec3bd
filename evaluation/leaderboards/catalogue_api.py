"""What there is to be measured with, as values: families with their parameters, and presets."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.leaderboards.offers import FamilyOffer, list_families, list_presets
from judgments.rest.parsing import check_parameters
from judgments.rest.schema import REFUSED


class ParameterOutput(serializers.Serializer[Any]):
    """A parameter. usual: its value where nothing is said; words: what it can be, where words.

    values: in plain words, what it can be.
    """

    name = serializers.CharField()
    usual = serializers.JSONField()
    words = serializers.ListField(child=serializers.CharField())
    values = serializers.CharField()


class EdgesOutput(serializers.Serializer[Any]):
    """What a family does where definitions differ most and say least."""

    no_relevant = serializers.CharField()
    missing = serializers.CharField()
    unjudged = serializers.CharField()
    ties = serializers.CharField()
    short = serializers.CharField()
    negatives = serializers.CharField()


class FamilyOutput(serializers.Serializer[Any]):
    """A family of measures. example: a name of it; reading: what that says.

    cutoff: needed, optional or none. kept: whether leaderboards can have it.
    """

    name = serializers.CharField()
    title = serializers.CharField()
    formula = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    aliases = serializers.ListField(child=serializers.CharField())
    cutoff = serializers.CharField()
    revision = serializers.IntegerField()
    example = serializers.CharField()
    reading = serializers.CharField()
    kept = serializers.BooleanField()
    parameters = ParameterOutput(many=True)
    edges = EdgesOutput()


class DefinitionOutput(serializers.Serializer[Any]):
    """What a preset makes of a family. name: what to ask for; definition: what is computed."""

    name = serializers.CharField()
    definition = serializers.CharField()
    reading = serializers.CharField()


class PresetOutput(serializers.Serializer[Any]):
    """A public tool's rules. is_exact: it can be followed to the last digit; caveat: where not.

    parameters: what it sets. definitions: of every family that the tool has.
    """

    name = serializers.CharField()
    tool = serializers.CharField()
    reading = serializers.CharField()
    caveat = serializers.CharField()
    is_exact = serializers.BooleanField()
    parameters = serializers.DictField(child=serializers.JSONField())
    definitions = DefinitionOutput(many=True)


class Measures(APIView):
    """The families of measures."""

    @extend_schema(operation_id="list_measures", responses={200: FamilyOutput(many=True)} | REFUSED)
    def get(self, request: Request) -> Response:
        """Every family of measures: what it says, its parameters, and what it does at the edges."""
        check_parameters(request)
        return Response([_family(family) for family in list_families()])


class Presets(APIView):
    """The tools whose rules are known."""

    @extend_schema(operation_id="list_presets", responses={200: PresetOutput(many=True)} | REFUSED)
    def get(self, request: Request) -> Response:
        """Every preset: whose rules they are, what sets them apart, and where they can't be met."""
        check_parameters(request)
        return Response(PresetOutput(list_presets(), many=True).data)


def _family(offer: FamilyOffer) -> dict[str, Any]:
    family = offer.family
    plain = {
        "name": family.name,
        "title": family.title,
        "formula": family.formula,
        "source": family.source,
        "aliases": family.aliases,
        "cutoff": family.cutoff,
        "revision": family.revision,
        "example": offer.example.name,
        "reading": offer.reading,
        "kept": offer.is_kept,
        "parameters": offer.parameters,
        "edges": family.edges,
    }
    return dict(FamilyOutput(plain).data)
