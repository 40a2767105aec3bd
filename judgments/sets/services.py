"""Saved sets of queries, and looks at the numbers of those that are held out."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from judgments.audit import services as audit
from judgments.collections.naming import check_name, unless_taken
from judgments.collections.queries import list_query_ids, map_queries
from judgments.models import JudgmentList, SavedSet, SavedSetQuery, SetLook
from judgments.models.collections import check_free_slug
from judgments.permissions import (
    Access,
    NotFound,
    SetRefused,
    check_may_change_set,
    check_may_make_sets,
    check_may_see_rankings,
)
from judgments.sets.looks import Looks
from judgments.sets.queries import count_looks, list_set_queries
from judgments.storage.bulk import insert_rows
from touchstone.files.query_ids import QueryIds, check_known

SAME_LOOK: Final = timedelta(minutes=5)  # a page seen again by the same person within it
NAMED: Final = 100  # ids that an audit row names
CHUNK: Final = 500  # queries taken out in one statement


def create_set(
    *,
    access: Access,
    at: datetime,
    slug: str,
    name: str,
    ids: QueryIds,
    description: str = "",
    is_held_out: bool = False,
) -> SavedSet:
    """Save some queries under a name; for researchers and leads, held out for leads alone.

    Raises FileRefused, line by line, for queries that the collection does not have, SetRefused
    for a short name that is taken or not made of a-z, 0-9 and hyphens.
    """
    check_may_make_sets(access)
    _check_held_out(access, is_held_out)
    check_name(slug, check_free_slug, refused=SetRefused, code="slug_invalid")
    queries = _known(access, ids)
    with unless_taken(SetRefused("slug_taken", f"The set {slug} already exists.")):
        saved = SavedSet.objects.create(
            collection=access.collection,
            slug=slug,
            name=name.strip() or slug,
            description=description.strip(),
            is_held_out=is_held_out,
            created_at=at,
            created_by=access.user,
        )
        _add(saved, queries.values())
        after = _told(saved, len(queries))
        _record(access, at, "set.created", saved, after=after)
    return saved


def change_set(
    *,
    access: Access,
    at: datetime,
    saved_set: SavedSet,
    name: str,
    ids: QueryIds | None,
    description: str,
    is_held_out: bool,
) -> SavedSet:
    """Give a set another name, description or queries, or hold it out or no longer.

    ids: None to leave the queries as they are. Who looked at it stays counted, whatever is
    changed. Raises as `create_set` does.
    """
    check_may_change_set(access, saved_set)
    wanted = None if ids is None else set(_known(access, ids).values())
    with transaction.atomic():
        saved = SavedSet.objects.select_for_update(no_key=True).get(pk=saved_set.pk)
        check_may_change_set(access, saved)
        _check_held_out(access, is_held_out != saved.is_held_out)
        had = set(list_set_queries(set_id=saved.pk))
        has = had if wanted is None else wanted
        gone, new = had - has, has - had
        before = _told(saved, len(had)) | {"taken out": _named(access, gone)}
        saved.name, saved.description = name.strip() or saved.slug, description.strip()
        saved.is_held_out = is_held_out
        saved.save(update_fields=["name", "description", "is_held_out"])
        _take_out(saved, sorted(gone))
        _add(saved, new)
        after = _told(saved, len(has)) | {"added": _named(access, new)}
        _record(access, at, "set.changed", saved, before=before, after=after)
    return saved


def archive_set(*, access: Access, at: datetime, saved_set: SavedSet) -> None:
    """Offer a set no longer; its queries and the looks at it stay, and so do its addresses."""
    _archive(access, at, saved_set, archived_at=at, action="set.archived")


def restore_set(*, access: Access, at: datetime, saved_set: SavedSet) -> None:
    """Offer an archived set again."""
    _archive(access, at, saved_set, archived_at=None, action="set.restored")


def _archive(
    access: Access,
    at: datetime,
    saved_set: SavedSet,
    *,
    archived_at: datetime | None,
    action: str,
) -> None:
    check_may_change_set(access, saved_set)
    was_offered = archived_at is not None
    sets_qs = SavedSet.objects.filter(pk=saved_set.pk, archived_at__isnull=was_offered)
    with transaction.atomic():
        if sets_qs.update(archived_at=archived_at):
            _record(access, at, action, saved_set)


def record_look(
    *, access: Access, saved_set: SavedSet, list_slug: str, page: SetLook.Page, at: datetime
) -> Looks | None:
    """Count that the viewer is shown numbers of a held-out set; None of a set that is not.

    A viewer of the same page of the same list within five minutes has looked once.
    """
    check_may_see_rankings(access)
    if saved_set.collection_id != access.collection.pk:
        raise NotFound("set")
    if not saved_set.is_held_out:
        return None
    judgment_list = JudgmentList.objects.get(collection=access.collection, slug=list_slug)
    own = {"saved_set": saved_set, "user": access.user, "list": judgment_list, "page": page}
    recent = SetLook.objects.filter(**own, at__gt=at - SAME_LOOK)
    if not recent.exists():
        with transaction.atomic():
            # the lock, so that a page asked for twice at once is one look
            SavedSet.objects.select_for_update(no_key=True).get(pk=saved_set.pk)
            if not recent.exists():
                SetLook.objects.create(**own, at=at)
    return count_looks(set_id=saved_set.pk)


def _check_held_out(access: Access, is_asked: bool) -> None:
    if is_asked and not access.is_lead:
        raise SetRefused("held_out", "Only leads can mark a set as held out.")


def _known(access: Access, ids: QueryIds) -> dict[str, int]:
    queries = map_queries(collection=access.collection, qids=ids.lines)
    check_known(ids, queries)
    return queries


def _add(saved: SavedSet, query_ids: Iterable[int]) -> None:
    rows = [(saved.pk, query_id) for query_id in sorted(query_ids)]
    insert_rows(SavedSetQuery, ("saved_set_id", "query_id"), rows)


def _take_out(saved: SavedSet, query_ids: Sequence[int]) -> None:
    for start in range(0, len(query_ids), CHUNK):
        own = query_ids[start : start + CHUNK]
        SavedSetQuery.objects.filter(saved_set=saved, query__in=own).delete()


def _told(saved: SavedSet, queries: int) -> dict[str, Any]:
    return {
        "name": saved.name,
        "description": saved.description,
        "held out": saved.is_held_out,
        "queries": queries,
    }


def _named(access: Access, query_ids: Iterable[int]) -> str:
    """The first ids of some queries, as an audit row has room for."""
    qids = list_query_ids(collection=access.collection, pks=sorted(query_ids))
    more = f" and {len(qids) - NAMED:,} more" if len(qids) > NAMED else ""
    return ", ".join([qids[pk] for pk in sorted(qids)][:NAMED]) + more


def _record(access: Access, at: datetime, action: str, saved: SavedSet, **values: Any) -> None:
    audit.record_by(access, at, action, saved.slug, **values)
