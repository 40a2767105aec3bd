"""What a version can be exported as."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgments.lists.queries import get_list, get_version
from judgments.permissions import Access
from touchstone.files.ratings import FORMATS, RatingFormat


@dataclass(frozen=True)
class ExportPage:
    """name: as the address has it, a number or a release's name."""

    list_slug: str
    list_name: str
    number: int
    name: str
    formats: Sequence[RatingFormat]


def get_export_page(*, access: Access, slug: str, name: str) -> ExportPage:
    """The formats that a version of a list can be had in."""
    one = get_list(access=access, slug=slug)
    version = get_version(judgment_list=one, name=name)
    return ExportPage(one.slug, one.name, version.number, name, tuple(FORMATS.values()))
