"""What to judge next, as values."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.evaluations.queries import choose_set
from evaluation.held_out.api import OfSetOutput, SetParameter, of_set
from evaluation.judge_next.queries import MOST_PAIRS, USUAL_PAIRS, NextAsked, get_judge_next
from evaluation.judge_next.queries import JudgeNext as Next
from judgments.collections.queries import list_document_ids, list_query_ids
from judgments.lists.queries import get_list
from judgments.models import SetLook
from judgments.permissions import Access, get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED


class NextPairOutput(serializers.Serializer[Any]):
    """A pair to judge. change: expected, in parts of the largest of all pairs; swing: by how much
    a difference between two of the runs can move at most. is_doubted: judged, but disputed.
    """

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    change = serializers.FloatField()
    swing = serializers.FloatField()
    is_doubted = serializers.BooleanField()


class ExpectedOutput(serializers.Serializer[Any]):
    """What a run's mean would probably be if everything shown were judged, with 95 % of it."""

    name = serializers.CharField()
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class JudgeNext(APIView):
    """What to judge next on a list, at its newest version."""

    throttle_scope = "costly"

    class Parameters(SetParameter):
        """runs, measure, segment, set: as in `compare`; without runs, every ranker's newest."""

        runs = serializers.CharField(max_length=4000, allow_blank=True, default="")
        measure = serializers.CharField(max_length=500, allow_blank=True, default="")
        segment = serializers.CharField(
            max_length=200, allow_blank=True, default="", trim_whitespace=False
        )
        n = serializers.IntegerField(min_value=1, max_value=MOST_PAIRS, default=USUAL_PAIRS)

    class Output(OfSetOutput):
        """The pairs, the most telling first. unjudged: of the `shown` pairs; candidates: of which
        a label could change the order; doubt: the chance that the two `closest` runs are in the
        wrong order. All empty where no run shows anything. set, looks: as in `compare`.
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        shown = serializers.IntegerField()
        unjudged = serializers.IntegerField()
        candidates = serializers.IntegerField()
        doubt = serializers.FloatField(allow_null=True)
        closest = serializers.ListField(child=serializers.CharField())
        expected = ExpectedOutput(many=True)
        pairs = NextPairOutput(many=True)

    @extend_schema(
        operation_id="judge_next", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """The labels that could change most of what is said of some runs."""
        asked = read_parameters(request, self.Parameters)
        runs = (asked.pop("runs"),)
        access = get_access(viewer=request.user, slug=slug)
        judgment_list = get_list(access=access, slug=list_slug)
        judgment_list.collection = access.collection
        found = get_judge_next(
            access=access,
            judgment_list=judgment_list,
            asked=NextAsked(runs=runs if runs[0].strip() else (), **asked),
        )
        sets = choose_set(access=access, judgment_list=judgment_list, slug=asked["set"])
        own = of_set(access, sets, SetLook.Page.REST_JUDGE_NEXT)
        return Response(
            self.Output(_next_plain(access, judgment_list.head, found), context=own).data
        )


def _next_plain(access: Access, version: int, found: Next | None) -> dict[str, Any]:
    if found is None:
        none = {"measure": "", "shown": 0, "unjudged": 0, "candidates": 0, "doubt": None}
        return none | {"version": version, "closest": [], "expected": [], "pairs": []}
    qids = list_query_ids(collection=access.collection, pks={p.query_id for p in found.pairs})
    docids = list_document_ids(
        collection=access.collection, pks={pair.document_id for pair in found.pairs}
    )
    return {
        "version": found.version,
        "measure": found.measure.name,
        "shown": found.shown,
        "unjudged": found.unjudged,
        "candidates": found.candidates,
        "doubt": found.doubt,
        "closest": found.closest,
        "expected": [asdict(one) for one in found.expected],
        "pairs": [
            {
                "query_id": qids[pair.query_id],
                "doc_id": docids[pair.document_id],
                "change": pair.change,
                "swing": pair.swing,
                "is_doubted": pair.is_doubted,
            }
            for pair in found.pairs
        ],
    }
