"""From labels to grades: what is concluded of each pair, and what the list is told.

State is compared, never messages: a pair is due while a label or adjudication of it is newer
than the last conclusion (label_seq > consolidated_seq). So running this twice, late or never
does no harm, and a grade that came by an import or a revert stays until someone says something
new about the pair.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet

from annotation.consolidation.aggregation import (
    LabelledPair,
    aggregate,
    list_labelled,
    load_labelled_pairs,
)
from annotation.consolidation.rules import votes
from annotation.consolidation.weighing import rounded
from annotation.models import Adjudication, Campaign, Pair
from annotation.permissions import check_may_run
from judgments.audit import services as audit
from judgments.models import Judgment, JudgmentList, JudgmentVersion, User
from judgments.models.lists import Takes
from judgments.permissions import Access
from judgments.storage.bulk import Among
from judgments.versions import parts
from judgments.versions.services import Change, commit_judgments, read_current
from judgments.versions.takes import check_takes_people
from touchstone.scales import Scale

AT_ONCE: Final = 2_000  # pairs of one transaction: some tenths of a second
BUSY_WAIT: Final = 5.0  # seconds until the list is asked again that an import is written into


@dataclass(frozen=True)
class Consolidated:
    """What one pass did.

    version: the newest version that it made; None if the list stayed as it was.
    wait_seconds: above 0 where something is due but the list's last version is too young, or a
    large import is being written into it; ask again then. pairs: how many were concluded.
    """

    version: JudgmentVersion | None = None
    wait_seconds: float = 0.0
    pairs: int = 0


@dataclass(frozen=True)
class ConcludedAgain:
    """What another plan made of labels. changed: pairs that came out another, or had waited."""

    pairs: int
    changed: int
    version: JudgmentVersion | None


def consolidate(*, list_id: int, at: datetime) -> Consolidated:
    """Conclude what is due in a list's open campaigns and commit what the live ones conclude.

    Versions made of labels keep settings.LIVE_COMMIT_INTERVAL between them; only where so much
    is due that it is done in portions, each is a version. So a worker that dies loses one portion,
    and no one who labels waits longer than one takes for the lock of a pair.
    """
    wait = seconds_to_wait(list_id=list_id, at=at)
    if wait is None:
        return Consolidated()
    if wait > 0:
        return Consolidated(wait_seconds=wait)
    due = sorted(_due_qs(list_id).order_by().values_list("pk", flat=True))
    version, pairs = None, 0
    for start in range(0, len(due), AT_ONCE):
        try:
            made, count = _consolidate_some(list_id, due[start : start + AT_ONCE], at)
        except parts.ListBusy:
            return Consolidated(version, BUSY_WAIT, pairs)
        version, pairs = made or version, pairs + count
    return Consolidated(version=version, pairs=pairs)


def approve(
    *, access: Access, campaign: Campaign, at: datetime, reason: str = ""
) -> JudgmentVersion | None:
    """Commit what an approval campaign has concluded since the last time; None if nothing new."""
    check_may_run(access, campaign)
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        check_takes_people(judgment_list)
        due_qs = Pair.objects.filter(campaign=campaign, label_seq__gt=F("consolidated_seq"))
        conclude(judgment_list=judgment_list, due_qs=due_qs)
        waiting_qs = Pair.objects.filter(campaign=campaign, consolidated_seq__gt=F("committed_seq"))
        waiting = load_labelled_pairs(waiting_qs.order_by("pk"))
        version = commit_conclusions(
            judgment_list=judgment_list, concluded=waiting, by=access.user, at=at, reason=reason
        )
        audit.record_by(
            access,
            at,
            "campaign.approved",
            campaign.name,
            after={"pairs": len(waiting), "version": version.number if version else None},
        )
    return version


def _consolidate_some(
    list_id: int, pair_ids: Sequence[int], at: datetime
) -> tuple[JudgmentVersion | None, int]:
    """A portion of what is due: the newest version made of it, and of how many pairs it was."""
    with transaction.atomic():
        judgment_list = lock_list(list_id)
        # another worker may have been here before the list was locked
        due_qs = _due_qs(list_id).filter(Among("pk", pair_ids))
        concluded = conclude(judgment_list=judgment_list, due_qs=due_qs, tells=True)
        live = [one for one in concluded if one.pair.campaign.commit == Campaign.Commit.LIVE]
        version = commit_conclusions(judgment_list=judgment_list, concluded=live, by=None, at=at)
    return version, len(concluded)


def lock_list(list_id: int, *, commits: bool = True) -> JudgmentList:
    """The list, locked until the transaction ends; taken before any pair's lock.

    commits: False for who neither tells the list something nor reads what it holds. All others
    are refused with ListBusy while a large import is being written into it.
    """
    if commits:
        return parts.lock_list(list_id)
    return JudgmentList.objects.select_for_update(no_key=True).get(pk=list_id)


def conclude(
    *,
    judgment_list: JudgmentList,
    due_qs: QuerySet[Pair],
    report: Callable[[int], None] = lambda _: None,
    tells: bool = False,
) -> list[LabelledPair]:
    """Write what the labels of these pairs come to; the caller holds the list's lock.

    The pairs are locked from here on. report: called with how many pairs have been loaded. tells:
    the caller tells the list what live campaigns conclude, in this transaction; that it was told
    is then written at once.
    """
    concluded = load_labelled_pairs(due_qs.order_by("pk").select_for_update(no_key=True), report)
    codes = Scale.from_json(judgment_list.scale).codes
    for one, (state, grade) in aggregate(concluded, codes):
        one.pair.state, one.pair.grade = state, grade
        one.pair.consolidated_seq = one.pair.label_seq
        is_live = one.pair.campaign.commit == Campaign.Commit.LIVE
        one.is_told = tells and is_live and not _newly_decided(one)
    _save_aggregates(concluded)
    return concluded


def conclude_again(
    *,
    judgment_list: JudgmentList,
    campaign: Campaign,
    at: datetime,
    report: Callable[[int], None] = lambda _: None,
) -> ConcludedAgain:
    """Conclude a campaign's labels under its plan as it is now, and commit it if it is live.

    Only what comes out another than before, or waited for approval, is told the list: grades
    that an import or a revert has put there since stay. The caller holds the list's lock.
    report: called with how many pairs have been loaded, before the list is told.
    """
    said_qs = list_labelled(campaign)
    before = {pk: rest for pk, *rest in said_qs.values_list("pk", "state", "grade")}
    concluded = conclude(judgment_list=judgment_list, due_qs=said_qs, report=report)
    told = [
        one
        for one in concluded
        if before[one.pair.pk] != [one.pair.state, one.pair.grade]
        or one.pair.committed_seq < one.pair.consolidated_seq
    ]
    version = None
    if campaign.commit == Campaign.Commit.LIVE:
        version = commit_conclusions(judgment_list=judgment_list, concluded=told, by=None, at=at)
    else:
        changed = Among("pk", [one.pair.pk for one in told])
        waiting_qs = Pair.objects.filter(changed, committed_seq=F("consolidated_seq"))
        waiting_qs.update(committed_seq=F("consolidated_seq") - 1)
    return ConcludedAgain(len(concluded), len(told), version)


def commit_conclusions(
    *,
    judgment_list: JudgmentList,
    concluded: Sequence[LabelledPair],
    by: User | None,
    at: datetime,
    reason: str = "",
) -> JudgmentVersion | None:
    """Tell the list what was concluded; the newest version made, if any.

    What labels decided is one version; what a person decided is a version in that person's
    name. A decision that confirms the grade that the campaign's labels have given already makes
    no version: it becomes part of the evidence in the next one. The caller holds the locks of
    the list and of the pairs. Where the list takes grades of a machine judge only, it is told
    nothing: the conclusions wait until it takes people's.
    """
    if judgment_list.takes == Takes.MACHINE:
        waiting_qs = Pair.objects.filter(Among("pk", [one.pair.pk for one in concluded]))
        waiting_qs.filter(consolidated_seq__gt=0).update(committed_seq=F("consolidated_seq") - 1)
        return None
    confirming = _list_confirming(judgment_list, concluded)
    by_labels: list[Change] = []
    by_person: dict[User, list[Change]] = defaultdict(list)
    for one, change in _changes(judgment_list, concluded):
        if one.pair.pk not in confirming:
            decided = _newly_decided(one)
            (by_labels if decided is None else by_person[decided.decided_by]).append(change)
    waiting = _load_waiting(judgment_list) if by_labels or by_person else []
    confirmed = confirming | _list_confirming(judgment_list, waiting)
    confirmations = [change for _, change in _changes(judgment_list, list(confirmed.values()))]
    version = None
    if by_labels:
        version = commit_judgments(
            judgment_list=judgment_list,
            changes=by_labels,
            confirmations=confirmations,
            by=by,
            at=at,
            reason=reason or _campaigns(concluded),
            source=JudgmentVersion.Source.LABELS,
        )
    for person, changes in by_person.items():
        made = commit_judgments(
            judgment_list=judgment_list,
            changes=changes,
            confirmations=[] if version else confirmations,
            by=person,
            at=at,
            reason=_reasons(concluded, person),
            source=JudgmentVersion.Source.ADJUDICATION,
        )
        version = made or version
    untold = [one.pair.pk for one in concluded if one.pair.pk not in confirming and not one.is_told]
    if version:
        untold += [one.pair.pk for one in (*confirming.values(), *waiting)]
    if untold:
        Pair.objects.filter(Among("pk", untold)).update(committed_seq=F("consolidated_seq"))
    return version


def _list_confirming(
    judgment_list: JudgmentList, concluded: Iterable[LabelledPair]
) -> dict[int, LabelledPair]:
    """The pairs whose new decision is the grade that their campaign has given the list before."""
    decided = [one for one in concluded if _newly_decided(one)]
    keys = [(one.pair.query_id, one.pair.document_id) for one in decided]
    current = read_current(list_id=judgment_list.pk, pairs=set(keys)) if keys else {}
    return {
        one.pair.pk: one
        for one, key in zip(decided, keys, strict=True)
        if (now := current.get(key))
        and now.grade == one.pair.grade
        and _is_of(one.pair, now.evidence)
    }


def _load_waiting(judgment_list: JudgmentList) -> list[LabelledPair]:
    """The pairs of live campaigns whose confirmation waits for the list's next version.

    A pair that is being labelled right now waits for another version.
    """
    waiting_qs = Pair.objects.filter(
        list=judgment_list,
        state=Pair.State.ADJUDICATED,
        campaign__commit=Campaign.Commit.LIVE,
        consolidated_seq__gt=F("committed_seq"),
        label_seq=F("consolidated_seq"),
    ).order_by("pk")
    skip_locked = connection.features.has_select_for_update_skip_locked
    locked_qs = waiting_qs.select_for_update(no_key=True, skip_locked=skip_locked, of=("self",))
    return load_labelled_pairs(locked_qs)


def seconds_to_wait(*, list_id: int, at: datetime) -> float | None:
    """How long what is due in a list has to wait for its next version; None where nothing is."""
    if not _due_qs(list_id).exists():
        return None
    by_labels_qs = JudgmentVersion.objects.filter(
        list=list_id, source=JudgmentVersion.Source.LABELS
    )
    newest = by_labels_qs.order_by("-number").values_list("created_at", flat=True).first()
    if newest is None:
        return 0.0
    interval = timedelta(seconds=settings.LIVE_COMMIT_INTERVAL)
    # a version of a clock that runs ahead must not stop the list for longer
    return max(0.0, min(newest + interval - at, interval).total_seconds())


def _due_qs(list_id: int) -> QuerySet[Pair]:
    return Pair.objects.filter(list=list_id, is_open=True, label_seq__gt=F("consolidated_seq"))


def _save_aggregates(concluded: Sequence[LabelledPair]) -> None:
    """Write states and grades: many pairs share the few there are."""
    alike: dict[tuple[str, int | None, bool], list[int]] = defaultdict(list)
    for one in concluded:
        alike[one.pair.state, one.pair.grade, one.is_told].append(one.pair.pk)
    for (state, grade, is_told), pks in alike.items():
        # once, with both: every writing of a pair touches all of its indexes
        told = {"committed_seq": F("label_seq")} if is_told else {}
        Pair.objects.filter(Among("pk", pks)).update(
            state=state, grade=grade, consolidated_seq=F("label_seq"), **told
        )


def _changes(
    judgment_list: JudgmentList, concluded: Sequence[LabelledPair]
) -> Iterator[tuple[LabelledPair, Change]]:
    """What the list shall hold for the pairs; nothing for those about which nothing is to say."""
    codes = Scale.from_json(judgment_list.scale).codes
    without = [one.pair for one in concluded if one.pair.grade is None]
    given_back = _list_given_back(judgment_list, without)
    for one in concluded:
        pair = one.pair
        if pair.grade is not None:
            evidence = _evidence(one, codes)
            yield one, Change(pair.query_id, pair.document_id, pair.grade, evidence)
        elif pair.pk in given_back:
            yield one, given_back[pair.pk]


def _newly_decided(one: LabelledPair) -> Adjudication | None:
    """The adjudication that the list has not been told of yet, if there is one."""
    decided = one.adjudication
    return decided if decided and decided.pair_seq > one.pair.committed_seq else None


def _evidence(one: LabelledPair, codes: tuple[int, ...]) -> dict[str, Any]:
    """Why the grade is what it is, as plain values; the same labels give the same values."""
    counts = votes(one.grades, codes) if one.grades else {}
    evidence = {
        "campaign": str(one.pair.campaign.public_id),
        "votes": {str(grade): count for grade, count in counts.items()},
        "labels": one.labels,
        "guideline": sorted(one.revisions),
        "rule": one.pair.campaign.rule,
        "adjudicated": one.adjudication is not None,
    }
    if one.likely:
        likely = zip(codes, rounded(one.likely), strict=True)
        evidence["posterior"] = {str(code): value for code, value in likely}
    return evidence


def _list_given_back(judgment_list: JudgmentList, pairs: Sequence[Pair]) -> dict[int, Change]:
    """The changes for pairs that have no grade any more, because labels were taken back.

    A judgment that a campaign made falls with its labels: the pair becomes again what it was
    before the campaign spoke, unjudged or judged by someone else. Whatever an import, a revert
    or another campaign has put there since is not this campaign's to take away.
    """
    keys = [(pair.query_id, pair.document_id) for pair in pairs]
    current = read_current(list_id=judgment_list.pk, pairs=keys) if keys else {}
    made_here = [
        pair
        for pair, key in zip(pairs, keys, strict=True)
        if key in current and _is_of(pair, current[key].evidence)
    ]
    return {pair.pk: _given_back(pair) for pair in made_here}


def _given_back(pair: Pair) -> Change:
    rows_qs = Judgment.objects.filter(
        list=pair.list_id, query=pair.query_id, document=pair.document_id
    )
    since = None
    for row in rows_qs.order_by("-since"):
        if row.until != since:
            break  # unjudged for a while: there is nothing to go back to
        if not _is_of(pair, row.evidence):
            return Change(pair.query_id, pair.document_id, row.grade, row.evidence)
        since = row.since
    return Change(pair.query_id, pair.document_id, None)


def _is_of(pair: Pair, evidence: Mapping[str, Any]) -> bool:
    return evidence.get("campaign") == str(pair.campaign.public_id)


def _campaigns(concluded: Sequence[LabelledPair]) -> str:
    return "Labels of " + ", ".join(sorted({one.pair.campaign.name for one in concluded}))


def _reasons(concluded: Sequence[LabelledPair], person: User) -> str:
    decisions = [_newly_decided(one) for one in concluded]
    own = [one.reason for one in decisions if one and one.reason and one.decided_by == person]
    return "; ".join(dict.fromkeys(own))[:1_000]
