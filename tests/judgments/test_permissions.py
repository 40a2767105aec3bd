"""Who may do what, rule by rule; the pages are in tests/permissions."""

import pytest
from django.contrib.auth.models import AnonymousUser

from judgments import permissions
from judgments.models import Collection, Membership, Role, User
from judgments.permissions import ADMIN, Access, NotFound, RoleRefused, get_access
from tests.builders import make_collection, make_user

ANNOTATING = "researcher who annotates"
WHO = ("annotator", "researcher", ANNOTATING, "lead", ADMIN)
TABLE = {
    "see_content": ("researcher", ANNOTATING, "lead", ADMIN),
    "see_rankings": ("researcher", "lead", ADMIN),
    "upload_runs": ("researcher", "lead"),
    "make_sets": ("researcher", "lead"),
    "lead": ("lead",),
    "see_people": ("lead", ADMIN),
    "manage_members": ("lead", ADMIN),
    "archive": ("lead", ADMIN),
}


def access_of(who: str) -> Access:
    """An access as plain values: no database."""
    collection = Collection(slug="books")
    if who == ANNOTATING:
        return Access(User(username="dora"), collection, Role.RESEARCHER, is_annotating=True)
    return Access(User(username=who), collection, who, is_annotating=who == "lead")


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("rule", TABLE)
def test_the_rule_and_its_check_say_the_same_as_the_table(rule, who):
    allowed = who in TABLE[rule]
    assert getattr(permissions, f"may_{rule}")(access_of(who)) is allowed
    check = getattr(permissions, f"check_may_{rule}")
    if allowed:
        check(access_of(who))
    else:
        with pytest.raises(NotFound):
            check(access_of(who))


def test_every_rule_is_in_the_table():
    rules = {name.removeprefix("may_") for name in vars(permissions) if name.startswith("may_")}
    # of something, or of the installation: test_sets, tests/api/test_throttling.py
    assert rules == set(TABLE) | {"give_role", "change_set", "create_collection"}


@pytest.mark.parametrize(
    ("who", "role", "allowed"),
    [
        ("lead", "annotator", True),
        ("lead", "researcher", True),
        ("lead", "lead", False),
        ("lead", ADMIN, False),
        (ADMIN, "lead", True),
        (ADMIN, ADMIN, False),
        ("researcher", "annotator", False),
    ],
)
def test_who_may_give_which_role(who, role, allowed):
    assert permissions.may_give_role(access_of(who), role) is allowed
    if not allowed:
        with pytest.raises(RoleRefused):
            permissions.check_may_give_role(access_of(who), role)


@pytest.mark.django_db
def test_access_is_per_collection_and_ends_with_the_membership_and_the_account():
    make_collection(slug="books")
    make_collection(slug="films", lead="eve", cast=False)
    ada, eve = make_user(username="ada"), make_user(username="eve")
    assert get_access(viewer=ada, slug="books").is_lead
    for viewer, slug in ((ada, "films"), (eve, "books"), (ada, "none"), (AnonymousUser(), "books")):
        with pytest.raises(NotFound):
            get_access(viewer=viewer, slug=slug)
    ada.is_active = False
    with pytest.raises(NotFound):
        get_access(viewer=ada, slug="books")
    Membership.objects.filter(user=eve).update(ended_at="2026-03-15T00:00:00Z")
    with pytest.raises(NotFound):
        get_access(viewer=eve, slug="films")


@pytest.mark.django_db
def test_an_admin_enters_everywhere_and_is_a_member_where_they_are_one():
    make_collection(slug="books")
    root = make_user(username="root", is_superuser=True)
    assert get_access(viewer=root, slug="books").role == ADMIN
    make_collection(slug="films", lead="root", cast=False)
    assert get_access(viewer=root, slug="films").role == Role.LEAD
    with pytest.raises(NotFound):
        get_access(viewer=root, slug="none")
