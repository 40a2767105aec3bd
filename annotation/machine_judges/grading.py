"""What a list takes: grades of people, of a machine judge, or of both; each choice is a version."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.consolidation.services import commit_conclusions, conclude, lock_list
from annotation.machine_judges.following import find_chosen, note_followed
from annotation.machine_judges.services import JudgeRefused, check_own
from annotation.machine_judges.sources import key_of
from annotation.machine_judges.trust import PairKey
from annotation.models import Campaign, JudgeRevision, MachineJudge, MachineLabel, Pair
from judgments.audit import services as audit
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.lists.services import check_own_list
from judgments.models import Job, Judgment, JudgmentList, JudgmentVersion, User
from judgments.models.lists import Takes
from judgments.permissions import Access, NotFound, check_may_lead
from judgments.versions.machine_grades import by_people, machine_grades_qs
from judgments.versions.queries import get_judged
from judgments.versions.services import Change, commit_judgments, make_version
from judgments.versions.takes import KEY, MachineChoice, takes_words
from touchstone.scales import Scale


@dataclass(frozen=True)
class Lists:
    """source: whose campaigns' pairs. target: the list that gets the grades; the same, or one of
    its own for a leaderboard by the machine alone."""

    source: JudgmentList
    target: JudgmentList


def request_grades(
    *,
    access: Access,
    judge: MachineJudge,
    number: int,
    lists: Lists,
    at: datetime,
    takes: str = Takes.ELSEWHERE,
) -> Job:
    """Have a worker choose that a list takes a revision's grades; for leads.

    takes: elsewhere than people, or the machine only.
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
            "takes": str(takes),
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
    takes: str = Takes.ELSEWHERE,
    work: Work | None = None,
) -> JudgmentVersion | None:
    """Choose that a list takes a revision's grades; None if that was so and it held them already.

    Elsewhere than people: pairs that people or clicks graded keep their grade; a label of a person
    that comes later replaces the machine's. Grades of other revisions and judges are replaced, or
    removed. Versions with the revision's later labels follow by themselves.
    """
    machine = MachineChoice(
        revision.judge.name, revision.number, key_of(revision), lists.source.slug
    )
    with transaction.atomic():
        # the lock first, so that no label of a person falls between the look and the version
        locked = lock_list(lists.target.pk)
        version = _choose(
            locked,
            takes=takes,
            machine=machine,
            labels=_list_labels(revision, lists.source),
            by=by,
            at=at,
        )
        note_followed(locked, revision, lists.source)
        lists.target.refresh_from_db(fields=["takes", "takes_from", "head"])
        if work is not None:
            work.finish(_result(lists.target, version))
    return version


def remove_grades(
    *, access: Access, judgment_list: JudgmentList, at: datetime
) -> JudgmentVersion | None:
    """Choose that a list takes grades of people only; None where that was so; for leads."""
    check_may_lead(access)
    check_own_list(access, judgment_list)
    with transaction.atomic():
        locked = lock_list(judgment_list.pk)
        version = _choose(
            locked, takes=Takes.PEOPLE, machine=None, labels={}, by=access.user, at=at
        )
    judgment_list.refresh_from_db(fields=["takes", "takes_from", "head"])
    return version


def _choose(
    locked: JudgmentList,
    *,
    takes: str,
    machine: MachineChoice | None,
    labels: Mapping[PairKey, MachineLabel],
    by: User | None,
    at: datetime,
) -> JudgmentVersion | None:
    """Make the version that a choice asks for. The caller holds the list's lock."""
    takes_from = None if machine is None else asdict(machine)
    is_new = (locked.takes, locked.takes_from) != (takes, takes_from)
    untold = locked.takes == Takes.MACHINE != takes
    if is_new:
        audit.record(
            collection=locked.collection,
            actor=by,
            at=at,
            action="list.takes_chosen",
            subject=locked.slug,
            before={"takes": takes_words(locked.takes, locked.takes_from)},
            after={"takes": takes_words(takes, takes_from)},
        )
        locked.takes, locked.takes_from = takes, takes_from
        locked.save(update_fields=["takes", "takes_from"])
    said: dict[str, Any] = {
        "by": by,
        "at": at,
        "reason": _reason(takes, takes_from) if is_new else "new labels of the machine judge",
        "source": JudgmentVersion.Source.MACHINE,
    }
    changes = _changes(locked, takes, labels, machine)
    version = commit_judgments(judgment_list=locked, changes=changes, **said)
    if version is None and is_new and locked.head:
        version = make_version(locked, **said)
        locked.head = version.number
    return (_tell(locked, at=at) if untold else None) or version


