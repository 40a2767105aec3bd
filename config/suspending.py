"""Suspend an account in all apps at once."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotation.labelling.leasing import release_person
from judgments.accounts.queries import list_without_lead
from judgments.accounts.services import suspend_account
from judgments.models import User


@dataclass(frozen=True)
class Suspension:
    """What ended with an account's suspension.

    leases: pairs that it held, which others get now. collections_without_lead: short names of
    those that no active account leads any more; an administrator can invite another lead.
    """

    sessions: int
    tokens: int
    invitations: int
    leases: int
    collections_without_lead: list[str]


def suspend(*, user: User, by: User | None, at: datetime) -> Suspension | None:
    """Suspend an account and free its leases, all or nothing; None if it is suspended already.

    Raises AccountRefused as `suspend_account` does.
    """
    with transaction.atomic():
        ended = suspend_account(user=user, by=by, at=at)
        if ended is None:
            return None
        leases = release_person(person=user)
    return Suspension(
        ended.sessions, ended.tokens, ended.invitations, leases, list_without_lead(user)
    )
