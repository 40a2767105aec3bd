"""Where a judgment came from, as values."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.adjudication.pairs import get_history
from judgments.permissions import get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class HoldingOutput(serializers.Serializer[Any]):
    """A grade that the list has or had: from version `since` on, until before `until`.

    until: null while it holds. source: what made that version. who: "" for nobody in particular.
    """

    grade = serializers.IntegerField(source="grade.code")
    since = serializers.IntegerField()
    until = serializers.IntegerField(allow_null=True)
    source = serializers.CharField(source="source_name")  # type: ignore[assignment]
    who = serializers.CharField()
    reason = serializers.CharField()
    committed_at = serializers.DateTimeField()


class StatementOutput(serializers.Serializer[Any]):
    """A label. grade: null unless its outcome is “graded”.

    is_current: nothing supersedes it. is_in_overlap: it did not come too late. is_aside: it counts
    no longer, because of checks that went wrong. is_of_this_text: the document still reads so.
    """

    id = serializers.UUIDField()
    annotator = serializers.CharField()
    outcome = serializers.CharField()
    grade = serializers.IntegerField(allow_null=True, source="grade.code", default=None)
    reason = serializers.CharField()
    note = serializers.CharField()
    guideline_revision = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    made_at = serializers.DateTimeField()
    is_current = serializers.BooleanField()
    is_in_overlap = serializers.BooleanField()
    is_aside = serializers.BooleanField()
    is_blind = serializers.BooleanField()
    is_of_this_text = serializers.BooleanField()


class DecisionOutput(serializers.Serializer[Any]):
    """A decision that wins over labels. reopened_by: "" while it stands."""

    who = serializers.CharField(source="person")
    grade = serializers.IntegerField(source="grade.code")
    reason = serializers.CharField()
    decided_at = serializers.DateTimeField()
    reopened_by = serializers.CharField()
    reopened_why = serializers.CharField()


class SourceOutput(serializers.Serializer[Any]):
    """A run that brought the document into a pool, and at which rank."""

    ranker = serializers.CharField()
    run = serializers.CharField()
    rank = serializers.IntegerField()


class AskedOutput(serializers.Serializer[Any]):
    """What a campaign made of the pair. grade: what its labels or a decision come to."""

    campaign = serializers.UUIDField(source="pair.campaign.public_id")
    name = serializers.CharField(source="pair.campaign.name")
    state = serializers.CharField(source="pair.state")
    grade = serializers.IntegerField(allow_null=True, source="pair.grade")
    labels = StatementOutput(many=True, source="statements")
    decisions = DecisionOutput(many=True)
    sources = serializers.SerializerMethodField()

    @extend_schema_field(SourceOutput(many=True))
    def get_sources(self, asked: Any) -> list[dict[str, Any]]:
        """The runs that returned the document."""
        rows = [{"ranker": ranker, "run": run, "rank": rank} for ranker, run, rank in asked.sources]
        return list(SourceOutput(rows, many=True).data)


class PairHistory(APIView):
    """A query and a document in a list."""

    class Parameters(serializers.Serializer[Any]):
        """Their ids."""

        query = serializers.CharField(max_length=1000, trim_whitespace=False)
        document = serializers.CharField(max_length=1000, trim_whitespace=False)

    class Output(serializers.Serializer[Any]):
        """judgments: its grades in the list, the newest first; none where it was never judged.

        campaigns: every one that asked about it, the newest first, with its labels, the oldest
        first.
        """

        query_id = serializers.CharField(source="qid")
        doc_id = serializers.CharField(source="docid")
        judgments = HoldingOutput(many=True, source="holdings")
        campaigns = AskedOutput(many=True, source="asked")

    @extend_schema(
        operation_id="get_pair_history", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """Who said what about a pair, what was decided, and what the list held when; for leads."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        found = get_history(
            access=access, list_slug=list_slug, qid=asked["query"], docid=asked["document"]
        )
        return Response(self.Output(found).data)
