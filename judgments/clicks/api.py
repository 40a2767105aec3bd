"""Click logs, their ledgers, position bias and pairs, as values."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.clicks.forms import names_in
from judgments.clicks.grading import Wish, request_grades
from judgments.clicks.interleaving import Interleaving, get_interleaving, list_interleavings
from judgments.clicks.people import ClickGradeRow, PeoplePage, get_people_page, list_click_grades
from judgments.clicks.queries import (
    MOST_PAIRS,
    LogPage,
    LogRow,
    PairsPage,
    get_log,
    get_log_page,
    get_pairs_page,
    list_logs,
)
from judgments.clicks.scoring import EXAMINED, FEWEST_IMPRESSIONS, SCORES
from judgments.jobs.services import submit_job
from judgments.lists.queries import HEAD, get_list
from judgments.permissions import check_may_lead, get_access
from judgments.rest.answers import AnswerSerializer
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.rest.schema import REFUSED
from judgments.rest.uploads import FILE_BODY, UploadView, take_upload
from touchstone.clicks.ubi import USUAL_ACTIONS


class ClickLogOutput(AnswerSerializer):
    answer = LogRow


def read_actions(attrs: dict[str, Any]) -> dict[str, Any]:
    """Names of actions as lists; no action is both an impression and a click."""
    named = {part: names_in(attrs[part]) for part in ("impressions", "clicks")}
    if set(named["impressions"]) & set(named["clicks"]):
        message = "An action can’t be both an impression and a click."
        raise serializers.ValidationError({"clicks": message})
    return attrs | named


class ClickLogs(UploadView):
    """The click logs of a collection."""

    class Output(serializers.Serializer[Any]):
        """The logs, newest first."""

        results = ClickLogOutput(many=True)

    class Options(serializers.Serializer[Any]):
        """name: of the log. impressions, clicks: action names, separated by commas.

        rank_base: the rank of a first result, where the smallest rank of an application is neither
        0 nor 1. joins: look up the texts of events without one by their query id.
        """

        name = serializers.CharField(max_length=200)
        impressions = serializers.CharField(max_length=500, default=USUAL_ACTIONS.impressions[0])
        clicks = serializers.CharField(max_length=500, default=USUAL_ACTIONS.clicks[0])
        rank_base = serializers.ChoiceField(choices=(0, 1), default=None)
        joins = serializers.BooleanField(default=False)

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """No action is both."""
            return read_actions(attrs)

    @extend_schema(operation_id="list_click_logs", responses=Output)
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's click logs, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output({"results": list_logs(access=access)}).data)

    @extend_schema(
        operation_id="upload_clicks",
        parameters=[Options],
        request=FILE_BODY,
        responses={202: JobOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a click log as UBI NDJSON, CSV or Parquet; a worker imports it, all or nothing."""
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        upload, options = take_upload(request, self.Options)
        job = submit_job(
            access=access, kind="import_clicks", file=upload, params=options, at=timezone.now()
        )
        return accepted(access, job)


class OneClickLog(APIView):
    """One click log."""

    class Output(AnswerSerializer):
        answer = LogPage

    @extend_schema(operation_id="get_click_log", responses=Output)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return what became of a log's records, and the position bias of each application."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output(get_log_page(access=access, number=number)).data)


class ClickPairs(APIView):
    """The pairs of a click log."""

    class Parameters(serializers.Serializer[Any]):
        """query: the id of a query, for its pairs alone."""

        query = serializers.CharField(max_length=200, default="", source="query_id")

    class Output(AnswerSerializer):
        answer = PairsPage

    @extend_schema(operation_id="list_click_pairs", parameters=[Parameters], responses=Output)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return clicks, expected clicks and COEC of the most shown pairs, 1,000 at most."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        page = get_pairs_page(access=access, number=number, most=MOST_PAIRS, **asked)
        return Response(self.Output(page).data)


