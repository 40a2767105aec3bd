"""Lists of things for programs: in a total order, one part after the other."""

from dataclasses import dataclass
from functools import partial

from judgments.collections.queries import list_document_ids, list_query_ids
from judgments.lists.queries import (
    ReleaseRow,
    VersionRow,
    releases_qs,
    show_releases,
    show_versions,
)
from judgments.models import (
    JudgmentList,
    JudgmentVersion,
)
from judgments.pages.paging import Part, part_of
from judgments.permissions import (
    Access,
    check_may_see_rankings,
)
from judgments.versions.changes import get_changes


@dataclass(frozen=True)
class ChangeRow:
    """A pair whose grade differs; null if unjudged."""

    query_id: str
    doc_id: str
    before: int | None
    after: int | None


def list_lists(
    *, access: Access, after: int, limit: int, archived: bool = False
) -> Part[JudgmentList]:
    """The collection's judgment lists. archived: those that are archived, and no others."""
    check_may_see_rankings(access)
    lists = JudgmentList.objects.filter(
        collection=access.collection, archived_at__isnull=not archived
    )
    return part_of(lists, after, limit, list)


def list_versions(
    *, access: Access, judgment_list: JudgmentList, after: int, limit: int
) -> Part[VersionRow]:
    """The list's versions, the newest first. after: a version's number; 0 for the newest."""
    versions_qs = JudgmentVersion.objects.filter(list=judgment_list)
    versions = versions_qs.select_related("author", "reason_text")
    if after:
        versions = versions.filter(number__lt=after)
    rows = list(versions.order_by("-number")[: limit + 1])
    last = rows[limit - 1].number if len(rows) > limit else None
    return Part(show_versions(access, rows[:limit]), last)


def list_releases(
    *, access: Access, judgment_list: JudgmentList, after: int, limit: int
) -> Part[ReleaseRow]:
    """The list's releases, oldest first."""
    return part_of(releases_qs(judgment_list), after, limit, partial(show_releases, access))


def list_changes(
    *, judgment_list: JudgmentList, before: int, after: int, skip: int, limit: int
) -> tuple[dict[str, int], Part[ChangeRow]]:
    """What differs between two versions: how many of each kind, and the pairs after `skip`."""
    changes = get_changes(judgment_list=judgment_list, before=before, after=after)
    counts = changes.counts()
    shown = changes[skip : skip + limit]
    end = skip + len(shown)
    collection = judgment_list.collection
    qids = list_query_ids(collection=collection, pks={one.query_id for one in shown})
    docids = list_document_ids(collection=collection, pks={one.document_id for one in shown})
    rows = [
        ChangeRow(qids[one.query_id], docids[one.document_id], one.before, one.after)
        for one in shown
    ]
    return counts, Part(rows, end if end < len(changes) else None)
