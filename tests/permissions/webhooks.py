"""Who gets what at the addresses of webhooks, on pages and over REST."""

from functools import partial
from typing import Any

from judgments.models import Collection, Secret, WebhookDelivery, WebhookEndpoint
from judgments.webhooks.services import _send
from tests.builders import NOW, World
from tests.permissions.api import JSON, PUT
from tests.permissions.judgments import books
from tests.permissions.table import Row, leads

# nothing may be asked, so that those who may create get the reason
FORM: dict[str, Any] = {"url": "https://a.example/", "events": ["release.created"]}
api_leads = partial(leads, anonymous=401)
DELETE: dict[str, Any] = {"method": "delete"}


def make_endpoint(collection: Collection | None) -> WebhookEndpoint:
    secret = Secret.objects.create(
        collection=collection, origin="https://a.example", ciphertext="x", created_at=NOW
    )
    return WebhookEndpoint.objects.create(
        collection=collection, secret=secret, created_at=NOW, **FORM
    )


def endpoint(world: World, *, name: str = "endpoint_id") -> dict[str, Any]:
    return books(world) | {name: make_endpoint(world.collection).public_id}


def site(world: World) -> dict[str, Any]:
    return {"endpoint_id": make_endpoint(None).public_id}


def _delivery(of: WebhookEndpoint) -> WebhookDelivery:
    made = WebhookDelivery.objects.create(
        endpoint=of, key="k", event="webhook.test", body="{}", created_at=NOW
    )
    _send(made, NOW)
    return made


def delivery(world: World, *, name: str = "endpoint_id") -> dict[str, Any]:
    own = make_endpoint(world.collection)
    return books(world) | {name: own.public_id, "delivery_id": _delivery(own).public_id}


def site_delivery(world: World) -> dict[str, Any]:
    own = make_endpoint(None)
    return {"endpoint_id": own.public_id, "delivery_id": _delivery(own).public_id}


rest_endpoint = partial(endpoint, name="webhook_id")
rest_delivery = partial(delivery, name="webhook_id")


def admins(name: str, status: int = 200, **more: Any) -> Row:
    """Administrators alone."""
    return Row(name=name, admin=status, **more)


POST: dict[str, Any] = {"method": "post"}
ROWS: list[Row] = [
    leads("webhooks", path=books),
    leads("webhooks", 400, path=books, data=FORM, **POST),
    leads("webhook", path=endpoint),
    leads("webhook", 400, path=endpoint, data=FORM, **POST),
    leads("webhook-rotate", path=endpoint, **POST),
    leads("webhook-act", 302, path=lambda world: endpoint(world) | {"act": "pause"}, **POST),
    leads("webhook-replay", 302, path=delivery, **POST),
    admins("site-webhooks"),
    admins("site-webhooks", 400, data=FORM, **POST),
    admins("site-webhook", path=site),
    admins("site-webhook-rotate", path=site, **POST),
    admins("site-webhook-act", 302, path=lambda world: site(world) | {"act": "delete"}, **POST),
    admins("site-webhook-replay", 302, path=site_delivery, **POST),
    api_leads("api-webhooks", path=books),
    api_leads("api-webhooks", 400, path=books, data=FORM, **JSON),
    api_leads("api-webhook", path=rest_endpoint),
    api_leads("api-webhook", 400, path=rest_endpoint, data=FORM, **PUT),
    api_leads("api-webhook", 204, path=rest_endpoint, **DELETE),
    api_leads("api-webhook-secret", 201, path=rest_endpoint, **POST),
    api_leads("api-webhook-deliveries", path=rest_endpoint),
    api_leads("api-webhook-replay", 202, path=rest_delivery, **POST),
]