class ClickPeople(APIView):
    """How a click log's scores agree with people's grades."""

    class Parameters(serializers.Serializer[Any]):
        """basis: the list with people's grades; default: the collection's first. score: examined,
        coec or ctr. fewest: impressions that a pair needs.
        """

        basis = serializers.SlugField(max_length=64, default="", source="list_slug")
        score = serializers.ChoiceField(choices=tuple(SCORES), default=EXAMINED)
        fewest = serializers.IntegerField(min_value=1, max_value=10**9, default=FEWEST_IMPRESSIONS)

    class Input(serializers.Serializer[Any]):
        """list: which gets the grades; basis: the one with people's grades. score, fewest: as for
        the comparison.
        """

        list = serializers.SlugField(max_length=64)
        basis = serializers.SlugField(max_length=64)
        score = serializers.ChoiceField(choices=tuple(SCORES), default=EXAMINED)
        fewest = serializers.IntegerField(min_value=1, max_value=10**9, default=FEWEST_IMPRESSIONS)

    class Output(AnswerSerializer):
        answer = PeoplePage

    @extend_schema(operation_id="compare_clicks", parameters=[Parameters], responses=Output)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return preference AUC, tau-b and held-out kappa of each score, overall and by segment."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output(get_people_page(access=access, number=number, **asked)).data)

    @extend_schema(
        operation_id="grade_by_clicks", request=Input, responses={202: JobOutput} | REFUSED
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Grade pairs of a list by clicks, as one version that a worker makes; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        log = get_log(access=access, number=number)
        wanted = read_input(self.Input, request.data)
        job = request_grades(
            access=access,
            log=log,
            judgment_list=get_list(access=access, slug=wanted["list"]),
            basis=get_list(access=access, slug=wanted["basis"]),
            wish=Wish(wanted["score"], wanted["fewest"]),
            at=timezone.now(),
        )
        return accepted(access, job)


class ClickGrades(APIView):
    """The grades of a list that come from clicks."""

    class Parameters(PageParameters):
        """version: a number, the name of a release, or head."""

        version = serializers.SlugField(max_length=64, default=HEAD)

    class ClickGradeOutput(AnswerSerializer):
        answer = ClickGradeRow

    @extend_schema(
        operation_id="list_click_grades",
        parameters=[Parameters],
        responses=page_of(ClickGradeOutput),
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """List the grades that come from clicks, each with its posterior and what it rests on."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        judgment_list = get_list(access=access, slug=list_slug)
        part = list_click_grades(judgment_list=judgment_list, **asked)
        return page_response(request, part, self.ClickGradeOutput)


class InterleavingOutput(AnswerSerializer):
    answer = Interleaving


class Interleavings(UploadView):
    """The interleaving experiments of a collection."""

    class Output(serializers.Serializer[Any]):
        """The experiments, newest first."""

        results = InterleavingOutput(many=True)

    class Options(serializers.Serializer[Any]):
        """name: of the experiment. impressions, clicks: action names, separated by commas."""

        name = serializers.CharField(max_length=200)
        impressions = serializers.CharField(max_length=500, default=USUAL_ACTIONS.impressions[0])
        clicks = serializers.CharField(max_length=500, default=USUAL_ACTIONS.clicks[0])

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """No action is both."""
            return read_actions(attrs)

    @extend_schema(operation_id="list_interleavings", responses=Output)
    def get(self, request: Request, slug: str) -> Response:
        """List the collection's interleaving experiments, newest first."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output({"results": list_interleavings(access=access)}).data)

    @extend_schema(
        operation_id="upload_interleaving",
        parameters=[Options],
        request=FILE_BODY,
        responses={202: JobOutput},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload the log of an interleaving experiment as UBI NDJSON; a worker imports it."""
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        upload, options = take_upload(request, self.Options)
        job = submit_job(
            access=access,
            kind="import_interleaving",
            file=upload,
            params=options,
            at=timezone.now(),
        )
        return accepted(access, job)


class OneInterleaving(APIView):
    """One interleaving experiment."""

    @extend_schema(operation_id="get_interleaving", responses=InterleavingOutput)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Return the outcome of an interleaving experiment, with its interval and test."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(InterleavingOutput(get_interleaving(access=access, number=number)).data)
