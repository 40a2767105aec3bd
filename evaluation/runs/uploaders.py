"""Who brought a ranker or a run, as the viewer may know it."""

from collections.abc import Iterable
from typing import Final

from judgments.models import Membership, Role, User
from judgments.permissions import Access, may_see_people

NOBODY: Final = "command line"


def list_uploaders(*, access: Access, user_ids: Iterable[int | None]) -> dict[int | None, str]:
    """What to call each of these people; None, the command line, is always among them.

    A viewer who may not see people sees an annotator's pseudonym, as everywhere, and the names of
    those who upload runs.
    """
    wanted = {user_id for user_id in user_ids if user_id is not None}
    if not wanted:
        return {None: NOBODY}
    members = {
        member.user_id: member
        for member in Membership.ever.filter(collection=access.collection, user__in=wanted)
    }
    shown: dict[int | None, str] = {None: NOBODY}
    for user in User.objects.filter(pk__in=wanted):
        shown[user.pk] = _shown(access, user, members.get(user.pk))
    return shown


def _shown(access: Access, user: User, member: Membership | None) -> str:
    if user.pk == access.user.pk:
        return "you"
    labels = member is not None and (member.role == Role.ANNOTATOR or member.is_annotating)
    if member is not None and labels and not may_see_people(access):
        return member.pseudonym
    return str(user)
