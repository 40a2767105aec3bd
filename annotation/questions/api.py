"""Questions and announcements over REST: an annotator's own, and a campaign's for its leads."""

import uuid
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.campaigns.queries import find_campaign
from annotation.models import Question
from annotation.permissions import get_annotator_context
from annotation.questions import services
from annotation.questions.own_queries import (
    News,
    OwnQuestion,
    get_news,
    get_own_thread,
    list_own_questions,
)
from annotation.questions.queries import (
    MOST_SEARCHED,
    AnnouncementRow,
    QuestionRow,
    Thread,
    Wanted,
    get_questions_page,
    get_thread,
    list_announcements,
)
from annotation.questions.rules import MAX_CHARACTERS
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input, read_parameters


class OwnQuestionOutput(AnswerSerializer):
    """One of your threads. state: waiting, answered or closed."""

    answer = OwnQuestion


class NewsOutput(AnswerSerializer):
    answer = News
    answers = OwnQuestionOutput(many=True)


class QuestionOutput(AnswerSerializer):
    answer = QuestionRow


class ThreadOutput(AnswerSerializer):
    answer = Thread


class AnnouncementOutput(AnswerSerializer):
    answer = AnnouncementRow


class TextInput(serializers.Serializer[Any]):
    """A message."""

    text = serializers.CharField(max_length=MAX_CHARACTERS)


class OwnQuestions(APIView):
    """`questions`: what the annotator asked the leads about pairs."""

    throttle_scope = "labelling"

    class Input(TextInput):
        """A question. assignment: of the pair that it is about."""

        assignment = serializers.UUIDField()

    @extend_schema(operation_id="list_own_questions", responses={200: OwnQuestionOutput(many=True)})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """The annotator's own threads: those with a new answer first, then the newest."""
        check_parameters(request)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        return Response(OwnQuestionOutput(list_own_questions(context), many=True).data)

    @extend_schema(operation_id="ask", request=Input, responses={201: OwnQuestionOutput})
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Ask about a pair; where there is an open thread about it, this is its next message."""
        check_parameters(request)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        said = read_input(self.Input, request.data)
        made = services.ask(context=context, at=timezone.now(), **said)
        thread = get_own_thread(context, made.public_id)
        return Response(OwnQuestionOutput(thread).data, status=201)


class OwnQuestionMessages(APIView):
    """`questions/{id}/messages`: writing again in one's own thread."""

    throttle_scope = "labelling"

    @extend_schema(
        operation_id="write_in_question", request=TextInput, responses={201: OwnQuestionOutput}
    )
    def post(self, request: Request, campaign_id: uuid.UUID, question_id: uuid.UUID) -> Response:
        """Write again in a thread that is not closed."""
        check_parameters(request)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        said = read_input(TextInput, request.data)
        services.write(context=context, question_id=question_id, at=timezone.now(), **said)
        thread = get_own_thread(context, question_id)
        return Response(OwnQuestionOutput(thread).data, status=201)


class NewsOfLeads(APIView):
    """`news`: answers and announcements that the annotator has not read."""

    throttle_scope = "labelling"

    class Input(serializers.Serializer[Any]):
        """What was read. questions: number of messages read, by id; later answers stay unread.
        announcements: ids."""

        questions = serializers.DictField(
            child=serializers.IntegerField(min_value=0, max_value=2**31 - 1), default=dict
        )
        announcements = serializers.ListField(
            child=serializers.UUIDField(), max_length=1_000, default=list
        )

        def validate_questions(self, value: dict[str, int]) -> dict[uuid.UUID, int]:
            """By UUID."""
            try:
                return {uuid.UUID(name): count for name, count in value.items()}
            except ValueError:
                raise serializers.ValidationError("Questions are named by their ids.") from None

    @extend_schema(operation_id="get_news", responses={200: NewsOutput})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Announcements and threads with an answer that were not read yet, newest first."""
        check_parameters(request)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        return Response(NewsOutput(get_news(context)).data)

    @extend_schema(operation_id="mark_news_read", request=Input, responses={200: NewsOutput})
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Mark as read; the answer is what is left."""
        check_parameters(request)
        context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
        said = read_input(self.Input, request.data)
        services.mark_read(context=context, at=timezone.now(), **said)
        return Response(NewsOutput(get_news(context)).data)


