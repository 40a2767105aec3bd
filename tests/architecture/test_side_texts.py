"""A fact holds no words and no timing of a person: they lie beside it, and can go (ADR 20)."""

from typing import Any, Final

import pytest
from django.db import models

from annotation.adjudication.services import adjudicate, reopen
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from annotation.gold.queries import list_errors
from annotation.gold.services import change_checks, mark_gold
from annotation.models import Campaign, Feedback, LabelTiming, Pair, QualityReport
from annotation.quality.services import refresh_quality
from config.backups.making import verify_everything
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Evaluation
from judgments.lists.queries import get_qrels
from judgments.lists.services import release_version
from judgments.models import Judgment, SideText
from tests.annotation.gold.test_actions import check
from tests.annotation.page_reading import client_of
from tests.architecture.test_mutability import APPEND_ONLY, rows_of
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run

# What may hold words, or how long something took. A field of choices holds one of the product's
# own, whole numbers count, and a UUID is drawn at random.
SUSPECT: Final = (
    models.CharField,
    models.TextField,
    models.JSONField,
    models.BinaryField,
    models.FileField,
    models.GenericIPAddressField,
    models.DateField,  # and so DateTimeField
    models.TimeField,
    models.DurationField,
    models.FloatField,
    models.DecimalField,
)
SERVER = "when the server wrote the row: orders facts, and says what is due"
HASH = "a digest of what was judged or released, of nobody's words"
KEPT: Final = {
    "annotation.Adjudication.content_hash": HASH,
    "annotation.Adjudication.decided_at": SERVER,
    "annotation.Announcement.announced_at": SERVER,
    "annotation.AnnouncementRead.read_at": SERVER,
    "annotation.CheckAction.message": "one of the product's own sentences",
    "annotation.CheckAction.seats": "ids of seats",
    "annotation.CheckAction.taken_at": SERVER,
    "annotation.Feedback.given_at": SERVER,
    "annotation.Feedback.items": "ids and grades",
    "annotation.GoldCheck.checked_at": SERVER,
    "annotation.GuidelineRevision.created_at": SERVER,
    "annotation.GuidelineRevision.grades": "the definition that labels were made under",
    "annotation.GuidelineRevision.text": "the definition that labels were made under",
    "annotation.JudgeAttempt.answer": "a model's answer",
    "annotation.JudgeAttempt.content_hash": HASH,
    "annotation.JudgeAttempt.detail": "a model's reason, or why its answer could not be used",
    "annotation.JudgeAttempt.digest": HASH,
    "annotation.JudgeAttempt.ended_at": SERVER,
    "annotation.JudgeAttempt.outcome": "one of the product's own words",
    "annotation.JudgeAttempt.seconds": "how long a model took",
    "annotation.JudgeRevision.configuration": "how a model is asked",
    "annotation.JudgeRevision.created_at": SERVER,
    "annotation.JudgeRevision.instructions": "the prompt that labels were made with",
    "annotation.JudgeRevision.salt": "a random number",
    "annotation.Label.content_hash": HASH,
    "annotation.Label.received_at": SERVER,
    "annotation.Label.spans": "a field's name and offsets",
    "annotation.MachineLabel.content_hash": HASH,
    "annotation.MachineLabel.created_at": SERVER,
    "annotation.MachineLabel.digest": HASH,
    "annotation.Message.written_at": SERVER,
    "annotation.OneMoreLabel.asked_at": SERVER,
    "annotation.Pool.created_at": SERVER,
    "annotation.Pool.runs": "names of rankers and runs",
    "annotation.PoolEntry.sources": "names of rankers and runs, and ranks",
    "annotation.Reopening.reopened_at": SERVER,
    "annotation.StandIn.drawn_at": SERVER,
    "annotation.TrainingAnswer.answered_at": SERVER,
    "annotation.Review.reviewed_at": SERVER,
    "annotation.WithdrawnAnnouncement.withdrawn_at": SERVER,
    "annotation.WithdrawnWish.withdrawn_at": SERVER,
    "evaluation.CanaryLook.figures": "means, intervals and shares",
    "evaluation.CanaryLook.findings": "the product's own words",
    "evaluation.CanaryLook.looked_at": SERVER,
    "evaluation.CorrectedEvaluation.basis": "ids of labels and samples, and a hash",
    "evaluation.CorrectedEvaluation.computed_at": SERVER,
    "evaluation.CorrectedEvaluation.means": "means with intervals, or why there are none",
    "evaluation.CorrectedEvaluation.source": "an id of a machine judge",
    "evaluation.DataSetLook.day": "a day of a data set",
    "evaluation.DataSetLook.figures": "means and intervals",
    "evaluation.DataSetLook.findings": "the product's own words",
    "evaluation.DataSetLook.looked_at": SERVER,
    "evaluation.DataSetFigures.day": "a day of a data set",
    "evaluation.DataSetFigures.segment": "a segment of a data set",
    "evaluation.DataSetFigures.sums": "sums of measures",
    "evaluation.Evaluation.computed_at": SERVER,
    "evaluation.Evaluation.sums": "sums of measures",
    "evaluation.LiveRevision.configuration": "how a search engine is asked",
    "evaluation.LiveRevision.created_at": SERVER,
    "evaluation.MeasureSet.digest": HASH,
    "evaluation.MeasureSet.measures": "names of measures",
    "evaluation.QueryVector.values": "vectors of queries",
    "evaluation.QueryVectors.created_at": SERVER,
    "evaluation.QueryVectors.sha256": HASH,
    "evaluation.Ranking.documents": "ids of documents",
    "evaluation.Ranking.order": "positions",
    "evaluation.Ranking.scores": "a ranker's scores",
    "evaluation.RunAlias.created_at": SERVER,
    "evaluation.RunAlias.name": "names of rankers and runs",
    "evaluation.SampleEvaluation.basis": HASH,
    "evaluation.SampleEvaluation.computed_at": SERVER,
    "evaluation.SampleEvaluation.readings": "means and standard errors",
    "evaluation.SnapshotAnswer.answered_at": SERVER,
    "evaluation.SnapshotAnswer.detail": "why a search engine's answer could not be used",
    "evaluation.SnapshotAnswer.outcome": "one of the product's own words",
    "evaluation.SnapshotAnswer.rows": "ids of documents, and a search engine's scores",
    "evaluation.SnapshotAnswer.seconds": "how long a search engine took",
    "evaluation.ToolValues.computed_at": SERVER,
    "evaluation.ToolValues.definitions": HASH,
    "evaluation.ToolValues.means": "means, by preset",
    "judgments.AuditEntry.action": "one of the product's own words",
    "judgments.AuditEntry.at": SERVER,
    "judgments.AuditSeal.entries": "ids of audit entries, and digests of their facts",
    "judgments.AuditSeal.mac": HASH,
    "judgments.AuditSeal.sealed_at": SERVER,
    "judgments.ClickBlock.rows": "counts by query, document and rank; of no event and no person",
    "judgments.ClickGrading.figures": "agreement",
    "judgments.ClickGrading.score": "one of the product's own words",
    "judgments.ClickLog.applications": "names of applications and actions, counts and estimates",
    "judgments.ClickLog.created_at": SERVER,
    "judgments.ClickLog.digest": HASH,
    "judgments.ClickLog.examination": "probabilities",
    "judgments.ClickLog.name": "of a log, as pages call it",
    "judgments.InterleavingExperiment.created_at": SERVER,
    "judgments.InterleavingExperiment.digest": HASH,
    "judgments.InterleavingExperiment.name": "of an experiment, as pages call it",
    "judgments.InterleavingExperiment.outcome": "counts, an interval and a p-value",
    "judgments.InterleavingExperiment.rankers": "names of rankers",
    "judgments.Judgment.evidence": "votes, and ids of labels and campaigns",
    "judgments.JudgmentVersion.created_at": SERVER,
    "judgments.JudgmentVersion.signals": "what the letters of a file meant",
    "judgments.JudgmentVersion.takes_from": "a machine judge and its revision",
    "judgments.QueryMetadataHistory.segment": "a query's",
    "judgments.QueryMetadataHistory.weight": "a query's",
    "judgments.QueryOrigin.at": SERVER,
    "judgments.Release.created_at": SERVER,
    "judgments.Release.name": "what papers cite",
    "judgments.Release.quality": "the product's own sentence about the labels, without names",
    "judgments.Release.quality_tone": "one of the product's own words",
    "judgments.Release.sha256": HASH,
    "judgments.SamplePlan.created_at": SERVER,
    "judgments.SamplePlan.design": "a design: numbers, and strata by the product's own names",
    "judgments.SamplePlan.digest": HASH,
    "judgments.SamplePlan.name": "of a sample, as pages call it",
    "judgments.SamplePlan.refresh": "an overlap and shares of searches",
    "judgments.SampledQuery.pi": "a probability",
    "judgments.SetLook.at": SERVER,
    "judgments.TrafficBlock.searches": "how often queries were searched for",
    "judgments.TrafficBlock.segments": "places in the log's segments",
    "judgments.TrafficBlock.texts": "what users searched for; the rows can be deleted",
    "judgments.TrafficFrame.created_at": SERVER,
    "judgments.TrafficFrame.digest": HASH,
    "judgments.TrafficFrame.histogram": "how often queries were searched for",
    "judgments.TrafficFrame.name": "of a log, as pages call it",
    "judgments.TrafficFrame.segments": "names of segments",
    "judgments.WebhookAttempt.at": SERVER,
    "judgments.WebhookAttempt.problem": "one of the product's own sentences",
    "judgments.WebhookAttempt.seconds": "how long another server took",
    "judgments.ZeroResultQuery.at": SERVER,
}


