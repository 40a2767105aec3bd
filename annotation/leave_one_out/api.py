"""Comparisons without the labels of each annotator, as values."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.leave_one_out.queries import WithoutPage, get_without_page
from evaluation.public import RunsFilters
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.sets.services import record_look


class StandingOutput(serializers.Serializer[Any]):
    """A run's mean and its place by it; null where no query is left in the mean."""

    run = serializers.CharField(source="name")
    mean = serializers.FloatField(allow_null=True, source="value")
    place = serializers.IntegerField(allow_null=True)


class WithoutOutput(serializers.Serializer[Any]):
    """The runs without one annotator.

    judgments: that their labels are behind; decided: of these, those that a person decided, which
    stand. changed: that come to another grade; lost: that come to none. tau: Kendall's, of the
    order with the one as it is; null where either has none.
    """

    annotator = serializers.CharField(source="name")
    judgments = serializers.IntegerField()
    decided = serializers.IntegerField()
    changed = serializers.IntegerField()
    lost = serializers.IntegerField()
    tau = serializers.FloatField(allow_null=True, source="board.tau")
    runs = StandingOutput(many=True, source="board.standings")


class ComparisonWithout(APIView):
    """Runs compared once without each annotator."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """As in `compare`."""

        runs = serializers.CharField(max_length=4000, allow_blank=True, default="")
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        version = serializers.SlugField(max_length=64, default=HEAD)
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        set = serializers.SlugField(max_length=64, allow_blank=True, default="")

    class Output(serializers.Serializer[Any]):
        """runs: as they stand with everybody. judgments: of which it is known whose labels they
        follow from. is_open: a campaign behind these grades is not closed, so researchers are not
        told; is_too_much: to do while somebody waits; in both cases annotators is empty.
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        set = serializers.CharField()
        looks = serializers.IntegerField(allow_null=True)
        judgments = serializers.IntegerField()
        is_open = serializers.BooleanField()
        is_too_much = serializers.BooleanField()
        runs = StandingOutput(many=True)
        annotators = WithoutOutput(many=True)

    @extend_schema(
        operation_id="compare_without", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """What the order of some runs would be without the labels of each annotator."""
        asked = read_parameters(request, self.Parameters)
        runs = asked.pop("runs")
        filters = RunsFilters(runs=(runs,) if runs.strip() else (), **asked)
        access = get_access(viewer=request.user, slug=slug)
        page = get_without_page(access=access, slug=list_slug, filters=filters)
        looks = None
        if page.chosen.sets.chosen is not None:
            looks = record_look(
                access=access,
                saved_set=page.chosen.sets.chosen,
                list_slug=list_slug,
                page=SetLook.Page.REST_COMPARISON,
                at=timezone.now(),
            )
        return Response(self.Output(_plain(page) | {"looks": looks and looks.count}).data)


def _plain(page: WithoutPage) -> dict[str, Any]:
    return {
        "version": page.chosen.version,
        "measure": page.chosen.asked.canonical,
        "set": page.chosen.sets.slug,
        "judgments": page.judgments,
        "is_open": page.is_open,
        "is_too_much": page.is_too_much,
        "runs": page.full.standings if page.full else (),
        "annotators": page.rows,
    }