class Questions(APIView):
    """`questions/all`: what all annotators of a campaign asked; for leads."""

    class Parameters(serializers.Serializer[Any]):
        """state: only these. search: words of the messages, the query or the title, or a query's
        id. names: who asked, instead of their pseudonym. page: from 1; a page has 50."""

        state = serializers.ChoiceField(
            choices=["", *Question.State.values], allow_blank=True, default=""
        )
        search = serializers.CharField(max_length=MOST_SEARCHED, allow_blank=True, default="")
        names = serializers.BooleanField(default=False)
        page = serializers.IntegerField(min_value=1, max_value=2**31 - 1, default=1)

    class Output(serializers.Serializer[Any]):
        """waiting: number of threads that need an answer. pages: number of pages."""

        waiting = serializers.IntegerField()
        pages = serializers.IntegerField(source="rows.paginator.num_pages")
        questions = QuestionOutput(source="rows.object_list", many=True)

    @extend_schema(operation_id="list_questions", parameters=[Parameters], responses={200: Output})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """The questions of a campaign: those that wait first, the longest waiting before all."""
        asked = read_parameters(request, self.Parameters)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        result = get_questions_page(
            access=access,
            campaign=campaign,
            wanted=Wanted(state=asked["state"], search=asked["search"]),
            page=str(asked["page"]),
            shows_names=asked["names"],
        )
        return Response(self.Output(result).data)


class QuestionThread(APIView):
    """`questions/{id}`: a thread as leads see it, and what they do with it."""

    class Parameters(serializers.Serializer[Any]):
        """names: who asked, instead of their pseudonym."""

        names = serializers.BooleanField(default=False)

    @extend_schema(
        operation_id="get_question", parameters=[Parameters], responses={200: ThreadOutput}
    )
    def get(self, request: Request, campaign_id: uuid.UUID, question_id: uuid.UUID) -> Response:
        """A thread; low and high are the right grades where its pair is gold."""
        asked = read_parameters(request, self.Parameters)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        result = get_thread(
            access=access, campaign=campaign, question_id=question_id, shows_names=asked["names"]
        )
        return Response(ThreadOutput(result).data)


class QuestionAnswer(APIView):
    """`questions/{id}/answer`."""

    class Input(TextInput):
        """An answer. close: also closes the thread."""

        close = serializers.BooleanField(default=False)

    @extend_schema(operation_id="answer_question", request=Input, responses={201: ThreadOutput})
    def post(self, request: Request, campaign_id: uuid.UUID, question_id: uuid.UUID) -> Response:
        """Answer a question; who asked is told while they label."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        said = read_input(self.Input, request.data)
        about: dict[str, Any] = {"access": access, "campaign": campaign, "question_id": question_id}
        services.answer(**about, text=said["text"], closes=said["close"], at=timezone.now())
        return Response(ThreadOutput(get_thread(**about)).data, status=201)


class QuestionClose(APIView):
    """`questions/{id}/close`."""

    @extend_schema(operation_id="close_question", request=None, responses={200: ThreadOutput})
    def post(self, request: Request, campaign_id: uuid.UUID, question_id: uuid.UUID) -> Response:
        """End a thread: no one can write in it any more."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        about: dict[str, Any] = {"access": access, "campaign": campaign, "question_id": question_id}
        services.close(**about, at=timezone.now())
        return Response(ThreadOutput(get_thread(**about)).data)


class QuestionReopen(APIView):
    """`questions/{id}/reopen`."""

    @extend_schema(operation_id="reopen_question", request=None, responses={200: ThreadOutput})
    def post(self, request: Request, campaign_id: uuid.UUID, question_id: uuid.UUID) -> Response:
        """Let a closed thread go on."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        about: dict[str, Any] = {"access": access, "campaign": campaign, "question_id": question_id}
        services.reopen(**about, at=timezone.now())
        return Response(ThreadOutput(get_thread(**about)).data)


class Announcements(APIView):
    """`announcements`: what leads told all annotators of a campaign."""

    @extend_schema(
        operation_id="list_announcements", responses={200: AnnouncementOutput(many=True)}
    )
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """The announcements, newest first, and how many have read each; for leads."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        result = list_announcements(access=access, campaign=campaign)
        return Response(AnnouncementOutput(result, many=True).data)

    @extend_schema(operation_id="announce", request=TextInput, responses={201: AnnouncementOutput})
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Tell all annotators of the campaign something; for leads."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        said = read_input(TextInput, request.data)
        made = services.announce(access=access, campaign=campaign, at=timezone.now(), **said)
        rows = list_announcements(access=access, campaign=campaign)
        shown = next(row for row in rows if row.id == made.pk)
        return Response(AnnouncementOutput(shown).data, status=201)


class AnnouncementWithdraw(APIView):
    """`announcements/{id}/withdraw`."""

    @extend_schema(
        operation_id="withdraw_announcement", request=None, responses={200: AnnouncementOutput}
    )
    def post(
        self, request: Request, campaign_id: uuid.UUID, announcement_id: uuid.UUID
    ) -> Response:
        """Take an announcement from all annotators, also from those who have read it."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        services.withdraw_announcement(
            access=access, campaign=campaign, announcement_id=announcement_id, at=timezone.now()
        )
        rows = list_announcements(access=access, campaign=campaign)
        shown = next(row for row in rows if row.id == announcement_id)
        return Response(AnnouncementOutput(shown).data)
