"""Threads and announcements: an annotator's own, and those of a campaign for its leads."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.models import Question
from annotation.pages.rendering import render_page
from annotation.permissions import AnnotatorContext, check_may_run, get_annotator_context, is_open
from annotation.questions import services
from annotation.questions.forms import MessageForm, QuestionsForm, read_items
from annotation.questions.own_queries import (
    AskedPair,
    get_asked_pair,
    get_news,
    get_own_questions_page,
    get_own_thread,
)
from annotation.questions.queries import get_questions_page, get_thread_page, list_announcements
from annotation.questions.rules import QuestionRefused
from judgments.pages.languages import message_of
from judgments.pages.rendering import is_part, posted
from judgments.permissions import NotFound
from touchstone.errors import DomainError

# an annotator's own; the labelling page asks for parts of these and shows them in a dialog


@never_cache
@require_safe
def own_questions(request: HttpRequest, campaign_id: UUID) -> HttpResponse:
    """All that one asked, was answered and was told in a campaign."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    return _render_own(request, "own_questions", context, page=get_own_questions_page(context))


@never_cache
@require_http_methods(["GET", "POST"])
def ask(request: HttpRequest, campaign_id: UUID) -> HttpResponse:
    """Ask about the pair of a seat, or write again where one has asked."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    about = get_asked_pair(context, _assignment(request))
    return _thread(request, context, about)


@never_cache
@require_http_methods(["GET", "POST"])
def own_question(request: HttpRequest, campaign_id: UUID, question_id: UUID) -> HttpResponse:
    """One's own thread; a POST writes in it."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    thread = get_own_thread(context, question_id)
    about = AskedPair(thread.assignment, thread.query, thread.title, thread)
    return _thread(request, context, about)


@never_cache
@require_http_methods(["GET", "POST"])
def news(request: HttpRequest, campaign_id: UUID) -> HttpResponse:
    """What one has not read; a POST marks it as read."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    if request.method == "POST":
        questions, announcements = read_items(request.POST)
        services.mark_read(
            context=context, questions=questions, announcements=announcements, at=timezone.now()
        )
        if request.POST.get("next") == "home":
            return redirect("my-campaigns")
    if not is_part(request):
        return redirect("label-questions", campaign_id)
    return _render_own(request, "_news", context, news=get_news(context))


def _thread(request: HttpRequest, context: AnnotatorContext, about: AskedPair) -> HttpResponse:
    campaign_id, status = context.campaign.public_id, 200
    form = MessageForm(posted(request))
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                question = _write(request, context, about, form.cleaned_data["text"])
            except DomainError as error:
                form.add_error(None, message_of(error))
            else:
                if not is_part(request):
                    return redirect("label-question", campaign_id, question.public_id)
                about = get_asked_pair(context, about.assignment)
                form, status = MessageForm(), 200
    template = "_own_thread" if is_part(request) else "own_question"
    shown = {"about": about, "form": form, "news": get_news(context).count}
    return _render_own(request, template, context, status=status, **shown)


def _write(
    request: HttpRequest, context: AnnotatorContext, about: AskedPair, text: str
) -> Question:
    now = timezone.now()
    if about.question is None:
        return services.ask(context=context, assignment=about.assignment, text=text, at=now)
    question = services.write(context=context, question_id=about.question.id, text=text, at=now)
    services.mark_read(context=context, questions=read_items(request.POST)[0], at=now)
    return question


def _assignment(request: HttpRequest) -> UUID:
    try:
        return UUID(request.GET.get("assignment", ""))
    except ValueError:
        raise NotFound("assignment") from None


def _render_own(
    request: HttpRequest,
    template: str,
    context: AnnotatorContext,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    shown = {"campaign": context.campaign, "is_open": is_open(context)} | more
    response = render(request, f"annotation/{template}.html", shown, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


# all of a campaign, for its leads


@never_cache
@require_safe
def questions(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The questions of a campaign, those that wait first."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = QuestionsForm(request.GET)
    wanted = form.wanted()
    page = get_questions_page(
        access=access,
        campaign=campaign,
        wanted=wanted,
        page=request.GET.get("page", ""),
        shows_names=form.cleaned_data.get("names", False),
    )
    states = Question.State.choices
    return render_page(request, "questions", page, access=access, states=states)


@never_cache
@require_http_methods(["GET", "POST"])
def question(request: HttpRequest, slug: str, campaign_id: UUID, question_id: UUID) -> HttpResponse:
    """A thread beside its pair; a POST answers it, and may close it."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = MessageForm(posted(request), label="Your answer")
    if request.method == "POST":
        check_may_run(access, campaign)
        if form.is_valid():
            try:
                services.answer(
                    access=access,
                    campaign=campaign,
                    question_id=question_id,
                    text=form.cleaned_data["text"],
                    closes=request.POST.get("then") == "close",
                    at=timezone.now(),
                )
            except QuestionRefused as error:
                form.add_error(None, error.message)
            else:
                messages.success(
                    request, "Answer sent. The annotator sees it on the labelling page."
                )
                return redirect("campaign-question", slug, campaign_id, question_id)
    page = get_thread_page(
        access=access,
        campaign=campaign,
        question_id=question_id,
        shows_names="names" in request.GET,
    )
    return render_page(request, "question", page, access=access, form=form)


@require_POST
def question_close(
    request: HttpRequest, slug: str, campaign_id: UUID, question_id: UUID
) -> HttpResponse:
    """End a thread."""
    access, campaign = led_campaign(request, slug, campaign_id)
    said: dict[str, Any] = {"access": access, "campaign": campaign, "question_id": question_id}
    services.close(**said, at=timezone.now())
    messages.success(request, "Closed.")
    return redirect("campaign-question", slug, campaign_id, question_id)


@require_POST
def question_reopen(
    request: HttpRequest, slug: str, campaign_id: UUID, question_id: UUID
) -> HttpResponse:
    """Let a closed thread go on."""
    access, campaign = led_campaign(request, slug, campaign_id)
    said: dict[str, Any] = {"access": access, "campaign": campaign, "question_id": question_id}
    try:
        services.reopen(**said, at=timezone.now())
    except QuestionRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Reopened.")
    return redirect("campaign-question", slug, campaign_id, question_id)


@never_cache
@require_http_methods(["GET", "POST"])
def announcements(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """What was announced, and how many have read it; a POST announces."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = MessageForm(posted(request), label="New announcement")
    if request.method == "POST":
        check_may_run(access, campaign)
        if form.is_valid():
            text = form.cleaned_data["text"]
            try:
                services.announce(access=access, campaign=campaign, text=text, at=timezone.now())
            except DomainError as error:
                form.add_error(None, error.message)
            else:
                messages.success(request, "Announced to all annotators of this campaign.")
                return redirect("campaign-announcements", slug, campaign_id)
    rows = list_announcements(access=access, campaign=campaign)
    return render_page(request, "announcements", rows, access=access, form=form, campaign=campaign)


@require_POST
def announcement_withdraw(
    request: HttpRequest, slug: str, campaign_id: UUID, announcement_id: UUID
) -> HttpResponse:
    """Take an announcement from all annotators."""
    access, campaign = led_campaign(request, slug, campaign_id)
    try:
        services.withdraw_announcement(
            access=access, campaign=campaign, announcement_id=announcement_id, at=timezone.now()
        )
    except QuestionRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Withdrawn. Annotators no longer see it.")
    return redirect("campaign-announcements", slug, campaign_id)
