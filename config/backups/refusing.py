"""Why a backup can't be made, or can't be restored."""

from touchstone.errors import DomainError


class BackupRefused(DomainError):
    """This can't be written, or can't be restored here."""