def is_suspect(field: Any) -> bool:
    """Whether a column could hold words or timing of a person."""
    return isinstance(field, SUSPECT) and not field.choices and not field.is_relation


def test_no_fact_holds_words_or_timing_but_those_that_are_listed_with_a_reason() -> None:
    found = {
        f"{model._meta.label}.{field.name}"
        for model in APPEND_ONLY
        for field in model._meta.concrete_fields
        if is_suspect(field)
    }
    assert found == set(KEPT)


def test_a_side_text_is_tied_to_no_fact() -> None:
    keys = [
        field
        for model in APPEND_ONLY
        for field in model._meta.concrete_fields
        if field.related_model is SideText
    ]
    assert len(keys) == 10
    for key in keys:
        assert not vars(key)["db_constraint"]
        assert key.null
        assert key.remote_field.on_delete is models.DO_NOTHING


WORDS: Final = "Zebra-words."
OF_TIME: Final = ("measured", "fast", "median_seconds")


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=8)


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Work of every kind that leaves words: q2 is gold, of q1 pairs are labelled and decided."""
    ada = make_access(collection=world.collection)
    docids = [f"d{number}" for number in range(1, 9)]
    make_run(collection=world.collection, rankings={"q1": docids, "q2": docids[::-1]})
    campaign = make_campaign(world=world)
    for pair in campaign.pairs.select_related("campaign__list").filter(query__qid="q2"):
        mark_gold(access=ada, pair=pair, low=3, high=4, reason=WORDS, at=NOW)
    plain = list(campaign.pairs.select_related("campaign", "list").filter(query__qid="q1"))
    for number, pair in enumerate(plain):
        for username, grade in (("ben", number % 5), ("cem", (number + number // 5) % 5)):
            label(pair=pair, username=username, grade=grade, note=WORDS)
    adjudicate(access=ada, pair=plain[6], grade=1, reason=WORDS, at=NOW)
    adjudicate(access=ada, pair=plain[7], grade=1, reason=WORDS, at=NOW)
    reopen(access=ada, pair=plain[7], reason=WORDS, at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, feedback_after=5)
    consolidate(list_id=campaign.list_id, at=NOW)
    check(campaign, [0, 4, 4, 3, 4])
    world.judgments.refresh_from_db()
    named: dict[str, Any] = {"number": world.judgments.head, "name": "spring", "notes": WORDS}
    release_version(access=ada, at=NOW, judgment_list=world.judgments, **named)
    refresh_evaluations(list_id=campaign.list_id, at=NOW)
    return campaign


def without_time(figures: dict[str, Any]) -> dict[str, Any]:
    """The quality figures but for how long labels took."""
    people = [
        {name: own for name, own in person.items() if name not in OF_TIME}
        for person in figures["annotators"]
    ]
    kept = {name: value for name, value in figures.items() if name not in ("time", "given")}
    return kept | {"annotators": people}


def computed(world: World, campaign: Campaign) -> dict[str, Any]:
    """All that follows from the facts, computed from scratch."""
    Evaluation.objects.all().delete()
    QualityReport.objects.all().delete()
    consolidate(list_id=campaign.list_id, at=NOW)
    check_labels(list_id=campaign.list_id, at=NOW)
    refresh_evaluations(list_id=campaign.list_id, at=NOW)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    world.judgments.refresh_from_db()
    return {
        "measures": [bytes(one.sums) for one in Evaluation.objects.order_by("run", "version")],
        "agreement": without_time(QualityReport.objects.get().figures),
        "gold": list_errors(campaign),
        "versions": list(Judgment.objects.order_by("pk").values()),
        "qrels": get_qrels(judgment_list=world.judgments, number=world.judgments.head),
        "pairs": list(Pair.objects.order_by("pk").values("state", "grade", "committed_seq")),
    }


@pytest.mark.django_db
def test_without_what_lies_beside_them_every_fact_and_figure_is_as_it_was(
    world: World, campaign: Campaign
) -> None:
    before = computed(world, campaign)
    facts = {model: rows_of(model) for model in APPEND_ONLY if model is not Evaluation}
    assert Feedback.objects.exists()
    assert before["gold"]
    assert before["agreement"]["labels"] > 10
    assert SideText.objects.filter(text__contains=WORDS).exists()

    SideText.objects.all().delete()
    LabelTiming.objects.all().delete()

    assert {model: rows_of(model) for model in facts} == facts
    assert computed(world, campaign) == before
    verified = verify_everything()
    assert (verified.texts, verified.problems) == (0, ())
    assert verified.evaluations
    pair = Pair.objects.exclude(adjudications=None).order_by("pk")[0]
    paths = ["lists/main", "audit", f"pairs/{pair.pk}", "lists/main/versions/spring"]
    for path in paths:
        answer = client_of("ada").get(f"/c/books/{path}")
        assert answer.status_code == 200, path
    assert client_of("ben").get(f"/label/{campaign.public_id}/feedback").status_code == 200
