"""The annotator's page."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page, require_POST, require_safe

from annotation.gold.feedback import get_feedback_page, has_news
from annotation.guidelines.shown import get_guideline_change, get_unread_change
from annotation.labelling.forms import REASONS, SKIP_REASONS, OwnLabelsForm, PreferencesForm
from annotation.labelling.own_labels_page import get_own_labels_page
from annotation.labelling.own_work import get_own_work
from annotation.labelling.preference_services import set_preferences
from annotation.labelling.preferences import get_preferences
from annotation.labelling.queries import get_label_shell
from annotation.labelling.script_views import get_first_script, get_script, get_style
from annotation.labelling.shown_pairs import get_shown_picture
from annotation.pages.keys import keyed_actions, keyed_grades
from annotation.pages.rendering import with_steps
from annotation.permissions import AnnotatorContext, get_annotator_context
from judgments.models import User
from judgments.pages.downloads import as_kept
from judgments.pages.languages import find_language, message_of
from judgments.permissions import NotFound
from judgments.pictures.encoding import MEDIA_TYPE
from judgments.rate_limits import labelling
from touchstone.errors import DomainError

REVISION_DIGITS = 10


# Compressed, because nothing in it is secret: the token is in a cookie alone.
@require_safe
@gzip_page
@conditional_page
@cache_control(private=True, no_cache=True)
@ensure_csrf_cookie
def label(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """Label pair after pair. The page stays the same from label to label, so a browser keeps it."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    return render(request, "annotation/label.html", _shell_context(request, context))


@require_safe
def label_guideline(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """The guideline that holds now, and what changed in it, for a page that is open."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    since = request.GET.get("since", "")
    if not (since.isdecimal() and len(since) < REVISION_DIGITS):
        raise NotFound("revision")
    change = get_guideline_change(context, since=int(since))
    preferences = get_preferences(viewer=context.viewer)
    grades = keyed_grades(change.guideline.grades, preferences.keys)
    shown = {"change": change, "guideline": change.guideline, "grades": with_steps(grades)}
    return render(request, "annotation/_label_guideline.html", shown)


@require_POST
def labelling_preferences(request: HttpRequest) -> JsonResponse:
    """Keep the signed-in person's keys and view of the page."""
    assert isinstance(request.user, User)
    form = PreferencesForm(request.POST)
    if not form.is_valid() or form.cleaned_data.pop("account") != request.user.public_id:
        return JsonResponse({"message": gettext("Your settings could not be saved.")}, status=422)
    try:
        set_preferences(by=request.user, **form.cleaned_data)
    except DomainError as error:
        return JsonResponse({"message": message_of(error)}, status=422)
    return JsonResponse({})


@never_cache
@require_safe
def feedback(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """What one was told of one's own labels, the last first."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    page = get_feedback_page(context)
    return render(request, "annotation/feedback.html", {"page": page, "campaign": context.campaign})


@never_cache
@require_safe
def own_work(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """How much one labelled, how fast and how, and what one was told."""
    page = get_own_work(get_annotator_context(viewer=request.user, campaign_id=campaign_id))
    return render(request, "annotation/own_work.html", {"page": page, "campaign": page.campaign})


@never_cache
@require_safe
def own_labels(request: HttpRequest, campaign_id: uuid.UUID) -> HttpResponse:
    """One's own labels as a table: searched, filtered, sorted; each leads back to its pair."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    page = get_own_labels_page(
        context,
        wanted=OwnLabelsForm(request.GET).wanted(),
        sort=request.GET.get("sort", ""),
        page=request.GET.get("page", ""),
    )
    return render(
        request, "annotation/own_labels.html", {"page": page, "campaign": context.campaign}
    )


@labelling
@require_safe
def picture(request: HttpRequest, campaign_id: uuid.UUID, name: uuid.UUID) -> HttpResponse:
    """A picture of a document that one labels or has labelled."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    return as_kept(get_shown_picture(context, name=name), media_type=MEDIA_TYPE)


def _shell_context(request: HttpRequest, context: AnnotatorContext) -> dict[str, Any]:
    shell = get_label_shell(context)
    preferences = get_preferences(viewer=context.viewer)
    return {
        "shell": shell,
        "grades": with_steps(keyed_grades(shell.guideline.grades, preferences.keys)),
        "actions": keyed_actions(preferences.keys),
        "preferences": preferences,
        "guideline": shell.guideline,
        "change": get_unread_change(context, shell.guideline),
        "reasons": REASONS,
        "skip_reasons": SKIP_REASONS,
        "account": context.viewer.public_id,
        "lease_minutes": context.campaign.lease_minutes,
        "username": context.viewer.get_username(),
        "login_url": f"{reverse('login')}?next={request.path}",
        "first": get_first_script().digest,
        "script": get_script(find_language(request)).digest,
        "style": get_style().digest,
        "has_feedback": has_news(context),
    }
