"""Who labels which queries of a campaign, over REST; for leads."""

import uuid
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.assignment import services
from annotation.assignment.queries import Coverage, RuleRow, get_assignment_page
from annotation.campaigns.queries import find_campaign
from annotation.models import AssignmentRule, Campaign
from judgments.permissions import Access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input


class RuleOutput(AnswerSerializer):
    answer = RuleRow


class CoverageOutput(AnswerSerializer):
    answer = Coverage


class AssignmentOutput(serializers.Serializer[Any]):
    """The rules of a campaign, and which queries too few people may label."""

    rules = RuleOutput(many=True)
    coverage = CoverageOutput()


def _answer(access: Access, campaign: Campaign, status: int = 200) -> Response:
    page = get_assignment_page(access=access, campaign=campaign)
    return Response(AssignmentOutput(page).data, status=status)


class AssignmentRules(APIView):
    """`assignment`: the rules of who labels which queries."""

    class Input(serializers.Serializer[Any]):
        """A rule. segment: with the scope `segment`. queries: ids, with the scope `queries`.
        people: user names of annotators of the campaign. tags: languages and skills."""

        scope = serializers.ChoiceField(choices=AssignmentRule.Scope.choices)
        segment = serializers.CharField(max_length=200, default="", allow_blank=True)
        queries = serializers.ListField(
            child=serializers.CharField(max_length=200),
            max_length=services.MOST_QUERIES,
            default=list,
        )
        people = serializers.ListField(
            child=serializers.CharField(max_length=150), max_length=1_000, default=list
        )
        tags = serializers.ListField(
            child=serializers.CharField(max_length=200), max_length=100, default=list
        )

    @extend_schema(operation_id="get_assignment", responses={200: AssignmentOutput})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """List the rules, and the queries that too few people may label."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        return _answer(access, campaign)

    @extend_schema(
        operation_id="add_assignment_rule", request=Input, responses={201: AssignmentOutput}
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Add a rule: only those people, or people with all of those tags, get the queries."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        said = read_input(self.Input, request.data)
        services.add_rule(access=access, campaign=campaign, at=timezone.now(), **said)
        return _answer(access, campaign, 201)


class AssignmentRuleRemove(APIView):
    """`assignment/{rule}/remove`."""

    @extend_schema(
        operation_id="remove_assignment_rule", request=None, responses={200: AssignmentOutput}
    )
    def post(self, request: Request, campaign_id: uuid.UUID, rule_id: int) -> Response:
        """Remove a rule."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        services.remove_rule(access=access, campaign=campaign, rule_id=rule_id, at=timezone.now())
        return _answer(access, campaign)
