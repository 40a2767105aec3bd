"""Every model is append-only or said to be mutable, and why; the database itself keeps to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models, transaction

from annotation.adjudication.services import adjudicate
from annotation.gold.checking import check_labels
from annotation.gold.services import mark_gold
from annotation.labelling.services import submit_label
from annotation.models import (
    Assignment,
    Campaign,
    CheckAction,
    Feedback,
    GoldCheck,
    JudgeAttempt,
    JudgeCampaign,
    JudgeRevision,
    MachineJudge,
    MachineLabel,
    OneMoreLabel,
    Reopening,
    Review,
    StandIn,
    TrainingAnswer,
    TrainingAttempt,
    WithdrawnWish,
)
from annotation.questions.services import announce, ask, mark_read, withdraw_announcement
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import (
    Canary,
    CanaryLook,
    CorrectedEvaluation,
    DataSet,
    DataSetCanary,
    DataSetEvaluation,
    DataSetFigures,
    DataSetLook,
    LiveRevision,
    LiveSource,
    MeasureSet,
    QueryVector,
    QueryVectors,
    Run,
    RunAlias,
    SampleEvaluation,
    Snapshot,
    SnapshotAnswer,
)
from evaluation.tasks import compute_tools
from judgments.audit.seals import seal_entries
from judgments.collections.services import load_queries
from judgments.lists.services import release_version
from judgments.models import (
    ClickGrading,
    QueryOrigin,
    SamplePlan,
    Secret,
    SetLook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    ZeroResultQuery,
)
from judgments.sets.services import record_look
from judgments.triggers import AppendOnly
from tests.builders import NOW, World, commit, make_access, make_set, make_world
from tests.builders_annotation import context_of, label, make_campaign, said
from tests.evaluation.builders import make_ranker, make_run
from tests.judgments.clicks.builders import make_clicks, make_interleaving
from tests.judgments.samples.builders import make_sample
from touchstone.files.collections import QueryRecord

APPS = ("annotation", "evaluation", "judgments")
MUTABLE = {
    "annotation.AsidePreview": "a cache of figures, computed anew when somebody looks",
    "annotation.Assignment": "a seat is leased, filled, freed and voided",
    "annotation.AssignmentRule": "is added and removed; both are in the audit log",
    "annotation.Campaign": "opens and closes",
    "annotation.CampaignAnnotator": "people join and leave",
    "annotation.CheckPlan": "how much is planted; changes are in the audit log",
    "annotation.CheckRule": "the rules that hold; changes are in the audit log",
    "annotation.JudgeBatch": "the state of a batch of requests",
    "annotation.MachineCheck": "which labels of a machine judge a list has seen",
    "annotation.DocumentCheck": "when a list was last compared with its documents",
    "annotation.GoldItem": "is retired",
    "annotation.Guideline": "its name; the text lies in revisions",
    "annotation.Question": "its state, and whether its answer was read; messages are append-only",
    "annotation.QuerySkip": "is returned",
    "annotation.QualityReport": "a cache of figures, computed anew as labels come",
    "annotation.Reviewer": "reviewers come and go; changes are in the audit log",
    "annotation.RulePreview": "a cache of figures, computed anew when somebody looks",
    "annotation.LabelTiming": "how long labels took: can be erased, and is no fact",
    "annotation.LabelTimingDay": "sums of times that were deleted: grow as others are",
    "annotation.Retention": "how long records are kept; changes are in the audit log",
    "annotation.LabellingPreferences": "keys and text size, as often as somebody likes",
    "annotation.TrainingAttempt": "ends, and a lead may decide it; both are in the audit log",
    "annotation.JudgeCampaign": "runs and ends; its attempts and labels are append-only",
    "annotation.MachineJudge": "its secret; revisions say how it is asked",
    "annotation.SnapshotPool": "waits, and ends",
    "annotation.Pair": "its state, and what was last concluded of it",
    "evaluation.Canary": "is retired",
    "evaluation.DataSetCanary": "is retired",
    "evaluation.DataSet": "its schedule, and that it is retired; both are in the audit log",
    "evaluation.DataSetEvaluation": "runs and ends; its figures are append-only",
    "evaluation.DataSetPortion": "work in progress; is deleted when its evaluation ends",
    "evaluation.Deployment": "a mark on a time line, in somebody's words",
    "evaluation.Incident": "recovers",
    "evaluation.Leaderboard": "a list's measures and its test; both are in the audit log",
    "evaluation.LiveSource": "its secret and schedule; changes are in the audit log",
    "evaluation.Ranker": "its name and description",
    "evaluation.RefreshAttempt": "attempts are counted, and forgotten when one succeeds",
    "evaluation.Run": "is withdrawn",
    "evaluation.Snapshot": "runs and ends; its answers are append-only",
    "evaluation.StabilityReport": "a cache of figures, computed when somebody looks",
    "judgments.ApiToken": "is used and deleted",
    "judgments.Budget": "its limit, which is in the audit log, and what was used when counted last",
    "judgments.Collection": "its name and description, and which fields hold pictures",
    "judgments.Document": "a stub gets its text, a text is corrected; labels name its hash",
    "judgments.DocumentPicture": "follows from the document's fields",
    "judgments.Invitation": "is accepted or withdrawn",
    "judgments.Job": "its state and progress",
    "judgments.JudgmentList": "its head, its name, what becomes of changed documents",
    "judgments.Membership": "the role changes, the membership ends",
    "judgments.MessageChoice": "which messages somebody wants, as often as they like",
    "judgments.Notice": "is read, and comes back; about events that are facts elsewhere",
    "judgments.OutboxMessage": "is claimed, sent, and emptied once it has ended",
    "judgments.Picture": "waits, is stored or refused, and may be fetched again",
    "judgments.PictureContent": "a copy that can be replaced or removed",
    "judgments.Query": "a stub gets its text, a text is corrected; versions keep past traits",
    "judgments.Round": "when periodic work was last begun",
    "judgments.RecoveryCode": "is deleted when it is used",
    "judgments.SecurityKey": "its counter; is deleted when it is removed",
    "judgments.SavedSet": "its name, whether it is held out or archived; all in the audit log",
    "judgments.SavedSetQuery": "queries come into a set and leave it; they are in the audit log",
    "judgments.SecondFactor": "is turned on, used and turned off; all but its use in the audit log",
    "judgments.Secret": "is encrypted under another key, and can be removed",
    "judgments.Session": "is used, and deleted at its end",
    "judgments.SideText": "what people wrote beside facts: the part that can be erased",
    "judgments.User": "signs in, changes name and password",
    "judgments.WebhookDelivery": "is sent again on request",
    "judgments.WebhookEndpoint": "is paused, changed, rotated and deleted; all in the audit log",
    "judgments.WorkerBeat": "a worker writes its own again and again",
}


def kept() -> dict[str, AppendOnly]:
    """What the apps declare append-only, by table."""
    return {
        table.table: table
        for app in APPS
        for table in getattr(apps.get_app_config(app), "append_only", [])
    }


def rooms_models() -> list[type[models.Model]]:
    return [model for app in APPS for model in apps.get_app_config(app).get_models()]


APPEND_ONLY = [model for model in rooms_models() if model._meta.db_table in kept()]


def test_every_model_is_decided_about() -> None:
    append_only = {model._meta.label for model in APPEND_ONLY}
    assert {model._meta.label for model in rooms_models()} == append_only | set(MUTABLE)
    assert append_only.isdisjoint(MUTABLE)
    assert len(append_only) == len(kept())


def make_webhook_attempt() -> None:
    secret = Secret.objects.create(origin="https://a.example", ciphertext="x", created_at=NOW)
    endpoint = WebhookEndpoint.objects.create(url="u", events=[], secret=secret, created_at=NOW)
    delivery = WebhookDelivery.objects.create(
        endpoint=endpoint, key="k", event="webhook.test", body="{}", created_at=NOW
    )
    WebhookAttempt.objects.create(delivery=delivery, at=NOW, seconds=0.1)


def make_sample_evaluations(run: Run, plan: SamplePlan) -> None:
    same: dict[str, Any] = {
        "run": run,
        "plan": plan,
        "version": 1,
        "measure_set": MeasureSet.objects.get(),
    }
    SampleEvaluation.objects.create(**same, judged=0, readings=[], computed_at=NOW)
    CorrectedEvaluation.objects.create(**same, source="1.1", means=[], computed_at=NOW)


def make_other_logs(world: World) -> None:
    make_data_set_figures(world)
    log = make_clicks(world=world)
    make_interleaving(world=world)
    ClickGrading.objects.create(
        version=world.judgments.versions.order_by("number")[0],
        log=log,
        score="coec",
        fewest=1,
        basis=world.judgments,
        basis_version=1,
        figures={},
    )
    make_webhook_attempt()
    vectors = QueryVectors.objects.create(
        ranker=make_ranker(collection=world.collection),
        number=1,
        dimensions=1,
        queries=1,
        created_at=NOW,
    )
    QueryVector.objects.create(vectors=vectors, query=world.queries[0], values=b"0000")


def make_machine_labels(world: World, campaign: Campaign) -> None:
    judge = MachineJudge.objects.create(collection=world.collection, name="Model", created_at=NOW)
    revision = JudgeRevision.objects.create(
        judge=judge,
        number=1,
        guideline_revision=campaign.guideline.revisions.get(),
        configuration={},
        instructions="Judge.",
        created_at=NOW,
    )
    at_work = JudgeCampaign.objects.create(
        judge=judge, revision=revision, campaign=campaign, pairs=1, last_pair=1, created_at=NOW
    )
    pair = {"query": world.queries[0], "document": world.documents[0], "grade": 3}
    texts = {"digest": "a" * 64, "content_hash": "b" * 64}
    attempt = JudgeAttempt.objects.create(
        campaign=at_work, **pair, **texts, outcome="labelled", is_last=True, seconds=1, ended_at=NOW
    )
    MachineLabel.objects.create(revision=revision, **pair, **texts, attempt=attempt, created_at=NOW)


def make_data_set_figures(world: World) -> None:
    columns = {"rankings": "/srv/lake", "query": ["user"], "document": "item", "score": "score"}
    data_set = DataSet.objects.create(
        collection=world.collection, slug="nightly", grade="grade", created_at=NOW, **columns
    )
    evaluation = DataSetEvaluation.objects.create(data_set=data_set, created_at=NOW)
    DataSetFigures.objects.create(evaluation=evaluation, rows=1, queries=1, sums=b"1")
    canary = DataSetCanary.objects.create(
        data_set=data_set,
        rules=[],
        days=1,
        fewest=1,
        in_a_row=1,
        after_evaluation=0,
        created_at=NOW,
    )
    DataSetLook.objects.create(
        canary=canary, evaluation=evaluation, figures={}, findings={}, looked_at=NOW
    )


def write_facts() -> None:
    """A row in each of them but the seals."""
    world = make_world(queries=1, documents=2)
    ada = make_access(collection=world.collection)
    (query,), (one, other) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(query, one): 3})
    commit(judgment_list=world.judgments, grades={(query, one): 2})
    release_version(access=ada, at=NOW, judgment_list=world.judgments, number=1, name="first")
    saved = make_set(world=world, qids=[query.qid], is_held_out=True)
    record_look(saved_set=saved, at=NOW, access=ada, list_slug="main", page=SetLook.Page.RUN)
    record = QueryRecord(query_id=query.qid, text="text", segment="another", line=1)
    load_queries(collection=world.collection, records=[record], by=None, at=NOW)
    run = make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    source = LiveSource.objects.create(ranker=run.ranker)
    revision = LiveRevision.objects.create(
        source=source, number=1, configuration={}, created_at=NOW
    )
    snapshot = Snapshot.objects.create(
        source=source, revision=revision, name="s", queries=1, last_query=query.pk, created_at=NOW
    )
    SnapshotAnswer.objects.create(
        snapshot=snapshot, query=query, outcome="empty", attempts=1, answered_at=NOW
    )
    canary = Canary.objects.create(
        source=source,
        list=world.judgments,
        measure="nDCG@10",
        baseline=run,
        margin=0.1,
        coverage_margin=0.1,
        in_a_row=1,
        after_snapshot=0,
        created_at=NOW,
    )
    CanaryLook.objects.create(
        canary=canary, snapshot=snapshot, version=1, figures={}, findings={}, looked_at=NOW
    )
    make_other_logs(world)
    RunAlias.objects.create(run=run, ranker=run.ranker, name="again", created_at=NOW)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    compute_tools(world.judgments.pk, 1, 10, 0)
    QueryOrigin.objects.create(list=world.judgments, query=query, origin="chosen", at=NOW)
    empty = ZeroResultQuery.objects.create(plan=make_sample(world=world), query=query, at=NOW)
    make_sample_evaluations(run, empty.plan)
    campaign = make_campaign(world=world, pairs=[(query, other)])
    pair = campaign.pairs.select_related("list").get()
    label(pair=pair, username="ben", grade=3)
    decided = adjudicate(access=ada, pair=pair, grade=2, reason="because", at=NOW)
    Reopening.objects.create(adjudication=decided, reopened_at=NOW, reopened_by=world.ada)
    wish = OneMoreLabel.objects.create(pair=pair, asked_at=NOW, asked_by=world.ada)
    WithdrawnWish.objects.create(wish=wish, withdrawn_at=NOW, withdrawn_by=world.ada)
    mark_gold(access=ada, pair=pair, low=2, high=2, reason="", at=NOW)
    seat = Assignment.objects.create(
        pair=pair,
        seat=1_000,
        purpose=Assignment.Purpose.GOLD,
        state=Assignment.State.LEASED,
        annotator=world.cem,
        leased_until=NOW,
    )
    submit_label(context=context_of(campaign, "cem"), submission=said(seat=seat, grade=3), at=NOW)
    check_labels(list_id=campaign.list_id, at=NOW)
    check = GoldCheck.objects.get()
    told = {"annotator": world.cem, "newest": check, "items": [], "given_at": NOW}
    Feedback.objects.create(campaign=campaign, **told)
    announced = announce(access=ada, campaign=campaign, text="Read it.", at=NOW)
    mark_read(context=context_of(campaign, "ben"), announcements=[announced.pk], at=NOW)
    withdraw_announcement(access=ada, campaign=campaign, announcement_id=announced.pk, at=NOW)
    ask(context=context_of(campaign, "cem"), assignment=seat.public_id, text="Why?", at=NOW)
    Review.objects.create(
        label=check.label, reviewer=world.dora, verdict="accepted", reviewed_at=NOW
    )
    make_machine_labels(world, campaign)
    attempt = TrainingAttempt.objects.create(
        campaign=campaign, annotator=world.cem, number=1, pairs=3, percent=70, began_at=NOW
    )
    answered = {"assignment": seat, "label": check.label, "item": check.item, "error": 1}
    TrainingAnswer.objects.create(attempt=attempt, answered_at=NOW, **answered)
    StandIn.objects.create(
        campaign=campaign,
        annotator=world.cem,
        query=query,
        purpose=Assignment.Purpose.REPEAT,
        occasion=1,
        replaced=pair,
        shown=pair,
        drawn_at=NOW,
    )
    CheckAction.objects.create(
        campaign=campaign,
        annotator=world.cem,
        action="warn",
        right=0,
        checks=5,
        below_percent=60,
        newest=GoldCheck.objects.get(),
        taken_at=NOW,
    )


@pytest.mark.django_db
def test_the_database_refuses_every_change_of_what_is_append_only(settings, tmp_path: Path) -> None:
    write_facts()
    settings.HOME, settings.NEWEST_SEAL = tmp_path, str(tmp_path / "newest.json")
    seal_entries(after=0, at=NOW)
    before = {model: rows_of(model) for model in APPEND_ONLY}
    assert [model for model, rows in before.items() if not rows] == []
    if connection.vendor == "postgresql":
        execute("SET CONSTRAINTS ALL IMMEDIATE")  # else pending checks refuse it first
    changes = [change for model in APPEND_ONLY for change in changes_of(model)]
    assert [change for change in changes if not is_refused(change)] == []
    assert {model: rows_of(model) for model in APPEND_ONLY} == before


def changes_of(model: type[models.Model]) -> Iterator[str]:
    """Statements that must not pass: at least one for each column that no one may change."""
    table = kept()[model._meta.db_table]
    for field in model._meta.concrete_fields:
        if not field.primary_key and field.attname != table.closes:
            yield f'UPDATE {table.table} SET "{field.column}" = {other_value(field)}'  # noqa: S608
    if table.closes:  # closed once, never again, never reopened
        closed = f"{table.closes} IS NOT NULL"
        yield f"UPDATE {table.table} SET {table.closes} = NULL WHERE {closed}"  # noqa: S608
        yield f"UPDATE {table.table} SET {table.closes} = 99 WHERE {closed}"  # noqa: S608
    if not table.deletable:
        yield f"DELETE FROM {table.table}"  # noqa: S608
        if connection.vendor == "postgresql":
            yield f"TRUNCATE {table.table} CASCADE"
        else:
            yield f"INSERT OR REPLACE INTO {table.table} SELECT * FROM {table.table}"  # noqa: S608


# what a column of this type is set to; the triggers look whether it differs where one may close
OTHER = [
    (models.DateTimeField, "'2020-01-01 00:00:00+00:00'"),
    (models.JSONField, """'{"other": 1}'"""),
    (models.BooleanField, "NOT {column}"),
    (models.UUIDField, "'00000000000000000000000000000000'"),
    (models.CharField, "'other'"),
    (models.TextField, "'other'"),
    (models.BinaryField, "'other'"),
    (models.Field, "COALESCE({column}, 0) + 1"),
]


def other_value(field: Any) -> str:
    target = field.target_field if field.is_relation else field
    sql = next(sql for kind, sql in OTHER if isinstance(target, kind))
    return sql.replace("{column}", f'"{field.column}"')


def is_refused(sql: str) -> bool:
    """Whether the database says that it is append-only; what else it may say is an error."""
    try:
        with transaction.atomic():
            execute(sql)
            transaction.set_rollback(True)
    except DatabaseError as error:
        error.add_note(sql)
        if "append-only" not in str(error):
            raise
        return True
    return False


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def rows_of(model: type[models.Model]) -> list[dict[str, Any]]:
    return list(model._default_manager.order_by("pk").values())
