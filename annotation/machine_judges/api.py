"""Machine judges over REST: what they labelled, and how well they agree with people."""

from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.campaigns.queries import get_campaign
from annotation.machine_judges.campaign_queries import (
    CampaignRow,
    JudgeCampaignPage,
    get_judge_campaign_page,
    list_campaign_rows,
)
from annotation.machine_judges.campaigns import start_judging
from annotation.machine_judges.queries import get_judge, get_judges_page
from annotation.machine_judges.services import choose_family
from annotation.machine_judges.trust import QUERIES, AgreementAnswer, get_agreement
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.schema import REFUSED
from judgments.samples.queries import get_plan
from judgments.sets.queries import get_set


class JudgeOutput(serializers.Serializer[Any]):
    """A machine judge. revision: the number of the newest. family: the tag of the rankers built on
    models of its family; "" where none is known.
    """

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    family = serializers.CharField()
    revision = serializers.IntegerField(source="newest")
    revised_at = serializers.DateTimeField()


class MachineJudges(APIView):
    """The machine judges of a collection."""

    class Output(serializers.Serializer[Any]):
        """The machine judges by name."""

        results = JudgeOutput(many=True)

    @extend_schema(operation_id="list_machine_judges", responses=Output)
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's machine judges by name; for leads and administrators."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output({"results": get_judges_page(access=access).rows}).data)


class JudgeFamily(APIView):
    """Which rankers are built on models of a machine judge's family."""

    class Input(serializers.Serializer[Any]):
        """family: a tag of rankers; "" for none."""

        family = serializers.CharField(max_length=40, allow_blank=True)

    @extend_schema(
        operation_id="choose_judge_family", request=Input, responses={200: JudgeOutput} | REFUSED
    )
    def put(self, request: Request, slug: str, judge_id: int) -> Response:
        """Choose the tag of the rankers that the agreement compares with the others; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        judge = get_judge(access=access, judge_id=judge_id)
        asked = read_input(self.Input, request.data)
        choose_family(access=access, judge=judge, family=asked["family"], at=timezone.now())
        return Response(JudgeOutput(get_judges_page(access=access).rows.get(pk=judge_id)).data)


class JudgeCampaignRow(AnswerSerializer):
    answer = CampaignRow


class JudgeCampaigns(APIView):
    """The campaigns of a machine judge."""

    class Input(serializers.Serializer[Any]):
        """campaign: whose pairs are labelled. set: the slug of a saved set, sample: the number of
        a sample of the campaign's list, for their queries alone.
        """

        campaign = serializers.UUIDField()
        set = serializers.SlugField(max_length=64, default="")
        sample = serializers.IntegerField(min_value=1, allow_null=True, default=None)

    class Output(serializers.Serializer[Any]):
        """The campaigns, newest first."""

        results = JudgeCampaignRow(many=True)

    class Started(serializers.Serializer[Any]):
        """What was started."""

        id = serializers.UUIDField(source="public_id")
        pairs = serializers.IntegerField()

    @extend_schema(operation_id="list_judge_campaigns", responses=Output)
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """List what a machine judge labelled, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        judge = get_judge(access=access, judge_id=judge_id)
        return Response(self.Output({"results": list_campaign_rows(judge)}).data)

    @extend_schema(
        operation_id="start_judge_campaign", request=Input, responses={202: Started} | REFUSED
    )
    def post(self, request: Request, slug: str, judge_id: int) -> Response:
        """Have a worker send the newest revision the pairs of a campaign; for leads."""
        asked = read_input(self.Input, request.data)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        judge = get_judge(access=access, judge_id=judge_id)
        campaign = get_campaign(access=access, campaign_id=asked["campaign"])
        plan = saved_set = None
        if asked["set"]:
            saved_set = get_set(access=access, slug=asked["set"])
        if asked["sample"] is not None:
            plan = get_plan(access=access, list_slug=campaign.list.slug, number=asked["sample"])
        started = start_judging(
            access=access,
            judge=judge,
            campaign=campaign,
            saved_set=saved_set,
            plan=plan,
            at=timezone.now(),
        )
        location = reverse("api-judge-campaign", args=[slug, started.public_id])
        return Response(self.Started(started).data, status=202, headers={"Location": location})


class OneJudgeCampaign(APIView):
    """One campaign of a machine judge."""

    class Output(AnswerSerializer):
        answer = JudgeCampaignPage

    @extend_schema(operation_id="get_judge_campaign", responses=Output)
    def get(self, request: Request, slug: str, public_id: UUID) -> Response:
        """Return the progress of a machine judge's campaign: outcomes, tokens, cost and times."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        page = get_judge_campaign_page(access=access, public_id=public_id, page="")
        return Response(self.Output(page).data)


class JudgeAgreement(APIView):
    """A machine judge beside people."""

    class Parameters(serializers.Serializer[Any]):
        """list: a slug; default: the list that it labelled last. revision: default: the newest that
        has labels.
        """

        list = serializers.SlugField(max_length=64, default="", source="list_slug")
        revision = serializers.IntegerField(
            min_value=1, allow_null=True, default=None, source="number"
        )
        limit = serializers.IntegerField(
            min_value=1, max_value=10_000, default=QUERIES, help_text="Queries in the response."
        )

    class Output(AnswerSerializer):
        answer = AgreementAnswer

    @extend_schema(operation_id="get_judge_agreement", parameters=[Parameters], responses=Output)
    def get(self, request: Request, slug: str, judge_id: int) -> Response:
        """Return a machine judge's agreement with people on a list, and both leaderboards."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        result = get_agreement(access=access, judge_id=judge_id, **asked)
        return Response(self.Output(result).data)
