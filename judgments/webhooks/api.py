"""The webhooks of a collection over REST."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judgments.models import WebhookEndpoint
from judgments.rest.answers import AnswerSerializer
from judgments.rest.paging import PageParameters, page_of, page_response
from judgments.rest.parsing import check_parameters, read_input, read_parameters
from judgments.webhooks import services
from judgments.webhooks.events import EVENTS
from judgments.webhooks.queries import (
    AttemptRow,
    DeliveryRow,
    EndpointRow,
    get_delivery,
    get_endpoint,
    get_endpoint_row,
    get_scope,
    list_deliveries,
    list_endpoint_rows,
)
from judgments.webhooks.services import WebhookRefused


class WebhookOutput(AnswerSerializer):
    answer = EndpointRow


class NewWebhookOutput(WebhookOutput):
    """A webhook with its signing secret, which is not shown again."""

    secret = serializers.CharField()


class AttemptOutput(AnswerSerializer):
    answer = AttemptRow


class DeliveryOutput(AnswerSerializer):
    answer = DeliveryRow
    attempts = AttemptOutput(many=True)


class Input(serializers.Serializer[Any]):
    """url: of a server that an administrator allows. events: the types that it gets."""

    url = serializers.CharField(max_length=2000)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=list(EVENTS)), allow_empty=False, max_length=50
    )


class Webhooks(APIView):
    """Where events are sent."""

    @extend_schema(
        operation_id="list_webhooks", parameters=[PageParameters], responses=page_of(WebhookOutput)
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the webhooks; for leads."""
        wish = read_parameters(request, PageParameters)
        scope = get_scope(viewer=request.user, slug=slug)
        part = list_endpoint_rows(scope=scope, now=timezone.now(), **wish)
        return page_response(request, part, WebhookOutput)

    @extend_schema(operation_id="create_webhook", request=Input, responses={201: NewWebhookOutput})
    def post(self, request: Request, slug: str) -> Response:
        """Create a webhook. The answer alone has its secret."""
        check_parameters(request)
        scope = get_scope(viewer=request.user, slug=slug)
        given = read_input(Input, request.data)
        try:
            made, secret = services.create_endpoint(scope=scope, **given, at=timezone.now())
        except WebhookRefused as error:
            raise _invalid(error) from error
        return Response(_with_secret(made, secret), status=201)


class OneWebhook(APIView):
    """One webhook."""

    class Input(Input):
        """is_paused: nothing is sent while it is."""

        is_paused = serializers.BooleanField(default=False)

    @extend_schema(operation_id="get_webhook", responses=WebhookOutput)
    def get(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        """Return a webhook."""
        check_parameters(request)
        scope = get_scope(viewer=request.user, slug=slug)
        return _answer(get_endpoint(scope=scope, public_id=webhook_id))

    @extend_schema(operation_id="change_webhook", request=Input, responses=WebhookOutput)
    def put(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        """Change a webhook: its URL on the same server, its events, and whether it is paused."""
        check_parameters(request)
        scope = get_scope(viewer=request.user, slug=slug)
        endpoint = get_endpoint(scope=scope, public_id=webhook_id)
        given = read_input(self.Input, request.data)
        is_paused = given.pop("is_paused")
        switch = services.pause_endpoint if is_paused else services.resume_endpoint
        try:
            services.change_endpoint(scope=scope, endpoint=endpoint, **given, at=timezone.now())
        except WebhookRefused as error:
            raise _invalid(error) from error
        switch(scope=scope, endpoint=endpoint, at=timezone.now())
        return _answer(get_endpoint(scope=scope, public_id=webhook_id))

    @extend_schema(operation_id="delete_webhook", responses={204: None})
    def delete(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        """Delete a webhook: nothing more is sent, and its secrets are erased."""
        check_parameters(request)
        scope = get_scope(viewer=request.user, slug=slug)
        endpoint = get_endpoint(scope=scope, public_id=webhook_id)
        services.delete_endpoint(scope=scope, endpoint=endpoint, at=timezone.now())
        return Response(status=204)


class SigningSecret(APIView):
    """The signing secret of a webhook."""

    @extend_schema(
        operation_id="rotate_webhook_secret", request=None, responses={201: NewWebhookOutput}
    )
    def post(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        """Make a new secret. The one before signs as well for 24 hours."""
        check_parameters(request)
        scope = get_scope(viewer=request.user, slug=slug)
        endpoint = get_endpoint(scope=scope, public_id=webhook_id)
        secret = services.rotate_secret(scope=scope, endpoint=endpoint, at=timezone.now())
        return Response(_with_secret(endpoint, secret), status=201)


class Deliveries(APIView):
    """The log of a webhook."""

    @extend_schema(
        operation_id="list_webhook_deliveries",
        parameters=[PageParameters],
        responses=page_of(DeliveryOutput),
    )
    def get(self, request: Request, slug: str, webhook_id: UUID) -> Response:
        """List what was sent, oldest first, with every attempt."""
        wish = read_parameters(request, PageParameters)
        scope = get_scope(viewer=request.user, slug=slug)
        endpoint = get_endpoint(scope=scope, public_id=webhook_id)
        return page_response(request, list_deliveries(endpoint=endpoint, **wish), DeliveryOutput)


class Replay(APIView):
    """Sending again."""

    @extend_schema(operation_id="replay_webhook_delivery", request=None, responses={202: None})
    def post(self, request: Request, slug: str, webhook_id: UUID, delivery_id: UUID) -> Response:
        """Send an event again, with the same `webhook-id` and body."""
        check_parameters(request)
        scope = get_scope(viewer=request.user, slug=slug)
        endpoint = get_endpoint(scope=scope, public_id=webhook_id)
        delivery = get_delivery(endpoint=endpoint, public_id=delivery_id)
        services.replay(endpoint=endpoint, delivery=delivery, at=timezone.now())
        return Response(status=202)


def _answer(endpoint: WebhookEndpoint) -> Response:
    row = get_endpoint_row(endpoint=endpoint, now=timezone.now())
    return Response(WebhookOutput(row).data)


def _with_secret(endpoint: WebhookEndpoint, secret: str) -> dict[str, Any]:
    row = get_endpoint_row(endpoint=endpoint, now=timezone.now())
    return WebhookOutput(row).data | {"secret": secret}


def _invalid(error: WebhookRefused) -> ValidationError | WebhookRefused:
    return ValidationError({error.field: error.message}) if error.field else error
