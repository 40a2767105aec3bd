"""One button from what to judge next to a campaign of it."""

import secrets

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.pooling.next_campaign import start_next_campaign
from evaluation.public import asked_of
from judgments.lists.queries import get_list
from judgments.permissions import NotFound, check_may_lead, get_access
from touchstone.errors import DomainError


@require_POST
def next_campaign(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Make a draft of a campaign from the pairs that the page of what to judge next shows."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=list_slug)
    judgment_list.collection = access.collection
    try:
        made = start_next_campaign(
            access=access,
            judgment_list=judgment_list,
            asked=asked_of(request.POST),
            at=timezone.now(),
            seed=secrets.randbits(62),
        )
    except NotFound:
        raise
    except DomainError as error:
        messages.error(request, error.message)
        return redirect(reverse("judge-next", args=[slug, list_slug]))
    count = made.pairs.count()
    messages.success(
        request,
        f"A draft with {count:,} {'pair' if count == 1 else 'pairs'}. Add people, then open it.",
    )
    return redirect("campaign", slug, made.public_id)
