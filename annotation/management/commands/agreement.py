"""`agreement`: Krippendorff's alpha of a CSV of labels. A file only, no database."""

from judgments.management.command import LibraryCommand
from touchstone.cli import agreement


class Command(LibraryCommand):
    library = agreement
