"""Reports on whether labels are good enough to decide on."""

import uuid
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    extend_schema,
)
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.campaigns.queries import find_campaign, find_labelled_campaign
from annotation.quality.costs import Rates
from annotation.quality.files import list_report_values, report_values
from annotation.quality.label_files import CONTENT_TYPES, LabelChoice, label_file
from annotation.quality.list_reports import get_list_quality_page
from annotation.quality.queries import get_quality_page
from judgments.pages.downloads import stream_bytes
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.rest.tables import PARQUET, check_parquet
from judgments.waking import publish


class RatesInput(serializers.Serializer[Any]):
    """Cost per hour or per label, in the installation's currency; without either, by the price that
    a campaign's label has.
    """

    hourly = serializers.FloatField(min_value=0, allow_null=True, default=None)
    per_label = serializers.FloatField(min_value=0, allow_null=True, default=None)


class Quality(APIView):
    """`quality`: whether a campaign's labels are good enough."""

    class Output(serializers.Serializer[Any]):
        """The stored report. is_current: it includes every label; otherwise a worker updates it.

        figures: agreement overall and per query, segment, grade, guideline revision, time window
        and pair of annotators; empty before the first labels. annotators: their profiles.
        """

        campaign = serializers.UUIDField()
        name = serializers.CharField()
        computed_at = serializers.DateTimeField(allow_null=True)
        is_current = serializers.BooleanField()
        labels_given = serializers.IntegerField()
        verdict = serializers.DictField(allow_null=True)
        grounds = serializers.ListField(child=serializers.CharField())
        advice = serializers.ListField(child=serializers.DictField())
        cost = serializers.DictField(allow_null=True)
        figures = serializers.DictField()
        annotators = serializers.ListField(child=serializers.DictField())

    @extend_schema(operation_id="campaign_quality", parameters=[RatesInput], responses=Output)
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Return the quality report: verdict, grounds, advice and all figures; for leads."""
        rates = Rates(**read_parameters(request, RatesInput))
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        page = get_quality_page(access=access, campaign=campaign, rates=rates)
        if page.freshness.is_waiting:
            publish("annotation.refresh_quality", campaign.pk)
        return Response(report_values(page))


class LabelFile(APIView):
    """The labels of a campaign as a file."""

    throttle_scope = "costly"

    class Parameters(serializers.Serializer[Any]):
        """counting: only labels that count for grades and agreement. pseudonyms: not names.

        format: parquet only where the server has the extra.
        """

        format = serializers.ChoiceField(choices=list(CONTENT_TYPES), default="csv")
        counting = serializers.BooleanField(default=False)
        pseudonyms = serializers.BooleanField(default=False)

    @extend_schema(
        operation_id="campaign_label_file",
        parameters=[Parameters],
        responses={
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, PARQUET): OpenApiTypes.BINARY,
        }
        | REFUSED,
    )
    def get(self, request: Request, campaign_id: uuid.UUID) -> StreamingHttpResponse:
        """Download every label of the campaign, with all that its quality report is computed from;
        for leads.
        """
        asked = read_parameters(request, self.Parameters)
        form = asked.pop("format")
        access, campaign = find_labelled_campaign(viewer=request.user, campaign_id=campaign_id)
        if form == "parquet":
            check_parquet()
        choice = LabelChoice(**asked)
        parts = label_file(access=access, campaign=campaign, form=form, choice=choice)
        return stream_bytes(parts, CONTENT_TYPES[form])


class ListQuality(APIView):
    """`lists/{slug}/quality`: whether the labels of a list are good enough, over all campaigns."""

    class Output(serializers.Serializer[Any]):
        """is_current: every campaign's figures include every label; otherwise a worker updates
        them.

        campaigns: each with verdict, advice and cost. figures: over all campaigns; time windows and
        drifts name their campaign. annotators: each once, with the findings of each campaign.
        """

        list = serializers.CharField()
        is_current = serializers.BooleanField()
        verdict = serializers.DictField(allow_null=True)
        grounds = serializers.ListField(child=serializers.CharField())
        campaigns = serializers.ListField(child=serializers.DictField())
        cost = serializers.DictField(allow_null=True)
        figures = serializers.DictField()
        annotators = serializers.ListField(child=serializers.DictField())

    @extend_schema(operation_id="list_quality", parameters=[RatesInput], responses=Output)
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return the quality report of a list: verdict, grounds, campaigns and all figures; for
        leads.
        """
        rates = Rates(**read_parameters(request, RatesInput))
        page = get_list_quality_page(
            access=get_access(viewer=request.user, slug=slug), slug=list_slug, rates=rates
        )
        for part in page.due:
            if part.freshness.is_waiting:
                publish("annotation.refresh_quality", part.campaign.pk)
        return Response(list_report_values(page))
