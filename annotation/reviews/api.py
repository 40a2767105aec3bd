"""Reviews over REST: a reviewer's labels, and a campaign's reviews for its leads."""

import uuid
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.campaigns.queries import find_campaign
from annotation.models import Review
from annotation.permissions import ReviewerContext, get_reviewer_context
from annotation.questions.rules import MAX_CHARACTERS
from annotation.reviews import services
from annotation.reviews.queries import (
    ReviewedPerson,
    ReviewPage,
    get_review_page,
    get_reviews_page,
)
from judgments.rest.answers import AnswerSerializer
from judgments.rest.parsing import check_parameters, read_input


class NextReviewOutput(AnswerSerializer):
    answer = ReviewPage


class ReviewedPersonOutput(AnswerSerializer):
    answer = ReviewedPerson


class ReviewsOutput(serializers.Serializer[Any]):
    """The share that is reviewed, by whom (user names), and what came of it, by annotator."""

    percent = serializers.IntegerField()
    reviewers = serializers.ListField(child=serializers.CharField())
    people = ReviewedPersonOutput(many=True)


class OwnReview(APIView):
    """`review`: the labels that wait for a reviewer."""

    class Input(serializers.Serializer[Any]):
        """A review. reason: why a label is sent back; the annotator reads it."""

        label = serializers.UUIDField()  # type: ignore[assignment]
        verdict = serializers.ChoiceField(choices=Review.Verdict.choices)
        reason = serializers.CharField(max_length=MAX_CHARACTERS, default="", allow_blank=True)

    @extend_schema(operation_id="next_review", responses={200: NextReviewOutput})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """The label that has waited longest for a review; for reviewers."""
        check_parameters(request)
        return self._next(get_reviewer_context(viewer=request.user, campaign_id=campaign_id))

    @extend_schema(operation_id="review_label", request=Input, responses={201: NextReviewOutput})
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Accept a label, or send it back with a reason; the response is the next label."""
        check_parameters(request)
        context = get_reviewer_context(viewer=request.user, campaign_id=campaign_id)
        said = read_input(self.Input, request.data)
        services.review_label(
            context=context,
            label_id=said["label"],
            verdict=said["verdict"],
            reason=said["reason"],
            at=timezone.now(),
        )
        return self._next(context, 201)

    def _next(self, context: ReviewerContext, status: int = 200) -> Response:
        return Response(NextReviewOutput(get_review_page(context)).data, status=status)


class Reviews(APIView):
    """`reviews`: who reviews which share of a campaign's labels."""

    class Input(serializers.Serializer[Any]):
        """reviewers: user names of all who review from now on."""

        percent = serializers.IntegerField(min_value=0, max_value=100)
        reviewers = serializers.ListField(
            child=serializers.CharField(max_length=150), max_length=1_000
        )

    @extend_schema(operation_id="get_reviews", responses={200: ReviewsOutput})
    def get(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """The reviews of a campaign; for leads."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        return Response(ReviewsOutput(get_reviews_page(access=access, campaign=campaign)).data)

    @extend_schema(operation_id="plan_reviews", request=Input, responses={200: ReviewsOutput})
    def post(self, request: Request, campaign_id: uuid.UUID) -> Response:
        """Say which share of each person's labels is reviewed, and by whom; for leads."""
        check_parameters(request)
        access, campaign = find_campaign(viewer=request.user, campaign_id=campaign_id)
        said = read_input(self.Input, request.data)
        services.plan_reviews(access=access, campaign=campaign, at=timezone.now(), **said)
        return Response(ReviewsOutput(get_reviews_page(access=access, campaign=campaign)).data)
