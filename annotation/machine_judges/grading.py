"""Grades from a machine judge: where people have none, committed as one version of a list."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.machine_judges.services import JudgeRefused, check_own
from annotation.machine_judges.trust import PairKey
from annotation.models import JudgeRevision, MachineJudge, MachineLabel, Pair
from judgments.audit import services as audit
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.lists.services import check_own_list
from judgments.models import Job, JudgmentList, JudgmentVersion, User
from judgments.permissions import Access, NotFound, check_may_lead
from judgments.versions.machine_grades import KEY, machine_grades_qs
from judgments.versions.queries import get_judged
from judgments.versions.services import Change, commit_judgments
from touchstone.scales import Scale

REMOVED = "without grades of machine judges"


@dataclass(frozen=True)
class Lists:
    """source: whose campaigns' pairs. target: the list that gets the grades; the same, or one of
    its own for a leaderboard by the machine alone."""

    source: JudgmentList
    target: JudgmentList


def request_grades(
    *, access: Access, judge: MachineJudge, number: int, lists: Lists, at: datetime
) -> Job:
    """Have a worker put a revision's grades into a list; for leads.

    Raises NotFound for a revision that there is not, JudgeRefused for a list with other grades.
    """
    check_may_lead(access)
    check_own(access, judge)
    for one in (lists.source, lists.target):
        check_own_list(access, one)
    revision = judge.revisions.filter(number=number).first()
    if revision is None:
        raise NotFound("revision")
    codes = tuple(grade["code"] for grade in revision.guideline_revision.grades)
    if any(Scale.from_json(one.scale).codes != codes for one in (lists.source, lists.target)):
        raise JudgeRefused("other_scale", "The judge’s guideline has other grades than the list.")
    return submit_job(
        access=access,
        kind="grade_by_machine",
        file=None,
        params={
            "revision": revision.pk,
            "source": lists.source.slug,
            "target": lists.target.slug,
            "retry_page": ["machine-judge", access.collection.slug, judge.pk],
        },
        at=at,
    )


def grade_by_machine(
    *,
    revision: JudgeRevision,
    lists: Lists,
    by: User | None,
    at: datetime,
    work: Work | None = None,
) -> JudgmentVersion | None:
    """Commit a revision's grades as the list's next version; None if it held them already.

    Pairs that people or clicks graded keep their grade; a label of a person that comes later
    replaces the machine's. Grades of other revisions and judges are replaced, or removed.
    """
    target = lists.target
    with transaction.atomic():
        # the lock first, so that no label of a person falls between the look and the version
        locked = JudgmentList.objects.select_for_update(no_key=True).get(pk=target.pk)
        version = commit_judgments(
            judgment_list=target,
            changes=_changes(locked, revision, lists.source),
            by=by,
            at=at,
            reason=f"graded by the machine judge {revision.judge.name}, revision "
            f"{revision.number}, where people have not",
            source=JudgmentVersion.Source.MACHINE,
        )
        if version is not None:
            audit.record(
                collection=target.collection,
                actor=by,
                at=at,
                action="judge.graded",
                subject=target.slug,
                after={
                    "version": version.number,
                    "judge": revision.judge.name,
                    "revision": revision.number,
                },
            )
        if work is not None:
            work.finish(_result(target, version))
    return version


def _changes(target: JudgmentList, revision: JudgeRevision, source: JudgmentList) -> list[Change]:
    head = target.head
    judged = get_judged(list_id=target.pk, version=head).pairs() if head else {}
    rows = machine_grades_qs(list_id=target.pk, version=head)
    by_machine = set(rows.order_by().values_list("query_id", "document_id"))
    by_others = judged.keys() - by_machine
    changes = {
        pair: Change(*pair, label.grade, {KEY: _evidence(revision, label)})
        for pair, label in _list_labels(revision, source).items()
        if pair not in by_others
    }
    gone = by_machine - changes.keys()
    return [*changes.values(), *(Change(*pair, None) for pair in sorted(gone))]


def _evidence(revision: JudgeRevision, label: MachineLabel) -> dict[str, object]:
    return {"judge": revision.judge.name, "revision": revision.number, "label": label.pk}


def _list_labels(revision: JudgeRevision, source: JudgmentList) -> dict[PairKey, MachineLabel]:
    """The revision's newest label of each pair of the list's campaigns."""
    pairs = set(Pair.objects.filter(list=source).values_list("query", "document"))
    labels_qs = MachineLabel.objects.filter(revision=revision).order_by("pk")
    result = {(label.query_id, label.document_id): label for label in labels_qs}
    return {pair: label for pair, label in result.items() if pair in pairs}


def _result(target: JudgmentList, version: JudgmentVersion | None) -> dict[str, object]:
    slug = target.collection.slug
    if version is None:
        note = "The list holds these grades already, or people graded all of these pairs."
        return {"note": note, "next_page": ["list", slug, target.slug]}
    return {
        "version": version.number,
        "added": version.added,
        "changed": version.changed,
        "removed": version.removed,
        "next_page": ["version", slug, target.slug, str(version.number)],
    }


def work_on_grades(work: Work) -> None:
    """The job kind `grade_by_machine`. params: revision, source, target (slugs)."""
    params, author = work.params, work.created_by_id
    lists = JudgmentList.objects.select_related("collection").filter(collection=work.collection_id)
    revisions = JudgeRevision.objects.select_related("judge")
    grade_by_machine(
        revision=revisions.get(judge__collection=work.collection_id, pk=params["revision"]),
        lists=Lists(lists.get(slug=params["source"]), lists.get(slug=params["target"])),
        by=None if author is None else User.objects.get(pk=author),
        at=timezone.now(),
        work=work,
    )


def remove_grades(
    *, access: Access, judgment_list: JudgmentList, at: datetime
) -> JudgmentVersion | None:
    """Make a version without grades of machine judges; None where there are none; for leads."""
    check_may_lead(access)
    check_own_list(access, judgment_list)
    with transaction.atomic():
        locked = JudgmentList.objects.select_for_update(no_key=True).get(pk=judgment_list.pk)
        rows = machine_grades_qs(list_id=locked.pk, version=locked.head)
        pairs = list(rows.order_by("pk").values_list("query_id", "document_id"))
        version = commit_judgments(
            judgment_list=judgment_list,
            changes=[Change(query, document, None) for query, document in pairs],
            by=access.user,
            at=at,
            reason=REMOVED,
            source=JudgmentVersion.Source.MACHINE,
        )
        if version is not None:
            after = {"version": version.number, "removed": version.removed}
            audit.record_by(access, at, "judge.grades_removed", judgment_list.slug, after=after)
    return version
