"""How long a collection keeps what is no fact, over REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.models.retention import LONGEST
from annotation.retention.queries import Choice, get_choice
from annotation.retention.services import choose_retention
from judgments.permissions import check_may_archive, get_access
from judgments.rest.parsing import check_parameters, read_input
from judgments.rest.schema import REFUSED


class CollectionRetention(APIView):
    """For how many days a collection keeps records."""

    class Input(serializers.Serializer[Any]):
        """timing_days: when and how fast each label was made; null: until the annotator is erased.
        answer_days: what machine judges answered; null: for good. What is left out is null.
        """

        timing_days = serializers.IntegerField(
            min_value=1, max_value=LONGEST, allow_null=True, default=None
        )
        answer_days = serializers.IntegerField(
            min_value=1, max_value=LONGEST, allow_null=True, default=None
        )

    class Output(serializers.Serializer[Any]):
        """Days, or null for no limit."""

        timing_days = serializers.IntegerField(allow_null=True)
        answer_days = serializers.IntegerField(allow_null=True)

    @extend_schema(operation_id="get_retention", responses=Output)
    def get(self, request: Request, slug: str) -> Response:
        """Return for how long records are kept; for leads and administrators."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        return Response(self.Output(get_choice(access=access)).data)

    @extend_schema(
        operation_id="choose_retention", request=Input, responses={200: Output} | REFUSED
    )
    def put(self, request: Request, slug: str) -> Response:
        """Choose for how long records are kept; what is older is deleted within a day."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_archive(access)
        given = read_input(self.Input, request.data)
        choose_retention(access=access, choice=Choice(**given), at=timezone.now())
        return Response(self.Output(get_choice(access=access)).data)
