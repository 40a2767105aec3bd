"""`evaluate`: measures of run files against a qrels file. Files only, no database."""

from judgments.management.command import LibraryCommand
from touchstone.cli import evaluate


class Command(LibraryCommand):
    library = evaluate
