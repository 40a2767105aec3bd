"""Labelling for programs, and for the annotator's page: the next pairs, and the labels of them."""

import dataclasses
import uuid
from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiParameter,
    PolymorphicProxySerializer,
    extend_schema,
    inline_serializer,
)
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.models import Label
from annotation.permissions import Desk, get_desk, may_label
from annotation.selectors.labelling import (
    ShownPair,
    count_progress,
    get_shown_guideline,
    list_leased_pairs,
    list_own_labels,
)
from annotation.services.labelling import Receipt, submit_labels
from annotation.services.leasing import MOST, lease_next, release_leases
from annotation.submissions import MAX_NOTE_CHARACTERS, MAX_REASON_CHARACTERS, Submission
from judgments.rest.parsing import check_fields, check_parameters, read_input, read_parameters
from judgments.rest.problems import problem

MOST_LABELS = 200
ACCOUNT = OpenApiParameter(
    "Touchstone-Account",
    uuid.UUID,
    OpenApiParameter.HEADER,
    description="Whose request this is meant to be; 403 if somebody else is signed in. A page that"
    " keeps labels until they are taken needs it: in another tab the person may have changed.",
)


class PairOutput(serializers.Serializer[Any]):
    """A pair as its annotator sees it: nothing says where it came from."""

    assignment = serializers.UUIDField()
    query = inline_serializer(
        "ShownQuery", {"text": serializers.CharField(), "description": serializers.CharField()}
    )
    document = inline_serializer(
        "ShownDocument",
        {
            "title": serializers.CharField(),
            "text": serializers.CharField(),
            "url": serializers.CharField(),
            "fields": serializers.DictField(),
        },
    )
    content_hash = serializers.CharField()


class ProgressOutput(serializers.Serializer[Any]):
    """The annotator's own counts of pairs."""

    done = serializers.IntegerField()
    left = serializers.IntegerField()


class NextOutput(serializers.Serializer[Any]):
    """Pairs leased to the annotator, in the order to label them in."""

    is_open = serializers.BooleanField()
    guideline_revision = serializers.IntegerField()
    progress = ProgressOutput()
    pairs = PairOutput(many=True)


class Count(serializers.Serializer[Any]):
    """How many pairs to have at hand."""

    count = serializers.IntegerField(min_value=0, max_value=MOST, default=1)


class Wish(Count):
    """How many pairs to have at hand; `held` are those that need not be sent again."""

    held = serializers.ListField(child=serializers.UUIDField(), max_length=4 * MOST, default=list)


class LabelInput(serializers.Serializer[Any]):
    """One label. The same `id` again is the same label, however often it is sent."""

    id = serializers.UUIDField()
    assignment = serializers.UUIDField()
    outcome = serializers.ChoiceField(Label.Outcome.choices, default=Label.Outcome.GRADED)
    grade = serializers.IntegerField(min_value=-128, max_value=127, allow_null=True, default=None)
    reason = serializers.CharField(
        max_length=MAX_REASON_CHARACTERS, allow_blank=True, default="", trim_whitespace=False
    )
    note = serializers.CharField(
        max_length=MAX_NOTE_CHARACTERS, allow_blank=True, default="", trim_whitespace=False
    )
    spans = serializers.ListField(child=serializers.DictField(), max_length=200, default=list)
    guideline_revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = serializers.CharField(max_length=64, allow_blank=True, default="")
    seconds = serializers.FloatField(min_value=0, allow_null=True, default=None)
    made_at = serializers.DateTimeField()
    supersedes = serializers.UUIDField(allow_null=True, default=None)


class LabelsInput(Wish):
    """Labels in the order in which they were made, and a wish for what comes next."""

    labels = serializers.ListField(child=LabelInput(), min_length=1, max_length=MOST_LABELS)


class ReceiptOutput(serializers.Serializer[Any]):
    """What became of a label: stored, repeated (it was stored before) or refused, and why."""

    id = serializers.UUIDField()
    status = serializers.ChoiceField(["stored", "repeated", "refused"])
    code = serializers.CharField(required=False)
    message = serializers.CharField(required=False)


class LabelsOutput(NextOutput):
    """A receipt for every label, in their order, and the next pairs."""

    labels = ReceiptOutput(many=True)


class OwnLabelOutput(serializers.Serializer[Any]):
    """One of the annotator's own labels that hold."""

    id = serializers.UUIDField()
    outcome = serializers.CharField()
    grade = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    note = serializers.CharField()
    made_at = serializers.DateTimeField()
    pair = PairOutput()


class Page(serializers.Serializer[Any]):
    """Which of the own labels to show. before: an id, for those that are older."""

    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    before = serializers.UUIDField(allow_null=True, default=None)


