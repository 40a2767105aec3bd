"""The next pairs, the labels of them, and queries that someone would rather not label."""

import dataclasses
import uuid
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
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

from annotation.labelling.bodies import (
    Count,
    FirstWish,
    LabelInput,
    LabelsInput,
    LabelsOutput,
    NextOutput,
    OwnLabelOutput,
    OwnSkipOutput,
    Page,
    SkipInput,
    SkippedOutput,
)
from annotation.labelling.leasing import MOST, lease_next, release_leases
from annotation.labelling.own_campaigns import count_progress
from annotation.labelling.own_labels import Wanted, list_own_labels, list_own_skips, measure_pace
from annotation.labelling.services import Receipt, submit_labels
from annotation.labelling.shown_pairs import ShownPair, list_leased_pairs, list_leased_seats
from annotation.labelling.skipping import return_skip, skip_query
from annotation.labelling.submissions import Submission
from annotation.permissions import AnnotatorContext, get_annotator_context, is_open, may_label
from annotation.training.standing import get_standing
from judgments.rest.parsing import check_fields, check_parameters, read_input, read_parameters
from judgments.rest.problems import problem

A_DAY_OF_WORK = timedelta(hours=14)
ACCOUNT = OpenApiParameter(
    "Touchstone-Account",
    uuid.UUID,
    OpenApiParameter.HEADER,
    description="The account that the labels belong to; 403 if another account is signed in, for"
    " example in another tab.",
)


class Next(APIView):
    """`next`: the pairs to label. Repeated requests return the same pairs."""

    throttle_scope = "labelling"

    @extend_schema(operation_id="campaign_next", parameters=[Count], responses=NextOutput)
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Lease a pair, or as many as `count` says.

        Repeated requests return the same pairs.
        """
        wish = read_parameters(request, Count)
        return Response(
            _next(get_annotator_context(viewer=request.user, campaign_id=campaign_id), wish)
        )

    @extend_schema(
        operation_id="campaign_next_batch",
        parameters=[ACCOUNT],
        request=FirstWish,
        responses=NextOutput,
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Lease pairs, leaving out of the response those that the caller already holds."""
        check_parameters(request)
        context = _context(request, campaign_id)
        wish = read_input(FirstWish, request.data)
        body = _next(context, wish)
        if wish["begins"]:
            pace = measure_pace(context, since=timezone.now() - A_DAY_OF_WORK)
            body["pace"] = dataclasses.asdict(pace)
        return _packed(request, body)


