"""What a version can be exported as."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgments.lists.queries import get_list, get_version
from judgments.permissions import Access
from judgments.versions.takes import takes_at
from touchstone.files.ratings import FORMATS, RatingFormat


@dataclass(frozen=True)
class ExportPage:
    """name: as the address has it, a number or a release's name. grades_from: where the grades come
    from, in words."""

    list_slug: str
    list_name: str
    number: int
    name: str
    grades_from: str
    formats: Sequence[RatingFormat]


def get_export_page(*, access: Access, slug: str, name: str) -> ExportPage:
    """The formats that a version of a list can be had in."""
    one = get_list(access=access, slug=slug)
    version = get_version(judgment_list=one, name=name)
    return ExportPage(
        list_slug=one.slug,
        list_name=one.name,
        number=version.number,
        name=name,
        grades_from=takes_at(list_id=one.pk, version=version.number),
        formats=tuple(FORMATS.values()),
    )
