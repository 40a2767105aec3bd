"""Judgments on changed documents over REST."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.changed_documents.queries import count_changed
from annotation.changed_documents.services import choose_for_changed
from judgments.lists.queries import get_list
from judgments.models import JudgmentList
from judgments.permissions import check_may_lead, check_may_see_rankings, get_access
from judgments.rest.parsing import check_parameters, read_input


class ChangedDocumentsInput(serializers.Serializer[Any]):
    """changed_documents: `kept`, or `unjudged`: treated as unjudged in a version of their own."""

    changed_documents = serializers.ChoiceField(choices=JudgmentList.ChangedDocuments.choices)


class ChangedDocumentsOutput(ChangedDocumentsInput):
    """judgments: how many there are. head: the list's newest version."""

    judgments = serializers.SerializerMethodField()
    head = serializers.IntegerField()

    def get_judgments(self, judgment_list: JudgmentList) -> int:
        """How many judgments are on changed documents."""
        return count_changed(judgment_list)


class ChangedDocuments(APIView):
    """Judgments whose labels were all given on another text than the document has today."""

    @extend_schema(operation_id="get_changed_documents", responses=ChangedDocumentsOutput)
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Return how many there are, and what the list does with them."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_see_rankings(access)
        return Response(ChangedDocumentsOutput(get_list(access=access, slug=list_slug)).data)

    @extend_schema(
        operation_id="choose_changed_documents",
        request=ChangedDocumentsInput,
        responses=ChangedDocumentsOutput,
    )
    def put(self, request: Request, slug: str, list_slug: str) -> Response:
        """Choose whether the list keeps them or treats them as unjudged; for leads."""
        check_parameters(request)
        access = get_access(viewer=request.user, slug=slug)
        check_may_lead(access)
        judgment_list = get_list(access=access, slug=list_slug)
        given = read_input(ChangedDocumentsInput, request.data)
        choose_for_changed(
            access=access,
            judgment_list=judgment_list,
            choice=given["changed_documents"],
            at=timezone.now(),
        )
        return Response(ChangedDocumentsOutput(judgment_list).data)
