"""How releases are cited."""

from judgments.lists.citations import Cited
from judgments.lists.queries import ReleaseRow, get_list, list_releases
from judgments.permissions import Access, NotFound


def get_release(*, access: Access, slug: str, name: str) -> ReleaseRow:
    """The release of a list with this name."""
    one = get_list(access=access, slug=slug)
    found = next((row for row in list_releases(access, one) if row.name == name), None)
    if found is None:
        raise NotFound("release")
    return found


def cite(*, access: Access, list_slug: str, list_name: str, release: ReleaseRow, url: str) -> Cited:
    """How a release is cited, by the address that it keeps."""
    return Cited(
        collection=access.collection.name,
        collection_slug=access.collection.slug,
        list_name=list_name,
        list_slug=list_slug,
        release=release.name,
        version=release.number,
        sha256=release.sha256,
        released_at=release.created_at,
        url=url,
        caveat=release.quality if release.quality_tone == "bad" else "",
    )