def _reason(takes: str, takes_from: Mapping[str, Any] | None) -> str:
    return f"the list takes grades of {takes_words(takes, takes_from)}"


def _changes(
    locked: JudgmentList,
    takes: str,
    labels: Mapping[PairKey, MachineLabel],
    machine: MachineChoice | None,
) -> list[Change]:
    head = locked.head
    judged = get_judged(list_id=locked.pk, version=head).pairs() if head else {}
    rows = machine_grades_qs(list_id=locked.pk, version=head)
    by_machine = set(rows.order_by().values_list("query_id", "document_id"))
    people = {} if takes == Takes.MACHINE else _set_aside(locked)
    kept = set() if takes == Takes.MACHINE else judged.keys() - by_machine
    changes = {
        pair: Change(*pair, row.grade, row.evidence)
        for pair, row in people.items()
        if pair not in kept
    }
    for pair, label in labels.items():
        if machine is not None and pair not in kept and pair not in changes:
            own = {"judge": machine.judge, "revision": machine.revision, "label": label.pk}
            changes[pair] = Change(*pair, label.grade, {KEY: own})
    gone = judged.keys() - kept - changes.keys()
    return [*changes.values(), *(Change(*pair, None) for pair in sorted(gone))]


def _set_aside(judgment_list: JudgmentList) -> dict[PairKey, Judgment]:
    """People's judgments that a choice of the machine only took out, the newest of each pair."""
    chosen = JudgmentVersion.objects.filter(
        list=judgment_list, takes=Takes.MACHINE, source=JudgmentVersion.Source.MACHINE
    )
    numbers = set(chosen.values_list("number", flat=True))
    if not numbers:
        return {}
    rows_qs = Judgment.objects.filter(by_people(), list=judgment_list).order_by("since")
    newest = {(row.query_id, row.document_id): row for row in rows_qs.iterator()}
    return {pair: row for pair, row in newest.items() if row.until in numbers}


def _tell(locked: JudgmentList, *, at: datetime) -> JudgmentVersion | None:
    """Commit what live campaigns concluded while the list took no grades of people."""
    untold_qs = Pair.objects.filter(
        list=locked,
        campaign__commit=Campaign.Commit.LIVE,
        consolidated_seq__gt=F("committed_seq"),
    )
    concluded = conclude(judgment_list=locked, due_qs=untold_qs)
    return commit_conclusions(judgment_list=locked, concluded=concluded, by=None, at=at)


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
    """The job kind `grade_by_machine`. params: revision, source, target (slugs), takes."""
    params, author = work.params, work.created_by_id
    lists = JudgmentList.objects.select_related("collection").filter(collection=work.collection_id)
    revisions = JudgeRevision.objects.select_related("judge")
    grade_by_machine(
        revision=revisions.get(judge__collection=work.collection_id, pk=params["revision"]),
        lists=Lists(lists.get(slug=params["source"]), lists.get(slug=params["target"])),
        takes=params.get("takes", Takes.ELSEWHERE),
        by=None if author is None else User.objects.get(pk=author),
        at=timezone.now(),
        work=work,
    )


def follow_machine(*, list_id: int, at: datetime) -> JudgmentVersion | None:
    """Bring a list that takes a machine judge's grades to its labels of today."""
    judgment_list = JudgmentList.objects.select_related("collection").get(pk=list_id)
    chosen = find_chosen(judgment_list)
    if chosen is None or judgment_list.archived_at is not None:
        return None
    revision, source = chosen
    return grade_by_machine(
        revision=revision,
        lists=Lists(source, judgment_list),
        takes=judgment_list.takes,
        by=None,
        at=at,
    )
