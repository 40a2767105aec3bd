"""Making and retiring canaries, and marking deployments."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Max

from evaluation.canaries.rules import Rule, RuleRefused, of_queries, read_rules
from evaluation.live_rankers.services import get_source
from evaluation.models import Canary, Deployment, Ranker, Run
from judgments.audit import services as audit
from judgments.models import Document, JudgmentList, Query, SavedSet
from judgments.permissions import Access, NotFound, check_may_upload_runs
from touchstone.errors import DomainError
from touchstone.measures.errors import MeasureError
from touchstone.measures.grammar import parse_measure

MOST: Final = 50  # canaries of a ranker that are not retired
LONGEST_NAME: Final = 200


class CanaryRefused(DomainError):
    """The canary can't be made or changed like this. field: where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__("canary_invalid", message)
        self.field = field


def create_canary(
    *,
    access: Access,
    ranker: Ranker,
    judgment_list: JudgmentList,
    measure: str,
    saved_set: SavedSet | None,
    baseline: Run,
    margin: float,
    coverage_margin: float,
    latency_limit: float | None,
    in_a_row: int,
    floor: float | None = None,
    rules: Sequence[str] = (),
    at: datetime,
) -> Canary:
    """Watch a live ranker from its next snapshot on; for researchers and leads.

    floor: the lowest mean of the measure. rules: lines, as `read_rules` reads them.
    Raises CanaryRefused, NotFound for rows of another collection.
    """
    check_may_upload_runs(access)
    source = get_source(access, ranker)
    collections = {judgment_list.collection_id, baseline.ranker.collection_id}
    if saved_set is not None:
        collections.add(saved_set.collection_id)
    if collections != {access.collection.pk}:
        raise NotFound("canary")
    try:
        parsed = parse_measure(measure.strip())
    except MeasureError as error:
        raise CanaryRefused("measure", str(error)) from error
    if saved_set is not None and saved_set.is_held_out:
        raise CanaryRefused("saved_set", "Looks at held-out queries are recorded; choose another.")
    if baseline.withdrawn_at is not None:
        raise CanaryRefused("baseline", "This run is withdrawn.")
    if Canary.objects.filter(source=source, retired_at=None).count() >= MOST:
        raise CanaryRefused("measure", f"A ranker can have {MOST} canaries. Retire one first.")
    read = _check_rules(access, rules)
    newest = source.snapshots.aggregate(newest=Max("pk"))["newest"]
    with transaction.atomic():
        canary = Canary.objects.create(
            source=source,
            list=judgment_list,
            measure=parsed.name,
            saved_set=saved_set,
            baseline=baseline,
            margin=margin,
            coverage_margin=coverage_margin,
            latency_limit=latency_limit,
            in_a_row=in_a_row,
            floor=floor,
            rules=[str(rule) for rule in read],
            after_snapshot=newest or 0,
            created_at=at,
            created_by=access.user,
        )
        audit.record_by(
            access, at, "canary.created", ranker.slug, after={"measure": canary.measure}
        )
    return canary


def _check_rules(access: Access, lines: Sequence[str]) -> tuple[Rule, ...]:
    """The rules in these lines; Raises CanaryRefused, also for what is not in the collection."""
    try:
        rules = read_rules(lines)
    except RuleRefused as error:
        raise CanaryRefused("rules", str(error)) from error
    about_queries = of_queries(rules)
    qids = {rule.query_id for rule in about_queries}
    docids = {rule.document for rule in about_queries if rule.document}
    own = {"collection": access.collection}
    known_qids = set(Query.objects.filter(qid__in=qids, **own).values_list("qid", flat=True))
    documents_qs = Document.objects.filter(docid__in=docids, **own)
    missing = sorted(qids - known_qids) or sorted(
        docids - set(documents_qs.values_list("docid", flat=True))
    )
    if missing:
        raise CanaryRefused("rules", f"This collection has no {missing[0]}.")
    return rules


def retire_canary(*, access: Access, canary: Canary, at: datetime) -> None:
    """Watch no more; what was seen stays. For researchers and leads."""
    check_may_upload_runs(access)
    ranker = canary.source.ranker
    if ranker.collection_id != access.collection.pk:
        raise NotFound("canary")
    with transaction.atomic():
        if not Canary.objects.filter(pk=canary.pk, retired_at=None).update(retired_at=at):
            raise CanaryRefused("measure", "This canary is retired already.")
        audit.record_by(
            access, at, "canary.retired", ranker.slug, before={"measure": canary.measure}
        )


def mark_deployment(*, access: Access, ranker: Ranker, name: str, at: datetime) -> Deployment:
    """Mark a deployment on a ranker's time line; for researchers and leads."""
    check_may_upload_runs(access)
    if ranker.collection_id != access.collection.pk:
        raise NotFound("ranker")
    name = name.strip()
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise CanaryRefused("name", f"Use 1 to {LONGEST_NAME} visible characters.")
    with transaction.atomic():
        marked = Deployment.objects.create(ranker=ranker, name=name, at=at, created_by=access.user)
        audit.record_by(access, at, "ranker.deployed", ranker.slug, after={"name": name})
    return marked
