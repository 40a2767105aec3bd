"""Setting people's labels aside and pausing people, over REST; for leads."""

import uuid
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.campaigns.queries import find_campaign
from annotation.gold.actions import pause_people, set_labels_aside, undo_action
from annotation.gold.queries import get_check_action
from annotation.models import CheckAction
from annotation.permissions import check_may_run
from annotation.set_aside.queries import (
    MOST_PEOPLE,
    Outcome,
    WithoutPeople,
    find_people,
    get_without_people,
)
from evaluation.public import WhatIf
from judgments.permissions import NotFound
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.waking import publish


class BoardRowOutput(AnswerSerializer):
    """A run's mean of the list's first measure, with and without these labels."""

    answer = WhatIf


class OutcomeOutput(AnswerSerializer):
    answer = Outcome
    board = BoardRowOutput(many=True)


class ActionOutput(serializers.Serializer[Any]):
    """An action on an annotator: `pause`, or `requeue`, which sets labels aside.

    taken_by: the lead; "" for a rule. undone: whether a lead has undone it.
    """

    id = serializers.IntegerField(source="pk")
    action = serializers.CharField()
    username = serializers.CharField(source="annotator.username")
    labels = serializers.SerializerMethodField()
    taken_at = serializers.DateTimeField()
    taken_by = serializers.SerializerMethodField()
    undone = serializers.SerializerMethodField()

    def get_labels(self, action: CheckAction) -> int:
        return len(action.seats)

    def get_taken_by(self, action: CheckAction) -> str:
        return action.taken_by.username if action.taken_by else ""

    def get_undone(self, action: CheckAction) -> bool:
        return hasattr(action, "undone_by")


class Aside(APIView):
    """`aside`: annotators whose labels are set aside, and annotators who are paused."""

    class Parameters(serializers.Serializer[Any]):
        """people: usernames, comma-separated; without any, no preview."""

        people = serializers.CharField(max_length=16_000, allow_blank=True, default="")

    class Input(serializers.Serializer[Any]):
        """people: usernames. action: what to do. reason: for the audit log."""

        people = serializers.ListField(
            child=serializers.CharField(max_length=150), min_length=1, max_length=MOST_PEOPLE
        )
        action = serializers.ChoiceField(choices=["set_aside", "pause"])
        reason = serializers.CharField(max_length=1_000, allow_blank=True, default="")

    class Output(AnswerSerializer):
        answer = WithoutPeople
        outcome = OutcomeOutput(allow_null=True)
        actions = ActionOutput(many=True)

    class Done(serializers.Serializer[Any]):
        """actions: what was done; empty if nothing changed."""

        actions = ActionOutput(many=True)

    @extend_schema(operation_id="preview_aside", parameters=[Parameters], responses={200: Output})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Preview agreement, grades and leaderboard without some annotators' labels."""
        named = read_parameters(request, self.Parameters)["people"]
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        check_may_run(access, campaign)
        usernames = [name for name in named.split(",") if name]
        chosen = find_people(access=access, campaign=campaign, usernames=usernames)
        result = get_without_people(access=access, campaign=campaign, chosen=chosen)
        if result.freshness is not None and result.freshness.is_waiting:
            publish("annotation.preview_aside", campaign.pk, result.key)
        return Response(self.Output(result).data)

    @extend_schema(operation_id="set_aside", request=Input, responses={200: Done})
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Set labels aside and have the pairs relabelled, or pause annotators."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        check_may_run(access, campaign)
        said = read_input(self.Input, request.data)
        people = find_people(access=access, campaign=campaign, usernames=said["people"])
        act = set_labels_aside if said["action"] == "set_aside" else pause_people
        taken = act(
            access=access,
            campaign=campaign,
            people=people,
            at=timezone.now(),
            reason=said["reason"],
        )
        return Response(self.Done({"actions": taken}).data)


class AsideUndo(APIView):
    """Undo an action by a rule or a lead on an annotator."""

    @extend_schema(operation_id="undo_aside", request=None, responses={200: ActionOutput})
    def post(self, request: Request, campaign_id: uuid.UUID, action_id: int) -> Response:
        """Make labels count again, or unpause an annotator. Free seats are voided."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        check_may_run(access, campaign)
        action = get_check_action(access=access, action_id=action_id)
        if action.campaign_id != campaign.pk:
            raise NotFound("action")
        undo_action(access=access, action=action, at=timezone.now())
        taken = get_check_action(access=access, action_id=action_id)
        return Response(ActionOutput(taken).data)
