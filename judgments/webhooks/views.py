"""Webhooks of a collection, and, without a slug, of the installation."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from judgments.models import WebhookEndpoint
from judgments.pages.rendering import posted, render_page
from judgments.permissions import NotFound
from judgments.webhooks import services
from judgments.webhooks.forms import WebhookForm
from judgments.webhooks.queries import (
    Scope,
    get_delivery,
    get_endpoint,
    get_scope,
    get_webhook_page,
    get_webhooks_page,
)
from judgments.webhooks.services import WebhookRefused
from touchstone.errors import DomainError


@never_cache
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Where events are sent; a new secret is shown once, in the answer to the POST that made it."""
    scope = get_scope(viewer=request.user, slug=slug)
    form = WebhookForm(posted(request))
    made: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            endpoint, secret = services.create_endpoint(
                scope=scope, **form.cleaned_data, at=timezone.now()
            )
        except DomainError as error:
            form.add_error(getattr(error, "field", "") or None, error.message)
        else:
            made, form = {"secret": secret, "secret_of": endpoint.url}, WebhookForm()
    page = get_webhooks_page(scope=scope, now=timezone.now())
    return _render(request, "webhooks", scope, page, form=form, **made)


@never_cache
@require_http_methods(["GET", "POST"])
def webhook(request: HttpRequest, endpoint_id: UUID, slug: str | None = None) -> HttpResponse:
    """One webhook: its URL and events, and the log of its deliveries."""
    scope = get_scope(viewer=request.user, slug=slug)
    endpoint = get_endpoint(scope=scope, public_id=endpoint_id)
    form = WebhookForm(posted(request), initial={"url": endpoint.url, "events": endpoint.events})
    if request.method == "POST" and form.is_valid():
        try:
            services.change_endpoint(
                scope=scope, endpoint=endpoint, **form.cleaned_data, at=timezone.now()
            )
        except WebhookRefused as error:
            form.add_error(error.field or None, error.message)
        else:
            messages.success(request, "Saved.")
            return _to(scope, endpoint)
    return _show(request, scope, endpoint, form)


@never_cache
@require_POST
def webhook_rotate(
    request: HttpRequest, endpoint_id: UUID, slug: str | None = None
) -> HttpResponse:
    """A new secret, shown once, in this answer."""
    scope = get_scope(viewer=request.user, slug=slug)
    endpoint = get_endpoint(scope=scope, public_id=endpoint_id)
    secret = services.rotate_secret(scope=scope, endpoint=endpoint, at=timezone.now())
    form = WebhookForm(initial={"url": endpoint.url, "events": endpoint.events})
    return _show(request, scope, endpoint, form, secret=secret, secret_of=endpoint.url)


@require_POST
def webhook_act(
    request: HttpRequest, endpoint_id: UUID, act: str, slug: str | None = None
) -> HttpResponse:
    """Do one of ACTS to a webhook."""
    scope = get_scope(viewer=request.user, slug=slug)
    endpoint = get_endpoint(scope=scope, public_id=endpoint_id)
    if act not in ACTS:
        raise NotFound("action")
    does, words = ACTS[act]
    try:
        does(scope=scope, endpoint=endpoint, at=timezone.now())
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, words)
    if act == "delete":
        return redirect(*_names(scope, "webhooks"))
    return _to(scope, endpoint)


@require_POST
def webhook_replay(
    request: HttpRequest, endpoint_id: UUID, delivery_id: UUID, slug: str | None = None
) -> HttpResponse:
    """Send an event again."""
    scope = get_scope(viewer=request.user, slug=slug)
    endpoint = get_endpoint(scope=scope, public_id=endpoint_id)
    delivery = get_delivery(endpoint=endpoint, public_id=delivery_id)
    try:
        services.replay(endpoint=endpoint, delivery=delivery, at=timezone.now())
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Sent again.")
    return _to(scope, endpoint)


# what is done, and what is then said
ACTS: Final[dict[str, tuple[Callable[..., None], str]]] = {
    "pause": (services.pause_endpoint, "Paused."),
    "resume": (services.resume_endpoint, "Resumed."),
    "test": (services.send_test, "Test event queued."),
    "delete": (services.delete_endpoint, "Webhook deleted."),
}


def _show(
    request: HttpRequest, scope: Scope, endpoint: WebhookEndpoint, form: WebhookForm, **more: Any
) -> HttpResponse:
    page = get_webhook_page(endpoint=endpoint, page=request.GET.get("page", ""), now=timezone.now())
    return _render(request, "webhook", scope, page, form=form, **more)


def _render(
    request: HttpRequest,
    template: str,
    scope: Scope,
    page: object,
    *,
    form: WebhookForm,
    **more: Any,
) -> HttpResponse:
    return render_page(
        request,
        template,
        page,
        access=scope.access,
        section="" if scope.access is None else "overview",
        status=400 if form.errors else 200,
        form=form,
        base=reverse(*_names(scope, "webhooks")[:1], args=_names(scope, "webhooks")[1:]),
        **more,
    )


def _names(scope: Scope, name: str) -> tuple[str, *tuple[str, ...]]:
    """The URL's name and its first argument, of the collection's pages or the installation's."""
    if scope.collection is None:
        return (f"site-{name}",)
    return name, scope.collection.slug


def _to(scope: Scope, endpoint: WebhookEndpoint) -> HttpResponse:
    return redirect(*_names(scope, "webhook"), endpoint.public_id)
