"""One's own notices, and which messages one gets."""

import secrets
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.messages import services
from judgments.messages.forms import AddressForm, ChoicesForm
from judgments.messages.queries import get_message_settings, get_notices_page
from judgments.messages.tokens import read_confirmation
from judgments.pages.languages import message_of
from judgments.pages.rendering import posted, render_page, signed_in
from judgments.permissions import NotFound
from touchstone.errors import DomainError


@never_cache
@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    """What one was told, the newest first."""
    page = get_notices_page(user=signed_in(request), page=request.GET.get("page", ""))
    return render_page(request, "notices", page)


@require_POST
def notices_read(request: HttpRequest) -> HttpResponse:
    """Mark all as read."""
    services.mark_notices_read(user=signed_in(request), at=timezone.now())
    return redirect("notices")


@require_POST
def notice_open(request: HttpRequest, notice_id: UUID) -> HttpResponse:
    """Mark one as read, and go to its page; with `stay`, back to all notices."""
    notice = services.mark_notices_read(
        user=signed_in(request), at=timezone.now(), notice_id=notice_id
    )
    if notice is None or not notice.page or "stay" in request.POST:
        return redirect("notices")
    return redirect(notice.page, *notice.page_args)


@never_cache
@require_http_methods(["GET", "POST"])
def message_settings(request: HttpRequest) -> HttpResponse:
    """Which messages one gets, and over which channel."""
    user = signed_in(request)
    if request.method == "POST":
        form = ChoicesForm(request.POST)
        if not form.is_valid():
            raise NotFound("kind of message")
        services.choose_messages(user=user, wanted=form.chosen())
        messages.success(request, gettext("Saved."))
        return redirect("message-settings")
    return _show_settings(request, AddressForm(initial={"address": user.email}))


@require_POST
def message_address(request: HttpRequest) -> HttpResponse:
    """Another address for e-mail, or none."""
    user, form = signed_in(request), AddressForm(request.POST)
    if not form.is_valid():
        return _show_settings(request, form)
    address = form.cleaned_data["address"]
    if address and address == user.email:
        return redirect("message-settings")
    try:
        services.request_address(
            user=user, address=address, at=timezone.now(), nonce=secrets.token_hex(8)
        )
    except DomainError as error:
        form.add_error("address", message_of(error))
        return _show_settings(request, form)
    if address:
        messages.success(request, gettext("A link was sent. Open it to use this address."))
    else:
        messages.success(request, gettext("Address removed. You get no e-mail."))
    return redirect("message-settings")


@never_cache
@require_http_methods(["GET", "POST"])
def address_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Use the address that a link confirms."""
    user, said = signed_in(request), read_confirmation(token)
    if said is None or said[0] != user.pk:
        raise NotFound("link")
    if posted(request) is not None:
        services.confirm_address(user=user, token=token)
        messages.success(request, gettext("Address confirmed."))
        return redirect("message-settings")
    return render_page(request, "address_confirm", address=said[1])


def _show_settings(request: HttpRequest, form: AddressForm) -> HttpResponse:
    page = get_message_settings(user=signed_in(request))
    return render_page(request, "message_settings", page, form=form)
