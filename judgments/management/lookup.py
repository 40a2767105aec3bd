"""Who a command acts for, and on what."""

from judgments.models import Collection, JudgmentList, SavedSet, User
from judgments.usernames import fold
from touchstone.errors import DomainError


class CommandRefused(DomainError):
    """There is no such person, collection, list or set."""


def get_author(username: str | None) -> User | None:
    """The person that `--by` names; None without it."""
    return None if username is None else get_user(username)


def get_user(username: str) -> User:
    """The person with this user name, in any case, who can sign in."""
    user = get_account(username)
    if not user.is_active:
        raise CommandRefused("no_user", f"{user.username} can’t sign in.")
    return user


def get_account(username: str) -> User:
    """The account with this user name, in any case; suspended ones too."""
    user = User.objects.filter(username_key=fold(username)).first()
    if user is None:
        raise CommandRefused("no_user", f"Unknown user {username}.")
    return user


def get_collection(slug: str) -> Collection:
    """The collection with this slug."""
    result = Collection.objects.filter(slug=slug).first()
    if result is None:
        raise CommandRefused("no_collection", f"Unknown collection {slug}.")
    return result


def get_list(collection_slug: str, slug: str) -> JudgmentList:
    """The list COLLECTION/LIST."""
    result = JudgmentList.objects.filter(
        collection=get_collection(collection_slug), slug=slug
    ).first()
    if result is None:
        raise CommandRefused("no_list", f"Unknown list {collection_slug}/{slug}.")
    return result


def get_saved_set(judgment_list: JudgmentList, slug: str) -> SavedSet | None:
    """The saved set with this slug in the list's collection; None for ""."""
    if not slug:
        return None
    result = SavedSet.objects.filter(collection=judgment_list.collection_id, slug=slug).first()
    if result is None:
        raise CommandRefused("no_set", f"Unknown saved set {slug}.")
    return result
