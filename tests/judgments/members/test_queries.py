"""People: the first one, invitations, roles, and how a membership ends."""

from datetime import timedelta

import pytest

from judgments.accounts.tokens import TokenRefused, create_token, delete_token
from judgments.members.services import (
    MemberRefused,
    accept_invitation,
    change_role,
    create_first_user,
    end_membership,
    get_invitation,
    invite,
    register_and_accept,
    setup_code,
    withdraw_invitation,
)
from judgments.models import ApiToken, AuditEntry, Invitation, Membership, User
from judgments.permissions import NotFound, RoleRefused, get_access
from tests.builders import NOW, make_access, make_member, make_user

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough pass phrase"


@pytest.fixture
def admin(world):
    root = make_user(username="root", is_superuser=True)
    return get_access(viewer=root, slug=world.collection.slug)


def invited(access, *, role="annotator", days=7, at=NOW):
    return invite(access=access, role=role, note="for Fay", days=days, at=at)


def first_user(**changes):
    values = {"code": setup_code(), "username": "ada", "name": "Ada", "password": PASSWORD}
    return create_first_user(**(values | changes), at=NOW)


def test_the_first_person_needs_the_code_and_is_the_admin():
    with pytest.raises(MemberRefused, match="Wrong code"):
        first_user(code="wrong")
    made = first_user()
    assert made.is_superuser
    assert made.check_password(PASSWORD)
    assert AuditEntry.objects.get().action == "installation.set_up"


def test_there_is_no_second_first_person():
    first_user()
    with pytest.raises(NotFound):
        first_user(username="eve")


@pytest.mark.parametrize(
    "changes", [{"password": "short"}, {"password": "ada"}, {"username": "a b"}, {"username": ""}]
)
def test_an_account_needs_a_proper_name_and_password(changes):
    with pytest.raises(MemberRefused):
        first_user(**changes)
    assert not User.objects.exists()


def test_an_invitation_keeps_only_a_hash_and_works_once(world, ada):
    invitation, token = invited(ada)
    assert token not in str(Invitation.objects.values().get())
    made = register_and_accept(token=token, username="fay", name="", password=PASSWORD, at=NOW)
    assert Membership.objects.get(user=made).role == "annotator"
    invitation.refresh_from_db()
    assert (invitation.accepted_by, invitation.accepted_at) == (made, NOW)
    with pytest.raises(NotFound):
        accept_invitation(token=token, user=world.eve, at=NOW)
    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert actions[-2:] == ["invitation.created", "member.joined"]
    assert token not in str(list(AuditEntry.objects.values("action", "detail__text")))


def test_an_invitation_that_is_too_old_or_withdrawn_does_not_work(world, ada):
    invitation, token = invited(ada, days=1)
    with pytest.raises(NotFound):
        get_invitation(token=token, at=NOW + timedelta(days=1))
    withdraw_invitation(access=ada, invitation_id=invitation.pk, at=NOW)
    with pytest.raises(NotFound):
        accept_invitation(token=token, user=world.eve, at=NOW)
    with pytest.raises(NotFound):
        withdraw_invitation(access=ada, invitation_id=invitation.pk, at=NOW)


def test_a_refused_account_leaves_the_invitation_open(world, ada):
    _, token = invited(ada)
    with pytest.raises(MemberRefused, match="exists"):
        register_and_accept(token=token, username="ben", name="", password=PASSWORD, at=NOW)
    assert get_invitation(token=token, at=NOW).role == "annotator"


def test_a_member_does_not_use_an_invitation_up(world, ada):
    _, token = invited(ada, role="researcher")
    with pytest.raises(MemberRefused, match="already a member"):
        accept_invitation(token=token, user=world.ben, at=NOW)
    assert Membership.objects.get(user=world.ben).role == "annotator"
    assert accept_invitation(token=token, user=world.eve, at=NOW).role == "researcher"


def test_leads_invite_annotators_and_researchers_and_admins_leads(ada, admin):
    with pytest.raises(RoleRefused):
        invited(ada, role="lead")
    assert invited(admin, role="lead")[0].role == "lead"
    with pytest.raises(MemberRefused):
        invited(ada, days=365)


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_nobody_else_manages_members(world, username):
    access = make_access(collection=world.collection, username=username)
    with pytest.raises(NotFound):
        invited(access)
    with pytest.raises(NotFound):
        change_role(access=access, username=username, role="lead", at=NOW)
    with pytest.raises(NotFound):
        end_membership(access=access, username="cem", at=NOW)


def test_a_change_of_role_is_written_down(world, ada):
    change_role(access=ada, username="ben", role="researcher", at=NOW)
    assert Membership.objects.get(user=world.ben).role == "researcher"
    entry = AuditEntry.objects.get(action="member.role_changed")
    assert (entry.before, entry.after) == ({"role": "annotator"}, {"role": "researcher"})


def test_a_lead_makes_no_leads_and_unmakes_none(world, ada, admin):
    with pytest.raises(RoleRefused):
        change_role(access=ada, username="ben", role="lead", at=NOW)
    change_role(access=admin, username="ben", role="lead", at=NOW)
    with pytest.raises(RoleRefused):
        change_role(access=ada, username="ben", role="annotator", at=NOW)
    with pytest.raises(RoleRefused):
        end_membership(access=ada, username="ben", at=NOW)


def test_a_collection_keeps_its_last_lead(world, ada, admin):
    with pytest.raises(MemberRefused, match="at least one lead"):
        end_membership(access=ada, username="ada", at=NOW)
    with pytest.raises(MemberRefused, match="at least one lead"):
        change_role(access=admin, username="ada", role="annotator", at=NOW)
    assert Membership.objects.get(user=world.ada, collection=world.collection).role == "lead"
    make_member(collection=world.collection, username="fay", role="lead")
    end_membership(access=ada, username="ada", at=NOW)


def test_whoever_left_sees_nothing_and_comes_back_under_the_same_pseudonym(world, ada):
    before = Membership.objects.get(user=world.ben).pseudonym
    end_membership(access=ada, username="ben", at=NOW)
    with pytest.raises(NotFound):
        get_access(viewer=world.ben, slug=world.collection.slug)
    _, token = invited(ada, role="researcher")
    back = accept_invitation(token=token, user=world.ben, at=NOW)
    assert (back.pseudonym, back.role, back.ended_at) == (before, "researcher", None)
    assert Membership.ever.filter(user=world.ben).count() == 1


def test_a_member_of_another_collection_is_not_found(world, ada):
    with pytest.raises(NotFound):
        change_role(access=ada, username="eve", role="annotator", at=NOW)
    with pytest.raises(NotFound):
        end_membership(access=ada, username="eve", at=NOW)


def test_a_token_is_shown_once_stored_hashed_and_ones_own(world):
    token, text = create_token(by=world.dora, name="nightly", scope="write", days=30, at=NOW)
    assert text not in str(ApiToken.objects.values().get())
    with pytest.raises(NotFound):
        delete_token(by=world.eve, token_key=token.token_key, at=NOW)
    delete_token(by=world.dora, token_key=token.token_key, at=NOW)
    assert not ApiToken.objects.exists()
    made, deleted = AuditEntry.objects.filter(actor=world.dora).order_by("id")
    assert (made.action, deleted.action) == ("token.created", "token.deleted")


def test_a_token_without_an_end_or_a_known_scope_is_refused(world):
    for scope, days in (("read", 0), ("read", 10_000), ("admin", 30)):
        with pytest.raises(TokenRefused):
            create_token(by=world.dora, name="t", scope=scope, days=days, at=NOW)
