"""What a list takes, over REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.machine_judges.grading import Lists, remove_grades, request_grades
from annotation.machine_judges.queries import get_judge
from judgments.lists.queries import get_list
from judgments.models.lists import Takes
from judgments.permissions import check_may_lead, check_may_see_rankings, get_access
from judgments.rest.answers import WordsField
from judgments.rest.jobs import JobOutput, accepted
from judgments.rest.parsing import check_parameters, read_input
from judgments.rest.schema import REFUSED
from judgments.versions.machine_grades import count_machine_grades
from judgments.versions.takes import takes_words


class ListTakes(APIView):
    """What a list takes: grades of people, of a machine judge, or of both."""

    class Input(serializers.Serializer[Any]):
        """takes: `people`; `machine_elsewhere`: a machine judge where people have none; `machine`:
        a machine judge only. judge: its id, and revision: the number, needed for these two. source:
        the list whose campaigns’ pairs it labelled; default: this one.
        """

        takes = serializers.ChoiceField(choices=Takes.choices)
        judge = serializers.IntegerField(min_value=1, allow_null=True, default=None)
        revision = serializers.IntegerField(min_value=1, allow_null=True, default=None)
        source = serializers.SlugField(  # type: ignore[assignment]
            max_length=64, allow_blank=True, default=""
        )

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """A machine judge is named where there is one."""
            if attrs["takes"] != Takes.PEOPLE and None in (attrs["judge"], attrs["revision"]):
                raise serializers.ValidationError("Name the judge and its revision.")
            return attrs

    class Output(serializers.Serializer[Any]):
        """takes: of the list's next version. grades_from: the same in words, with the machine
        judge. head: the newest version. machine_grades: how many of its grades come from machine
        judges.
        """

        takes = serializers.ChoiceField(choices=Takes.choices)
        grades_from = WordsField(lambda one: takes_words(one.takes, one.takes_from))
        head = serializers.IntegerField()
        machine_grades = serializers.SerializerMethodField()

        def get_machine_grades(self, one: Any) -> int:
            """How many there are."""
            return count_machine_grades(list_id=one.pk, version=one.head)

    @extend_schema(operation_id="get_list_takes", responses=Output)
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return where the grades of a list come from."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_see_rankings(access)
        return Response(self.Output(get_list(access=access, slug=list_slug)).data)

    @extend_schema(
        operation_id="choose_list_takes",
        request=Input,
        responses={200: Output, 202: JobOutput} | REFUSED,
    )
    def put(self, request: Request, slug: str, list_slug: str) -> Response:
        """Choose where the grades of a list come from; for leads.

        The choice is a version of its own: people only at once, a machine judge by a job.
        """
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        one = get_list(access=access, slug=list_slug)
        given = read_input(self.Input, request.data)
        if given["takes"] == Takes.PEOPLE:
            remove_grades(access=access, judgment_list=one, at=timezone.now())
            return Response(self.Output(one).data)
        source = get_list(access=access, slug=given["source"] or list_slug)
        job = request_grades(
            access=access,
            judge=get_judge(access=access, judge_id=given["judge"]),
            number=given["revision"],
            lists=Lists(source, one),
            takes=given["takes"],
            at=timezone.now(),
        )
        return accepted(access, job)
