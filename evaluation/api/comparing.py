"""Comparisons of runs as values."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.api.saved_sets import OfSetOutput, SetParameter, of_set
from evaluation.selectors.compared_runs import ComparedRun, RunsFilters
from evaluation.selectors.judge_next import MOST_PAIRS, USUAL_PAIRS, NextAsked, get_judge_next
from evaluation.selectors.judge_next import JudgeNext as Next
from evaluation.selectors.pages_compare import CompareFilters, ComparePage, get_compare_page
from evaluation.selectors.pages_unjudged import get_unjudged_page
from evaluation.selectors.run_sums import choose_set
from judgments.models import SetLook
from judgments.permissions import Access, get_access
from judgments.rest.parsing import read_parameters
from judgments.rest.schema import REFUSED
from judgments.selectors import list_document_ids, list_query_ids
from judgments.selectors.lists import HEAD, get_list
from touchstone.statistics.named_tests import TESTS


class RunMeanOutput(serializers.Serializer[Any]):
    """A run and its mean over `n` queries. name: ranker/run, as parameters have it.

    judged: the mean share of judged documents over the queries that the run answers. answered: how
    many of the `queries` those are.
    """

    name = serializers.CharField()
    id = serializers.UUIDField()
    mean = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    judged = serializers.FloatField(allow_null=True)
    answered = serializers.IntegerField()
    queries = serializers.IntegerField()


class DifferenceOutput(serializers.Serializer[Any]):
    """A run against the baseline, over the `n` queries that are in both means.

    mean: of the differences, this run less the baseline; low, high: its 95 % interval (BCa).
    p_value: of the test, two-sided; null below six queries. p_corrected: by Holm's method for all
    runs of the answer. effect: the mean in standard deviations of the differences. detectable: the
    smallest mean difference that so many queries show four times out of five. warning: why the
    difference may be about judging; else empty. verdict: the same in words.
    """

    run = RunMeanOutput()
    n = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(allow_null=True)
    p_corrected = serializers.FloatField(allow_null=True)
    effect = serializers.FloatField(allow_null=True)
    detectable = serializers.FloatField(allow_null=True)
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    warning = serializers.CharField()
    verdict = serializers.CharField()


class RunPairOutput(serializers.Serializer[Any]):
    """Two of at least three runs: second less first, by Tukey's test for all pairs at once."""

    first = serializers.CharField()
    second = serializers.CharField()
    difference = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    p_value = serializers.FloatField()


class MeasureOrderOutput(serializers.Serializer[Any]):
    """Kendall's tau of another measure's order of the list's runs with this one's."""

    name = serializers.CharField()
    tau = serializers.FloatField()
    is_dialect = serializers.BooleanField()


class RankingChangesOutput(serializers.Serializer[Any]):
    """What became of the first `k` ranks of `queries` queries.

    same_top, same_set: queries with the same documents in the same order, and in any. overlap: the
    mean share in common. rbo: the mean rank-biased overlap (p = 0.9, 100 ranks).
    """

    k = serializers.IntegerField()
    queries = serializers.IntegerField()
    same_top = serializers.IntegerField()
    same_set = serializers.IntegerField()
    overlap = serializers.FloatField()
    rbo = serializers.FloatField()


class SegmentDifferenceOutput(serializers.Serializer[Any]):
    """The comparison within a segment. p_value: alone, not corrected for the other segments."""

    name = serializers.CharField()
    first = serializers.FloatField()
    second = serializers.FloatField()
    n = serializers.IntegerField(source="comparison.n")
    mean = serializers.FloatField(source="comparison.mean")
    low = serializers.FloatField(allow_null=True, source="comparison.low")
    high = serializers.FloatField(allow_null=True, source="comparison.high")
    p_value = serializers.FloatField(allow_null=True, source="comparison.p_value")


class ChangedPartOutput(serializers.Serializer[Any]):
    """Some queries: on how many the first ranks differ, and on how many the values."""

    queries = serializers.IntegerField()
    changed = serializers.IntegerField()
    values = serializers.IntegerField()


class IntendedOutput(serializers.Serializer[Any]):
    """What differs inside the saved set, and outside it."""

    inside = ChangedPartOutput()
    outside = ChangedPartOutput()


class DetailOutput(serializers.Serializer[Any]):
    """One run against the baseline. changes: null where no query is compared.

    intended: null unless a saved set is asked for.
    """

    run = serializers.CharField(source="other.own.name")
    changes = RankingChangesOutput(allow_null=True)
    segments = SegmentDifferenceOutput(many=True)
    intended = IntendedOutput(allow_null=True)


class RunsParameters(SetParameter):
    """runs: ranker/run, a ranker for its newest run, or an id; several apart by commas.

    Without it: the newest run of each ranker, four at most. measure: a name, else the first that
    the list shows. version: a number, the name of a release, or head. segment: only its queries.
    set: only those of a saved set; of a held-out one, this is a look.
    """

    runs = serializers.CharField(max_length=4000, allow_blank=True, default="")
    measure = serializers.CharField(max_length=500, allow_blank=True, default="")
    version = serializers.SlugField(max_length=64, default=HEAD)
    segment = serializers.CharField(
        max_length=200, allow_blank=True, default="", trim_whitespace=False
    )


