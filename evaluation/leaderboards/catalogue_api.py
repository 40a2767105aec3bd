"""What there is to be measured with, as values: families with their parameters, and presets."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.leaderboards.offers import (
    DefinitionOffer,
    FamilyOffer,
    ParameterOffer,
    PresetOffer,
    list_families,
    list_presets,
)
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters
from judgments.rest.schema import REFUSED


class ParameterOutput(AnswerSerializer):
    answer = ParameterOffer


class FamilyOutput(AnswerSerializer):
    answer = FamilyOffer
    parameters = ParameterOutput(many=True)


class DefinitionOutput(AnswerSerializer):
    answer = DefinitionOffer


class PresetOutput(AnswerSerializer):
    answer = PresetOffer
    definitions = DefinitionOutput(many=True)


class Measures(APIView):
    """The families of measures."""

    @extend_schema(operation_id="list_measures", responses={200: FamilyOutput(many=True)} | REFUSED)
    def get(self, request: Request) -> Response:
        """List every family of measures: what it measures, its parameters, and its edge cases."""
        check_parameters(request)
        return Response(FamilyOutput(list_families(), many=True).data)


class Presets(APIView):
    """The presets: definitions of known tools."""

    @extend_schema(operation_id="list_presets", responses={200: PresetOutput(many=True)} | REFUSED)
    def get(self, request: Request) -> Response:
        """List every preset: its tool, how it differs, and what can't be reproduced."""
        check_parameters(request)
        return Response(PresetOutput(list_presets(), many=True).data)
