"""Judgment lists and what can be done with their versions."""

import hashlib
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from judgments.audit import services as audit
from judgments.collections.naming import check_name, unless_taken
from judgments.lists.label_quality import ListVerdict, get_verdict
from judgments.lists.queries import HEAD, get_qrels, get_version
from judgments.models import (
    Collection,
    Judgment,
    JudgmentList,
    JudgmentVersion,
    Release,
    User,
)
from judgments.models.collections import SLUG, check_free_slug
from judgments.permissions import Access, Archived, NotFound, check_may_lead
from judgments.storage.side_texts import keep_text
from judgments.versions.parts import lock_list
from judgments.versions.services import Change, commit_judgments
from judgments.versions.takes import takes_words
from judgments.webhooks.services import publish_event
from touchstone.errors import DomainError
from touchstone.scales import Scale


class ListRefused(DomainError):
    """The list can't be made or changed like this."""


def create_list(
    *,
    access: Access,
    at: datetime,
    slug: str,
    name: str,
    scale: Scale,
    description: str = "",
) -> JudgmentList:
    """Make an empty list on a grade scale; for leads."""
    check_may_lead(access)
    return start_list(
        collection=access.collection,
        by=access.user,
        at=at,
        slug=slug,
        name=name,
        scale=scale,
        description=description,
    )


def start_list(
    *,
    collection: Collection,
    by: User | None,
    at: datetime,
    slug: str,
    name: str,
    scale: Scale,
    description: str = "",
) -> JudgmentList:
    """`create_list` without a viewer, for the command line.

    Raises ListRefused for a slug that is taken or not made of a-z, 0-9 and hyphens.
    """
    check_name(slug, check_free_slug, refused=ListRefused, code="slug_invalid")
    with unless_taken(ListRefused("slug_taken", f"The list {slug} already exists.")):
        judgment_list = JudgmentList.objects.create(
            collection=collection,
            slug=slug,
            name=name.strip() or slug,
            description=description.strip(),
            scale=scale.to_json(),
            created_at=at,
            created_by=by,
        )
        audit.record(collection=collection, actor=by, at=at, action="list.created", subject=slug)
    return judgment_list


def release_version(
    *,
    access: Access,
    at: datetime,
    judgment_list: JudgmentList,
    number: int,
    name: str,
    notes: str = "",
    accept_quality: bool = False,
) -> Release:
    """Give a version a name for ever, with the SHA-256 of its qrels as they are exported.

    accept_quality: release it although the list's labels are not good enough to decide on. The
    verdict on them is kept with the release.
    Raises ListRefused for a name that is taken, a number, or not made of a-z, 0-9 and hyphens, and
    for labels that are not good enough, unless that is accepted.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    _check_release_name(name)
    version = get_version(judgment_list=judgment_list, name=str(number))
    verdict = get_verdict(access, judgment_list.slug) or ListVerdict("", "")
    if verdict.is_bad and not accept_quality:
        message = f"The verdict on these labels: {verdict.text} Confirm to release them anyway."
        raise ListRefused("not_good_enough", message)
    digest = hashlib.sha256(get_qrels(judgment_list=judgment_list, number=number)).hexdigest()
    with unless_taken(ListRefused("name_taken", f"The release {name} already exists.")):
        release = Release.objects.create(
            list=judgment_list,
            version=version,
            name=name,
            sha256=digest,
            notes_text=keep_text(notes.strip()),
            quality=verdict.text,
            quality_tone=verdict.tone,
            created_at=at,
            created_by=access.user,
        )
        audit.record_by(
            access,
            at,
            "list.released",
            f"{judgment_list.slug} {name}",
            after={"version": number, "sha256": digest, "quality": verdict.text},
        )
        publish_event(
            event="release.created",
            key=f"release:{release.pk}",
            collection=access.collection,
            data={
                "list": judgment_list.slug,
                "release": name,
                "version": number,
                "sha256": digest,
                "quality": verdict.text,
            },
            at=at,
        )
    return release


def revert_version(
    *, access: Access, at: datetime, judgment_list: JudgmentList, number: int, reason: str
) -> JudgmentVersion | None:
    """Make a new version that holds the judgments that version `number` held, evidence too.

    None if the head holds the same. Nothing is taken back: the versions between stay. Segments
    and weights stay as well: queries are the collection's, and other lists share them.
    Raises ListRefused for a version that took grades from elsewhere than the list does.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    with transaction.atomic():
        # the lock first, so that no commit falls between the comparison and the new version
        locked = lock_list(judgment_list.pk)
        head = locked.head
        if not 0 <= number <= head:
            raise NotFound("version")
        _check_takes(locked, number)
        return commit_judgments(
            judgment_list=judgment_list,
            changes=_changes_back_to(judgment_list, number, head),
            by=access.user,
            at=at,
            reason=reason.strip() or f"back to version {number}",
            source=JudgmentVersion.Source.REVERT,
        )


def _check_takes(judgment_list: JudgmentList, number: int) -> None:
    """A version can be restored where the list takes what it took."""
    own_qs = JudgmentVersion.objects.filter(list=judgment_list, number=number)
    if own_qs.exclude(takes=judgment_list.takes).exists():
        version = own_qs.get()
        took = takes_words(version.takes, version.takes_from)
        message = f"Version {number} took grades of {took}. First choose this for the list."
        raise ListRefused("takes_otherwise", message)


def _changes_back_to(judgment_list: JudgmentList, number: int, head: int) -> list[Change]:
    touched = Judgment.objects.filter(list=judgment_list).filter(
        Q(since__gt=number, since__lte=head) | Q(until__gt=number, until__lte=head)
    )
    changes: dict[tuple[int, int], Change] = {}
    for row in touched.order_by("since").iterator():
        pair = (row.query_id, row.document_id)
        if row.since <= number:
            changes[pair] = Change(*pair, row.grade, row.evidence)
        else:
            changes.setdefault(pair, Change(*pair, None))
    return list(changes.values())


def _check_release_name(name: str) -> None:
    check_name(name, SLUG, refused=ListRefused, code="name_invalid")
    if name.isdecimal() or name == HEAD:
        raise ListRefused("name_invalid", f"A release can't be named {name}: that names a version.")


def check_own_list(access: Access, judgment_list: JudgmentList) -> None:
    """NotFound for a list of another collection than the access is for, Archived for an archived
    one."""
    if judgment_list.collection_id != access.collection.pk:
        raise NotFound("list")
    if judgment_list.archived_at is not None:
        raise Archived("list")
