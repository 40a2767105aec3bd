"""From labels to grades: what is concluded of each pair, and what the list is told.

State is compared, never messages: a pair is due while a label or adjudication of it is newer
than the last conclusion (label_seq > consolidated_seq). So running this twice, late or never
does no harm, and a grade that came by an import or a revert stays until somebody says something
new about the pair.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from annotation.consolidation import RULES, votes
from annotation.models import Adjudication, Campaign, Label, Pair
from annotation.permissions import check_may_run
from annotation.services.seats import OVERLAP_PURPOSES
from judgments.models import Judgment, JudgmentList, JudgmentVersion, User
from judgments.permissions import Access
from judgments.scales import Scale
from judgments.services import audit
from judgments.services.committing import Change, commit_judgments, read_current

BATCH = 500


@dataclass(frozen=True)
class Consolidated:
    """What one pass did.

    version: the newest version that it made; None if the list stayed as it was.
    wait_seconds: above 0 where something is due but the list's last version is too young; ask
    again then. pairs: how many were concluded.
    """

    version: JudgmentVersion | None = None
    wait_seconds: float = 0.0
    pairs: int = 0


@dataclass
class Concluded:
    """A pair with what counts of what was said about it."""

    pair: Pair
    grades: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    revisions: set[int] = field(default_factory=set)
    adjudication: Adjudication | None = None


def consolidate(*, list_id: int, at: datetime) -> Consolidated:
    """Conclude what is due in a list's open campaigns and commit what the live ones conclude.

    Versions made of labels keep settings.LIVE_COMMIT_INTERVAL between them.
    """
    due_qs = Pair.objects.filter(list=list_id, is_open=True, label_seq__gt=F("consolidated_seq"))
    if not due_qs.exists():
        return Consolidated()
    wait = _seconds_to_wait(list_id, at)
    if wait > 0:
        return Consolidated(wait_seconds=wait)
    with transaction.atomic():
        judgment_list = lock_list(list_id)
        concluded = conclude(judgment_list=judgment_list, due_qs=due_qs)
        live = [one for one in concluded if one.pair.campaign.commit == Campaign.Commit.LIVE]
        version = commit_conclusions(judgment_list=judgment_list, concluded=live, by=None, at=at)
    return Consolidated(version=version, pairs=len(concluded))


def approve(
    *, access: Access, campaign: Campaign, at: datetime, reason: str = ""
) -> JudgmentVersion | None:
    """Commit what an approval campaign has concluded since the last time; None if nothing new."""
    check_may_run(access, campaign)
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        due_qs = Pair.objects.filter(campaign=campaign, label_seq__gt=F("consolidated_seq"))
        conclude(judgment_list=judgment_list, due_qs=due_qs)
        waiting_qs = Pair.objects.filter(
            campaign=campaign, consolidated_seq__gt=F("committed_seq")
        ).select_related("campaign")
        waiting = _listen(waiting_qs.order_by("pk"))
        version = commit_conclusions(
            judgment_list=judgment_list, concluded=waiting, by=access.user, at=at, reason=reason
        )
        audit.record(
            collection=access.collection,
            actor=access.user,
            at=at,
            action="campaign.approved",
            subject=campaign.name,
            after={"pairs": len(waiting), "version": version.number if version else None},
        )
    return version


def lock_list(list_id: int) -> JudgmentList:
    """The list, locked until the transaction ends; taken before any pair's lock."""
    return JudgmentList.objects.select_for_update(no_key=True).get(pk=list_id)


def conclude(*, judgment_list: JudgmentList, due_qs: QuerySet[Pair]) -> list[Concluded]:
    """Write what the labels of these pairs come to; the caller holds the list's lock.

    The pairs are locked from here on.
    """
    locked_qs = due_qs.select_related("campaign").order_by("pk")
    concluded = _listen(locked_qs.select_for_update(no_key=True, of=("self",)))
    codes = Scale.from_json(judgment_list.scale).codes
    for one in concluded:
        one.pair.state, one.pair.grade = _conclusion(one, codes)
        one.pair.consolidated_seq = one.pair.label_seq
    _save_conclusions(concluded)
    return concluded


def commit_conclusions(
    *,
    judgment_list: JudgmentList,
    concluded: Sequence[Concluded],
    by: User | None,
    at: datetime,
    reason: str = "",
) -> JudgmentVersion | None:
    """Tell the list what was concluded; the newest version made, if any.

    What labels decided is one version; what a person decided is a version in that person's
    name. The caller holds the locks of the list and of the pairs.
    """
    by_labels: list[Change] = []
    by_person: dict[User, list[Change]] = defaultdict(list)
    for one, change in _changes(judgment_list, concluded):
        decided = _newly_decided(one)
        (by_labels if decided is None else by_person[decided.decided_by]).append(change)
    version = None
    if by_labels:
        version = commit_judgments(
            judgment_list=judgment_list,
            changes=by_labels,
            by=by,
            at=at,
            reason=reason or _campaigns(concluded),
            source=JudgmentVersion.Source.LABELS,
        )
    for person, changes in by_person.items():
        made = commit_judgments(
            judgment_list=judgment_list,
            changes=changes,
            by=person,
            at=at,
            reason=_reasons(concluded, person),
            source=JudgmentVersion.Source.ADJUDICATION,
        )
        version = made or version
    for pair_ids in _batches([one.pair.pk for one in concluded]):
        Pair.objects.filter(pk__in=pair_ids).update(committed_seq=F("consolidated_seq"))
    return version


