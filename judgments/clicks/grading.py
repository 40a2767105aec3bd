"""Grades from clicks: a score binned against people, committed as one version of a list."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments.audit import services as audit
from judgments.clicks.people import basis_of, load_scored
from judgments.clicks.scoring import (
    FEWEST_QUERIES,
    Agreement,
    Scored,
    agreement,
)
from judgments.clicks.services import ClicksRefused
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.models import (
    ClickGrading,
    ClickLog,
    Job,
    JudgmentList,
    JudgmentVersion,
    User,
)
from judgments.permissions import Access, check_may_lead
from judgments.versions.click_grades import KEY, click_grades_qs
from judgments.versions.parts import lock_list
from judgments.versions.queries import get_judged
from judgments.versions.services import Change, commit_judgments
from judgments.versions.takes import check_takes_people
from touchstone.clicks.people import BinnedAgreement
from touchstone.scales import Scale


@dataclass(frozen=True)
class Wish:
    """score: one of SCORES. fewest: impressions that a pair needs."""

    score: str
    fewest: int


def request_grades(
    *,
    access: Access,
    log: ClickLog,
    judgment_list: JudgmentList,
    basis: JudgmentList,
    wish: Wish,
    at: datetime,
) -> Job:
    """Have a worker grade a list by a log; for leads. Raises ClicksRefused for other scales."""
    check_may_lead(access)
    if judgment_list.scale != basis.scale:
        message = "Both lists need the same grade scale."
        raise ClicksRefused("other_scale", message)
    if judgment_list.archived_at is not None:
        raise ClicksRefused("archived", "This list is archived, so it can’t be changed.")
    return submit_job(
        access=access,
        kind="grade_by_clicks",
        file=None,
        params={
            "log": log.number,
            "list": judgment_list.slug,
            "basis": basis.slug,
            "score": wish.score,
            "fewest": wish.fewest,
            "retry_page": ["click-people", access.collection.slug, log.number],
        },
        at=at,
    )


def grade_by_clicks(
    *,
    log: ClickLog,
    judgment_list: JudgmentList,
    basis: JudgmentList,
    wish: Wish,
    by: User | None,
    at: datetime,
    work: Work | None = None,
) -> JudgmentVersion | None:
    """Commit a log's grades as the list's next version; None if it held them already.

    The score is binned on a random half of the queries that people graded in `basis`, and judged
    on the other half. Pairs with a grade from people keep it; grades that came from clicks before
    are replaced, or removed. Raises ClicksRefused where people graded too little to compare.
    """
    scale = Scale.from_json(basis.scale)
    values = [grade.value for grade in scale.grades]
    result = load_scored(log=log, kind=wish.score, fewest=wish.fewest)
    basis_version = basis.head  # both may be the same list
    compared = agreement(result, basis_of(basis), values)
    binned = _checked(compared)
    steps = binned.binning.of(result.score).tolist()
    grades = [scale.codes[step] for step in steps]
    with transaction.atomic():
        # the lock first, so that no label of a person falls between the look and the version
        locked = lock_list(judgment_list.pk)
        check_takes_people(locked)
        version = commit_judgments(
            judgment_list=judgment_list,
            changes=_changes(locked, log, wish, result, grades),
            by=by,
            at=at,
            reason=f"graded by clicks of {log.name}",
            source=JudgmentVersion.Source.CLICKS,
            signals=_signals(binned, scale),
        )
        if version is not None:
            ClickGrading.objects.create(
                version=version,
                log=log,
                score=wish.score,
                fewest=wish.fewest,
                basis=basis,
                basis_version=basis_version,
                figures=figures_of(compared),
            )
            audit.record(
                collection=judgment_list.collection,
                actor=by,
                at=at,
                action="clicks.graded",
                subject=judgment_list.slug,
                after={"version": version.number, "log": log.number, "score": wish.score},
            )
        if work is not None:
            work.finish(_result(judgment_list, version))
    return version


def _checked(compared: Agreement) -> BinnedAgreement:
    binned = compared.binned
    if binned is None or compared.queries < FEWEST_QUERIES:
        raise ClicksRefused(
            "too_few_grades",
            f"People graded pairs of {compared.queries} queries that this log has enough "
            f"impressions of; at least {FEWEST_QUERIES} are needed.",
        )
    if len(set(binned.binning.steps.tolist())) < 2:
        raise ClicksRefused(
            "no_order", "This score does not order people’s grades: every pair gets the same one."
        )
    return binned


def _changes(
    judgment_list: JudgmentList, log: ClickLog, wish: Wish, found: Scored, grades: list[int]
) -> list[Change]:
    judged = get_judged(list_id=judgment_list.pk, version=judgment_list.head).pairs()
    rows = click_grades_qs(list_id=judgment_list.pk, version=judgment_list.head)
    clicked = set(rows.order_by().values_list("query_id", "document_id"))
    people = judged.keys() - clicked
    columns = (found.query, found.document, found.score, found.low, found.high)
    numbers = (found.impressions, found.clicks)
    changes = {}
    for grade, query, document, value, low, high, impressions, clicks in zip(
        grades, *(column.tolist() for column in (*columns, *numbers)), strict=True
    ):
        if (query, document) in people:
            continue
        evidence = {
            "log": log.number,
            "score": wish.score,
            "value": round(value, 6),
            "low": round(low, 6),
            "high": round(high, 6),
            "impressions": impressions,
            "clicks": clicks,
        }
        changes[query, document] = Change(query, document, grade, {KEY: evidence})
    gone = clicked - changes.keys()
    return [*changes.values(), *(Change(query, document, None) for query, document in gone)]


def _signals(binned: BinnedAgreement, scale: Scale) -> list[tuple[str, int]]:
    """The bins as a version has what its grades were made of."""
    rows = zip(binned.binning.bounds.tolist(), binned.binning.steps.tolist(), strict=True)
    return [
        (f">={0 if math.isinf(bound) else round(bound, 6):g}", scale.codes[step])
        for bound, step in rows
    ]


def figures_of(compared: Agreement) -> dict[str, Any]:
    """Agreement as plain values; null where there is none."""
    binned, auc, tau = compared.binned, compared.auc, compared.tau
    return {
        "pairs": compared.pairs,
        "queries": compared.queries,
        "auc": None if auc is None else [auc.auc.value, auc.auc.low, auc.auc.high],
        "tau": None if tau is None else [tau[0].value, tau[0].low, tau[0].high],
        "kappa": None
        if binned is None or binned.kappa.value is None
        else [binned.kappa.value, binned.kappa.low, binned.kappa.high],
        "learned": 0 if binned is None else binned.learned,
        "judged": 0 if binned is None else binned.judged,
    }


def _result(judgment_list: JudgmentList, version: JudgmentVersion | None) -> dict[str, Any]:
    slug = judgment_list.collection.slug
    if version is None:
        note = "The list holds these grades already."
        return {"note": note, "next_page": ["list", slug, judgment_list.slug]}
    return {
        "version": version.number,
        "added": version.added,
        "changed": version.changed,
        "removed": version.removed,
        "next_page": ["version", slug, judgment_list.slug, str(version.number)],
    }


def work_on_grades(work: Work) -> None:
    """The job kind `grade_by_clicks`. params: log, list, basis, score, fewest."""
    params, author = work.params, work.created_by_id
    lists = JudgmentList.objects.select_related("collection").filter(collection=work.collection_id)
    grade_by_clicks(
        log=ClickLog.objects.get(collection=work.collection_id, number=params["log"]),
        judgment_list=lists.get(slug=params["list"]),
        basis=lists.get(slug=params["basis"]),
        wish=Wish(str(params["score"]), int(params["fewest"])),
        by=None if author is None else User.objects.get(pk=author),
        at=timezone.now(),
        work=work,
    )