class Next(APIView):
    """`next`: see to it that there are pairs at hand. Asking again gives the same ones."""

    @extend_schema(operation_id="campaign_next", parameters=[Count], responses=NextOutput)
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Lease a pair, or as many as `count` says; asking again gives the same ones."""
        wish = read_parameters(request, Count)
        return Response(_next(get_desk(viewer=request.user, campaign_id=campaign_id), wish))

    @extend_schema(
        operation_id="campaign_next_batch",
        parameters=[ACCOUNT],
        request=Wish,
        responses=NextOutput,
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Lease pairs as with GET, leaving out of the answer those that the caller holds."""
        check_parameters(request)
        desk = _desk(request, campaign_id)
        return Response(_next(desk, read_input(Wish, request.data)))


class Labels(APIView):
    """`labels`: the annotator's own labels, and the place to send new ones to."""

    @extend_schema(
        operation_id="campaign_labels",
        parameters=[Page],
        responses=OwnLabelOutput(many=True),
    )
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """The annotator's own labels that hold, newest first."""
        query = read_parameters(request, Page)
        desk = get_desk(viewer=request.user, campaign_id=campaign_id)
        labels = list_own_labels(desk, limit=query["limit"], before=query["before"])
        rows = [
            {
                **{name: getattr(label, name) for name in OWN},
                "pair": _pair(label.pair),
            }
            for label in labels
        ]
        return Response(OwnLabelOutput(rows, many=True).data)

    @extend_schema(
        operation_id="campaign_label",
        parameters=[ACCOUNT],
        request=PolymorphicProxySerializer(
            component_name="LabelOrLabels",
            serializers=[LabelInput, LabelsInput],
            resource_type_field_name=None,
        ),
        responses={200: LabelsOutput},
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Take one label, or a batch as {"labels": […], "count": …}.

        A batch is answered with 200 and a receipt for each; a label that is refused holds up no
        other. A single label that is refused is answered with 422.
        """
        check_parameters(request)
        desk = _desk(request, campaign_id)
        is_single = isinstance(request.data, dict) and "labels" not in request.data
        wish = _read_labels({"labels": [request.data]} if is_single else request.data)
        submissions = [Submission(**label) for label in wish["labels"]]
        receipts = submit_labels(desk=desk, submissions=submissions, at=timezone.now())
        body = {"labels": [_receipt(receipt) for receipt in receipts], **_next(desk, wish)}
        if is_single and not receipts[0].is_stored:
            return problem(422, receipts[0].code, receipts[0].message, **body)
        return Response(body)


class Release(APIView):
    """`release`: give pairs back that will not be labelled now."""

    class Input(serializers.Serializer[Any]):
        """assignments: those to give back; without it, all."""

        assignments = serializers.ListField(
            child=serializers.UUIDField(), max_length=4 * MOST, allow_null=True, default=None
        )

    @extend_schema(
        operation_id="campaign_release",
        parameters=[ACCOUNT],
        request=Input,
        responses=inline_serializer("Released", {"released": serializers.IntegerField()}),
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Give pairs back that will not be labelled now; how many there were."""
        check_parameters(request)
        desk = _desk(request, campaign_id)
        wish = read_input(self.Input, request.data)
        return Response({"released": release_leases(desk=desk, assignments=wish["assignments"])})


OWN = ("id", "outcome", "grade", "reason", "note", "made_at")


def _desk(request: Request, campaign_id: uuid.UUID) -> Desk:
    """The caller's place, unless the request says that it is meant for somebody else's."""
    meant = request.headers.get(ACCOUNT.name)
    if meant is not None and meant != str(getattr(request.user, "public_id", "")):
        raise PermissionDenied("Somebody else has signed in meanwhile.")
    return get_desk(viewer=request.user, campaign_id=campaign_id)


def _read_labels(data: Any) -> dict[str, Any]:
    check_fields(LabelsInput, data)
    labels = data.get("labels")
    for label in labels if isinstance(labels, list) else ():
        check_fields(LabelInput, label)
    return read_input(LabelsInput, data)


def _next(desk: Desk, wish: dict[str, Any]) -> dict[str, Any]:
    """The pairs at hand after leasing up to `count`, without those the caller has."""
    pairs: Sequence[ShownPair] = ()
    if wish["count"] and may_label(desk):
        lease_next(desk=desk, count=wish["count"], at=timezone.now())
        pairs = list_leased_pairs(desk, without=wish.get("held", ()))
    return {
        "is_open": may_label(desk),
        "guideline_revision": get_shown_guideline(desk).revision,
        "progress": dataclasses.asdict(count_progress(desk, is_exact=False)),
        "pairs": [_pair(pair) for pair in pairs],
    }


def _pair(pair: ShownPair) -> dict[str, Any]:
    return {
        "assignment": str(pair.assignment),
        "query": {"text": pair.query_text, "description": pair.query_description},
        "document": {
            "title": pair.title,
            "text": pair.body,
            "url": pair.url,
            "fields": pair.fields,
        },
        "content_hash": pair.content_hash,
    }


def _receipt(receipt: Receipt) -> dict[str, Any]:
    if receipt.is_stored:
        return {"id": str(receipt.id), "status": "repeated" if receipt.is_repeat else "stored"}
    refused = {"code": receipt.code, "message": receipt.message}
    return {"id": str(receipt.id), "status": "refused", **refused}
