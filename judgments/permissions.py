"""Who may do what. Each rule is `check_x`, which raises with the reason, and `may_x`, a bool.

Outside one's scope everything is NotFound, which the edge answers with 404: what exists and may
not be seen looks like what does not exist. The table is docs/permissions.md.
"""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import CharField, QuerySet
from django.utils.translation import gettext_noop

from judgments.models import Collection, Membership, Role, SavedSet, User
from judgments.storage.prepared import PreparedObjects, slot
from touchstone.errors import DomainError

Viewer = User | AnonymousUser
ADMIN = gettext_noop("admin")


class NotFound(DomainError):
    """There is no such thing, or it is not for this viewer; no one can tell which."""

    def __init__(self, what: str = "page") -> None:
        super().__init__("not_found", f"No such {what}, or you do not have access to it.")


class RoleRefused(DomainError):
    """Leads can't make leads."""

    def __init__(self) -> None:
        super().__init__("role_refused", "Only administrators can change who leads a collection.")


class CreationRefused(DomainError):
    """Here administrators make the collections."""

    def __init__(self) -> None:
        super().__init__("administrators_only", "Only administrators can create collections.")


class SetRefused(DomainError):
    """The saved set can't be made or changed like this."""


class Archived(DomainError):
    """What is archived can't be changed until it is restored."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "archived", f"This {what} is archived, so it can’t be changed. Restore it first."
        )


@dataclass(frozen=True)
class Access:
    """What a viewer is in a collection: the ticket that every query and service asks for.

    role: annotator, researcher, lead, or admin (a superuser, who reads everything and manages
    members, but neither labels nor judges unless also a member).
    is_annotating: the viewer annotates in an open campaign of this collection.
    is_lead: leads it, and may change it: no one does while it is archived.
    """

    user: User
    collection: Collection
    role: str
    is_annotating: bool = False

    @property
    def is_lead(self) -> bool:
        return self.role == Role.LEAD and not self.is_archived

    @property
    def is_archived(self) -> bool:
        return self.collection.archived_at is not None

    @property
    def is_admin(self) -> bool:
        return self.role == ADMIN


def _memberships_qs() -> QuerySet[Membership]:
    is_own = {"collection__slug": slot("slug", CharField), "user": slot("user")}
    return Membership.objects.select_related("collection").filter(**is_own).order_by()


_memberships: PreparedObjects[Membership] = PreparedObjects(_memberships_qs)  # every page asks


def get_access(*, viewer: Viewer, slug: str) -> Access:
    """The viewer's access to the collection `slug`; NotFound if there is none."""
    if not isinstance(viewer, User) or not viewer.is_active:
        raise NotFound("collection")
    membership = next(iter(_memberships.list(slug=slug, user=viewer.pk)), None)
    if membership is not None:
        return Access(viewer, membership.collection, membership.role, membership.is_annotating)
    collection = Collection.objects.filter(slug=slug).first() if viewer.is_superuser else None
    if collection is None:
        raise NotFound("collection")
    return Access(viewer, collection, ADMIN)


def may_create_collection(user: User) -> bool:
    """Make a collection, and so lead it: everyone, or administrators alone, as configured."""
    return user.is_superuser or settings.MAKES_COLLECTIONS == "everyone"


def check_may_create_collection(user: User) -> None:
    if not may_create_collection(user):
        raise CreationRefused


def check_administers(user: User) -> None:
    """Accounts of the installation: administrators only."""
    if not (user.is_active and user.is_superuser):
        raise NotFound


def may_see_content(access: Access) -> bool:
    """All queries and documents of the collection, whether or not one has to label them."""
    return access.role in (Role.RESEARCHER, Role.LEAD, ADMIN)


def may_see_rankings(access: Access) -> bool:
    """Rankers, runs, ranks, scores, leaderboards, agreed grades and versions.

    Annotators of an open campaign can't see them, unless they lead.
    """
    if access.role == Role.RESEARCHER:
        return not access.is_annotating
    return access.role in (Role.LEAD, ADMIN)


def may_upload_runs(access: Access) -> bool:
    """Register rankers and upload runs."""
    may_ever = access.role in (Role.RESEARCHER, Role.LEAD) and may_see_rankings(access)
    return may_ever and not access.is_archived


def may_make_sets(access: Access) -> bool:
    """Save sets of queries: researchers and leads."""
    return may_upload_runs(access)


def may_lead(access: Access) -> bool:
    """Change anything: lists, guidelines, campaigns, adjudications, releases."""
    return access.is_lead


def may_see_people(access: Access) -> bool:
    """Names behind labels, votes and versions, the audit log, the members."""
    return access.role == Role.LEAD or access.is_admin


def may_manage_members(access: Access) -> bool:
    """Invite people, change roles, end memberships; also of an archived collection."""
    return access.role == Role.LEAD or access.is_admin


def may_archive(access: Access) -> bool:
    """Archive the collection, or restore it."""
    return access.role == Role.LEAD or access.is_admin


def check_may_see_content(access: Access) -> None:
    if not may_see_content(access):
        raise NotFound


def check_may_see_rankings(access: Access) -> None:
    if not may_see_rankings(access):
        raise NotFound


def check_may_upload_runs(access: Access) -> None:
    if not may_upload_runs(access):
        if access.is_archived and access.role in (Role.RESEARCHER, Role.LEAD):
            raise Archived("collection")
        raise NotFound


def check_may_make_sets(access: Access) -> None:
    check_may_upload_runs(access)


def check_may_change_set(access: Access, saved_set: SavedSet) -> None:
    """Leads change any; who made one changes it too, as long as it is not held out."""
    check_may_make_sets(access)
    if saved_set.collection_id != access.collection.pk:
        raise NotFound("set")
    if access.is_lead:
        return
    if saved_set.is_held_out:
        raise SetRefused("held_out", "Only leads can change a held-out set.")
    if saved_set.created_by_id != access.user.pk:
        raise SetRefused("not_yours", "Only its creator or a lead can change this set.")


def may_change_set(access: Access, saved_set: SavedSet) -> bool:
    """Whether `change_set` would let this viewer."""
    try:
        check_may_change_set(access, saved_set)
    except DomainError:
        return False
    return True


def check_may_lead(access: Access) -> None:
    """Raises NotFound for those who do not lead, and Archived for those who do."""
    if access.role != Role.LEAD:
        raise NotFound
    if access.is_archived:
        raise Archived("collection")


def check_may_archive(access: Access) -> None:
    if not may_archive(access):
        raise NotFound


def check_may_see_people(access: Access) -> None:
    if not may_see_people(access):
        raise NotFound


def check_may_manage_members(access: Access) -> None:
    if not may_manage_members(access):
        raise NotFound


def may_give_role(access: Access, role: str) -> bool:
    """Give a member this role, or change it to another.

    Leads decide about annotators and researchers; who leads is for an admin.
    """
    if not may_manage_members(access) or role not in Role.values:
        return False
    return access.is_admin or access.user.is_superuser or role != Role.LEAD


def check_may_give_role(access: Access, role: str) -> None:
    if not may_give_role(access, role):
        raise RoleRefused