def _seconds_to_wait(list_id: int, at: datetime) -> float:
    versions_qs = JudgmentVersion.objects.filter(list=list_id, source=JudgmentVersion.Source.LABELS)
    newest = versions_qs.order_by("-number").values_list("created_at", flat=True).first()
    if newest is None:
        return 0.0
    interval = timedelta(seconds=settings.LIVE_COMMIT_INTERVAL)
    # a version of a clock that runs ahead must not stop the list for longer
    return max(0.0, min(newest + interval - at, interval).total_seconds())


def _listen(pairs_qs: QuerySet[Pair]) -> list[Concluded]:
    """The pairs with the current grades of their overlap and their newest adjudication."""
    heard = {pair.pk: Concluded(pair) for pair in pairs_qs}
    for pair_ids in _batches(list(heard)):
        _hear(heard, pair_ids)
    return list(heard.values())


def _hear(heard: dict[int, Concluded], pair_ids: Sequence[int]) -> None:
    labels_qs = Label.objects.filter(
        pair__in=pair_ids,
        outcome=Label.Outcome.GRADED,
        superseded_by__isnull=True,
        assignment__purpose__in=OVERLAP_PURPOSES,
    )
    rows = labels_qs.order_by("pair_id", "pair_seq").values_list(
        "pair_id", "pk", "grade", "guideline_revision__number"
    )
    for pair_id, pk, grade, revision in rows:
        assert grade is not None  # a constraint of the table
        heard[pair_id].grades.append(grade)
        heard[pair_id].labels.append(str(pk))
        heard[pair_id].revisions.add(revision)
    adjudications_qs = Adjudication.objects.filter(pair__in=pair_ids).order_by("pair_seq")
    for adjudication in adjudications_qs.select_related("decided_by", "guideline_revision"):
        heard[adjudication.pair_id].adjudication = adjudication
        heard[adjudication.pair_id].revisions.add(adjudication.guideline_revision.number)


def _conclusion(one: Concluded, codes: tuple[int, ...]) -> tuple[Pair.State, int | None]:
    if one.adjudication is not None:
        return Pair.State.ADJUDICATED, one.adjudication.grade
    if len(one.grades) < one.pair.campaign.overlap:
        return Pair.State.OPEN, None
    grade = RULES[one.pair.campaign.rule](one.grades, codes)
    return (Pair.State.TIED if grade is None else Pair.State.COMPLETE), grade


def _save_conclusions(concluded: Sequence[Concluded]) -> None:
    """Write states and grades: many pairs share the few there are."""
    alike: dict[tuple[str, int | None], list[int]] = defaultdict(list)
    for one in concluded:
        alike[one.pair.state, one.pair.grade].append(one.pair.pk)
    for (state, grade), pks in alike.items():
        for pair_ids in _batches(pks):
            Pair.objects.filter(pk__in=pair_ids).update(
                state=state, grade=grade, consolidated_seq=F("label_seq")
            )


def _batches(pair_ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(pair_ids), BATCH):
        yield pair_ids[start : start + BATCH]


def _changes(
    judgment_list: JudgmentList, concluded: Sequence[Concluded]
) -> Iterator[tuple[Concluded, Change]]:
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


def _newly_decided(one: Concluded) -> Adjudication | None:
    """The adjudication that the list has not been told of yet, if there is one."""
    decided = one.adjudication
    return decided if decided and decided.pair_seq > one.pair.committed_seq else None


def _evidence(one: Concluded, codes: tuple[int, ...]) -> dict[str, Any]:
    """Why the grade is what it is, as plain values; the same labels give the same values."""
    counts = votes(one.grades, codes) if one.grades else {}
    return {
        "campaign": str(one.pair.campaign.public_id),
        "votes": {str(grade): count for grade, count in counts.items()},
        "labels": one.labels,
        "guideline": sorted(one.revisions),
        "rule": one.pair.campaign.rule,
        "adjudicated": one.adjudication is not None,
    }


def _list_given_back(judgment_list: JudgmentList, pairs: Sequence[Pair]) -> dict[int, Change]:
    """The changes for pairs that have no grade any more, because labels were taken back.

    A judgment that a campaign made falls with its labels: the pair becomes again what it was
    before the campaign spoke, unjudged or judged by somebody else. Whatever an import, a revert
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


def _campaigns(concluded: Sequence[Concluded]) -> str:
    return "Labels of " + ", ".join(sorted({one.pair.campaign.name for one in concluded}))


def _reasons(concluded: Sequence[Concluded], person: User) -> str:
    decisions = [_newly_decided(one) for one in concluded]
    own = [one.reason for one in decisions if one and one.reason and one.decided_by == person]
    return "; ".join(dict.fromkeys(own))[:1_000]
