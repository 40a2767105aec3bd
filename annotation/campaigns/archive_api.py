"""Archiving a campaign over REST, and restoring it."""

import uuid
from collections.abc import Callable
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.campaigns.archiving import archive_campaign, restore_campaign
from annotation.campaigns.queries import find_campaign
from annotation.models import Campaign
from judgments.permissions import check_may_lead
from judgments.rest.parsing import check_parameters


class ArchivedOutput(serializers.Serializer[Any]):
    """archived_at: since when the campaign is archived; null while it is not."""

    archived_at = serializers.DateTimeField(allow_null=True)


class CampaignArchive(APIView):
    """`archive`."""

    @extend_schema(operation_id="archive_campaign", request=None, responses=ArchivedOutput)
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Hide a campaign that is not open, and refuse every change of it; for leads."""
        return _answer(request, campaign_id, archive_campaign)


class CampaignRestore(APIView):
    """`restore`."""

    @extend_schema(operation_id="restore_campaign", request=None, responses=ArchivedOutput)
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Show an archived campaign again, and let it be changed; for leads."""
        return _answer(request, campaign_id, restore_campaign)


def _answer(request: Request, campaign_id: uuid.UUID, change: Callable[..., Any]) -> Response:
    check_parameters(request)
    access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
    check_may_lead(access)
    change(access=access, campaign=campaign, at=timezone.now())
    return Response(ArchivedOutput(Campaign.objects.get(pk=campaign.pk)).data)