def runs_filters(asked: dict[str, Any]) -> RunsFilters:
    """What these parameters ask for."""
    return RunsFilters(runs=_named(asked.pop("runs")), **asked)


class Comparison(APIView):
    """Runs compared on a list."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """baseline: one of the runs, named as `runs` names them, else the first. against: which of
        the others `detail` is about, else the first. test: how p-values are made, else as leads
        chose for the list.
        """

        baseline = serializers.CharField(max_length=300, allow_blank=True, default="")
        against = serializers.CharField(max_length=300, allow_blank=True, default="")
        test = serializers.ChoiceField(choices=list(TESTS), default="", allow_blank=True)

    class Output(OfSetOutput):
        """A comparison. version: 0 on a list without any; baseline: null where nothing is there.

        looks: how often a held-out set was looked at, this time too; else null.
        """

        version = serializers.IntegerField()
        measure = serializers.CharField()
        segment = serializers.CharField()
        test = serializers.CharField()
        list_test = serializers.CharField()
        baseline = RunMeanOutput(allow_null=True)
        comparisons = DifferenceOutput(many=True)
        detail = DetailOutput(allow_null=True)
        pairs = RunPairOutput(many=True)
        measures = MeasureOrderOutput(many=True)

    @extend_schema(
        operation_id="compare_runs",
        parameters=[Parameters],
        responses={200: Output} | REFUSED,
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """How large the differences between runs are, and how sure."""
        asked = read_parameters(request, self.Parameters)
        filters = CompareFilters(runs=_named(asked.pop("runs")), **asked)
        access = get_access(viewer=request.user, slug=slug)
        page = get_compare_page(access=access, slug=list_slug, filters=filters)
        own = of_set(access, page.sets, SetLook.Page.REST_COMPARISON)
        return Response(self.Output(_plain(page) | own).data)


class OpenValueOutput(serializers.Serializer[Any]):
    """A run under every assumption about its unjudged documents, over `queries` queries.

    zeros: they gain nothing; condensed: they are taken out; low, high: the least and the most that
    they can make of it, null where the measure has no known bounds; residual: of RBP; documents:
    how many are unjudged; judged: the mean share that is judged.
    """

    name = serializers.CharField()
    queries = serializers.IntegerField()
    zeros = serializers.FloatField(allow_null=True)
    condensed = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    residual = serializers.FloatField(allow_null=True)
    judged = serializers.FloatField(allow_null=True)
    documents = serializers.IntegerField()


class OpenValues(APIView):
    """What unjudged documents leave open."""

    throttle_scope = "costly"

    class Parameters(RunsParameters):
        """As in `compare`."""

    class Output(OfSetOutput):
        """version: 0 on a list without any. set, looks: as in `compare`."""

        version = serializers.IntegerField()
        measure = serializers.CharField()
        runs = OpenValueOutput(many=True)

    @extend_schema(
        operation_id="unjudged", parameters=[Parameters], responses={200: Output} | REFUSED
    )
    def get(self, request: Request, slug: str, list_slug: str) -> Response:
        """How far runs' values could move if everything that they show were judged."""
        asked = read_parameters(request, self.Parameters)
        access = get_access(viewer=request.user, slug=slug)
        page = get_unjudged_page(access=access, slug=list_slug, filters=runs_filters(asked))
        plain = {
            "version": page.chosen.version,
            "measure": page.measure.name,
            "runs": [asdict(row) for row in page.rows],
        }
        own = of_set(access, page.sets, SetLook.Page.REST_UNJUDGED)
        return Response(self.Output(plain | own).data)


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
        return Response(self.Output(_next_plain(access, judgment_list.head, found) | own).data)


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


def _plain(page: ComparePage) -> dict[str, Any]:
    return {
        "version": page.chosen.version,
        "measure": page.measure_name,
        "segment": page.filters.segment,
        "test": page.test,
        "list_test": page.list_test,
        "baseline": page.baseline and mean_values(page.baseline),
        "comparisons": [
            asdict(one.comparison)
            | {
                "run": mean_values(one.own),
                "p_corrected": one.p_value,
                "warning": one.warning,
                "verdict": one.words,
            }
            for one in page.others
        ],
        "detail": page.detail,
        "measures": [asdict(one) for one in page.orders.orders] if page.orders else [],
        "pairs": [
            asdict(row.pair) | {"first": row.first.name, "second": row.second.name}
            for row in page.pairs
        ],
    }


def _named(runs: str) -> tuple[str, ...]:
    return (runs,) if runs.strip() else ()


def mean_values(compared: ComparedRun) -> dict[str, Any]:
    """A run and its mean, as `RunMeanOutput` has them."""
    return {
        "name": compared.name,
        "id": compared.run.public_id,
        "mean": compared.mean.value,
        "n": compared.mean.queries,
        "judged": compared.mean.judged,
        "answered": compared.mean.answered,
        "queries": compared.mean.of,
    }
