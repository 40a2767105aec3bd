"""A campaign's gold over REST; for leads."""

import uuid
from typing import Any, BinaryIO, cast

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.campaigns.queries import find_campaign
from annotation.gold.adding import GoldAdded, add_gold_file, list_gold
from annotation.gold.files import GoldAnswer, read_gold
from annotation.permissions import check_may_run
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload
from touchstone.scales import Scale


class GoldAnswerOutput(AnswerSerializer):
    answer = GoldAnswer


class Gold(UploadView):
    """The gold of a campaign: pairs whose right grade is known."""

    class Options(serializers.Serializer[Any]):
        """adds_pairs: pairs that the campaign does not have are added, in queries that it has."""

        adds_pairs = serializers.BooleanField(default=False)

    class Output(serializers.Serializer[Any]):
        """gold: in the order in which it was marked, without retired gold."""

        gold = GoldAnswerOutput(many=True)

    class Added(AnswerSerializer):
        answer = GoldAdded

    @extend_schema(operation_id="list_gold", responses={200: Output})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """List the gold in use."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        result = list_gold(access=access, campaign=campaign)
        return Response(self.Output({"gold": result}).data)

    @extend_schema(
        operation_id="add_gold",
        parameters=[Options],
        request=FILE_BODY,
        responses={200: Added, 201: Added},
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Add gold from a CSV or JSONL file, all or nothing; for leads.

        Columns or keys: query_id, doc_id, grade, and optionally highest_grade and reason. 200 if
        all of it was gold already.
        """
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        check_may_run(access, campaign)
        upload, options = take_upload(request, self.Options)
        scale = Scale.from_json(campaign.list.scale)
        added = add_gold_file(
            access=access,
            campaign=campaign,
            given=read_gold(cast(BinaryIO, upload), name=upload.name or "gold", scale=scale),
            adds_pairs=options["adds_pairs"],
            at=timezone.now(),
        )
        return Response(self.Added(added).data, status=201 if added.gold else 200)