class Labels(APIView):
    """`labels`: the annotator's own labels."""

    throttle_scope = "labelling"

    @extend_schema(
        operation_id="campaign_labels",
        parameters=[Page],
        responses=OwnLabelOutput(many=True),
    )
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """List the annotator's own current labels, newest first."""
        query = read_parameters(request, Page)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        limit, before = query.pop("limit"), query.pop("before")
        labels = list_own_labels(context, limit=limit, before=before, wanted=Wanted(**query))
        rows = [
            {
                **{name: getattr(label, name) for name in OWN},
                "pair": _pair(label.pair, campaign_id),
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
        """Submit one label, or a batch as {"labels": […], "count": …}.

        A batch is answered with 200 and a receipt for each label; a refused label does not affect
        the others. A single label that is refused is answered with 422.
        """
        check_parameters(request)
        context = _context(request, campaign_id)
        is_single = isinstance(request.data, dict) and "labels" not in request.data
        wish = _read_labels({"labels": [request.data]} if is_single else request.data)
        submissions = [Submission(**label) for label in wish["labels"]]
        receipts = submit_labels(context=context, submissions=submissions, at=timezone.now())
        body = {"labels": [_receipt(receipt) for receipt in receipts], **_next(context, wish)}
        if is_single and not receipts[0].is_stored:
            return problem(422, receipts[0].code, receipts[0].message, **body)
        return _packed(request, body)


class Release(APIView):
    """`release`: give leased pairs back."""

    throttle_scope = "labelling"

    class Input(serializers.Serializer[Any]):
        """assignments: the ones to release; all if omitted."""

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
        """Release leased pairs that will not be labelled now; returns how many."""
        check_parameters(request)
        context = _context(request, campaign_id)
        wish = read_input(self.Input, request.data)
        return Response(
            {"released": release_leases(context=context, assignments=wish["assignments"])}
        )


class Skips(APIView):
    """`skips`: the queries that the annotator has skipped."""

    throttle_scope = "labelling"

    @extend_schema(operation_id="campaign_skips", responses=OwnSkipOutput(many=True))
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """List the queries that the annotator has skipped, latest first."""
        check_parameters(request)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        rows = [
            {
                "id": skip.id,
                "query": skip.query_text,
                "shown_query": {
                    "id": skip.query_name,
                    "text": skip.query_text,
                    "description": skip.query_description,
                },
                "reason": skip.reason,
                "note": skip.note,
                "skipped_at": skip.skipped_at,
            }
            for skip in list_own_skips(context)
        ]
        return Response(OwnSkipOutput(rows, many=True).data)

    @extend_schema(
        operation_id="campaign_skip",
        parameters=[ACCOUNT],
        request=SkipInput,
        responses=SkippedOutput,
    )
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Skip a pair's query.

        Its leased pairs are released and are not assigned to the annotator again.
        """
        check_parameters(request)
        context = _context(request, campaign_id)
        wish = read_input(SkipInput, request.data)
        said = {name: wish[name] for name in ("assignment", "reason", "note")}
        skipped = skip_query(context=context, at=timezone.now(), **said)
        released = [str(assignment) for assignment in skipped.released]
        body = {"id": str(skipped.skip.public_id), "released": released}
        # a whole query less is left: that may not wait until it is counted again
        return _packed(request, {**body, **_next(context, wish, is_exact=True)})


class SkipReturn(APIView):
    """`skips/{id}/return`: unskip a query."""

    throttle_scope = "labelling"

    @extend_schema(
        operation_id="campaign_skip_return",
        parameters=[ACCOUNT],
        request=None,
        responses={204: None},
    )
    def post(self, request: Request, campaign_id: uuid.UUID, skip_id: uuid.UUID) -> Response:
        """Unskip a query, so that its pairs are assigned again."""
        check_parameters(request)
        context = _context(request, campaign_id)
        return_skip(context=context, skip_id=skip_id, at=timezone.now())
        count_progress(context)  # the next answer counts the query again
        return Response(status=204)


OWN = ("id", "outcome", "grade", "reason", "note", "spans", "guideline_revision", "made_at")


def _context(request: Request, campaign_id: uuid.UUID) -> AnnotatorContext:
    """The caller's place, unless the request says that it is meant for someone else's."""
    meant = request.headers.get(ACCOUNT.name)
    if meant is not None and meant != str(getattr(request.user, "public_id", "")):
        raise PermissionDenied(gettext("Another account is signed in."), code="other_account")
    return get_annotator_context(viewer=request.user, campaign_id=campaign_id)


def _read_labels(data: Any) -> dict[str, Any]:
    check_fields(LabelsInput, data)
    labels = data.get("labels")
    for label in labels if isinstance(labels, list) else ():
        check_fields(LabelInput, label)
    return read_input(LabelsInput, data)


def _next(
    context: AnnotatorContext, wish: dict[str, Any], *, is_exact: bool = False
) -> dict[str, Any]:
    """The pairs held after leasing up to `count`, without those the caller has.

    is_exact: what is left is counted now, as after something that changed it by more than a label.
    """
    pairs: Sequence[ShownPair] = ()
    held, characters = wish.get("held", ()), wish.get("characters")
    rest: dict[str, int] = {}
    if wish["count"] and may_label(context):
        lease_next(context=context, count=wish["count"], at=timezone.now())
        seats = None
        if characters is not None:
            seats, rest["rest"] = list_leased_seats(context, characters=characters, without=held)
        pairs = list_leased_pairs(context, without=held, seats=seats)
    standing = get_standing(context)
    body: dict[str, Any] = {
        "is_open": is_open(context),
        "paused": standing.pause,
        "training": dataclasses.asdict(standing.training) if standing.training else None,
        "guideline_revision": context.revision,
        "news": context.news,
        "pairs": [_pair(pair, context.campaign.public_id) for pair in pairs],
        "done_in_query": {str(pair.assignment): pair.query_done for pair in pairs},
        **rest,
    }
    if wish["count"] or is_exact:
        body["progress"] = dataclasses.asdict(count_progress(context, is_exact=is_exact))
    return body


def _packed(request: Request, body: dict[str, Any]) -> Response:
    """The answer; compressed where it brings documents, which are much less then.

    How long it is may tell no one anything (BREACH): no other site can make such a request in
    someone's name, for it needs a token in a header; and there is no token in the answer.
    """
    response = Response(body)
    if body["pairs"]:
        response.add_post_render_callback(partial(_gzip.process_response, request))
    return response


_gzip = GZipMiddleware(lambda _: HttpResponse())


def _pair(pair: ShownPair, campaign_id: uuid.UUID) -> dict[str, Any]:
    return {
        "assignment": str(pair.assignment),
        "name": pair.name,
        "query": {
            "id": pair.query_name,
            "text": pair.query_text,
            "description": pair.query_description,
        },
        "document": {
            "title": pair.title,
            "text": pair.body,
            "html": pair.html,
            "url": pair.url,
            "fields": pair.fields,
            "pictures": [
                {
                    "url": reverse("label-picture", args=[campaign_id, one.name])
                    if one.name
                    else "",
                    "size": one.size,
                    "note": one.note,
                }
                for one in pair.pictures
            ],
        },
        "content_hash": pair.content_hash,
        "is_training": pair.is_training,
    }


def _receipt(receipt: Receipt) -> dict[str, Any]:
    if receipt.is_stored:
        status = "repeated" if receipt.is_repeat else "stored"
        surplus = {"surplus": True} if receipt.is_surplus else {}
        told = {"training": dataclasses.asdict(receipt.told)} if receipt.told else {}
        return {"id": str(receipt.id), "status": status, **surplus, **told}
    refused = {"code": receipt.code, "message": receipt.message}
    return {"id": str(receipt.id), "status": "refused", **refused}
