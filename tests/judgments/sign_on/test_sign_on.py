"""Complete sign-ons with a provider on loopback, and every way in which one is refused."""

import re
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone

from judgments.accounts.services import suspend_account
from judgments.accounts.tokens import create_token
from judgments.models import ApiToken, AuditEntry, Membership, Session, User
from judgments.sign_on.rules import SignOnRefused
from tests.builders import NOW, make_collection, make_user
from tests.judgments.sign_on.conftest import Desk

pytestmark = [
    pytest.mark.first_pass,
    pytest.mark.xdist_group("sign-on"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what the provider is built on
]
PASSWORD = "sturdy-otter-42-lamp"


@pytest.fixture(autouse=True)
def books(desk: Desk) -> None:
    make_collection(slug="books")


def name_of(browser: Client) -> str:
    """Who is signed in; empty for no one."""
    key = browser.session.get("_auth_user_id")
    return User.objects.get(pk=key).username if key else ""


def refusal(browser: Client) -> str:
    """What the sign-in page says."""
    return " ".join(re.findall(r"Not signed in\.[^<]*", browser.get("/login").text))


def model(name: str) -> Any:
    """A model of allauth's."""
    return apps.get_model(name)


def role_of(username: str) -> str:
    return "".join(
        Membership.objects.filter(user__username=username).values_list("role", flat=True)
    )


def test_somebody_new_gets_an_account_and_the_roles_of_their_groups(desk: Desk) -> None:
    claims: dict[str, Any] = {"preferred_username": "cleo", "name": "Cleo", "email": "c@x.example"}
    browser = desk.sign_on("s-1", **claims, email_verified=True, groups=["raters", "other"])
    assert name_of(browser) == "cleo"
    assert browser.session["signed_on"]  # so that no second factor is asked for here
    asked = desk.provider.asked[-1]
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) >= 16
    cleo = User.objects.get(username="cleo")
    assert (cleo.name, cleo.email) == ("Cleo", "c@x.example")
    assert not cleo.has_usable_password()
    assert role_of("cleo") == "annotator"
    # of the claims, nothing else is kept beside the account but the subject
    link = model("socialaccount.SocialAccount").objects.get()
    assert (link.uid, link.extra_data) == ("s-1", {})
    assert not model("account.EmailAddress").objects.exists()
    # the groups of each day count, and it stays the same account
    desk.sign_on("s-1", **claims, groups=["leads"])
    assert role_of("cleo") == "lead"
    desk.sign_on("s-1", **claims, groups=["it"])
    assert role_of("cleo") == ""
    cleo.refresh_from_db()
    assert cleo.is_superuser
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {
        "account.signed_on_first",
        "sign_in.succeeded",
        "member.joined",
        "member.role_changed",
    } <= actions
    link.refresh_from_db()
    assert link.extra_data == {}


def test_the_page_that_was_asked_for_comes_after_the_sign_on_and_no_other_site(desk: Desk) -> None:
    desk.provider.set_claims("s-next", preferred_username="next", groups=["raters"])
    for following, arrives in (("/sessions", "/sessions"), ("https://evil.example/", "/")):
        browser = Client()
        back = browser.get(desk.begin(browser, "s-next", following))
        assert back["Location"] == arrives


def test_an_account_is_not_taken_over_by_name_or_address(desk: Desk) -> None:
    """A person who can choose these at the provider must not become Ben."""
    ben = make_user(username="ben")
    eve = {"preferred_username": "Ben", "email": ben.email, "groups": ["raters"]}
    browser = desk.sign_on("s-eve", **eve, email_verified=False)
    assert name_of(browser) == "Ben-2"
    assert not User.objects.get(username="Ben-2").email
    assert name_of(desk.sign_on("s-eve-2", **eve, email_verified=True)) == "Ben-3"


def test_a_wrong_a_used_or_another_browsers_state_is_refused(desk: Desk) -> None:
    desk.provider.set_claims("s-state", preferred_username="state", groups=["raters"])
    browser, other = Client(), Client()
    back = desk.begin(browser, "s-state")
    desk.begin(other, "s-state")
    other.get(back)  # a link that someone sends to sign another in as themselves
    assert not name_of(other)
    assert "failed" in refusal(other)
    browser.get(re.sub(r"state=\w+", "state=guessed", back))
    assert not name_of(browser)
    browser.get(re.sub(r"&?state=\w+", "", back))
    assert not name_of(browser)
    browser.get(back)
    assert name_of(browser) == "state"
    again = Client()
    again.get(back)
    assert not name_of(again)


def test_a_stolen_code_is_worth_nothing_without_its_verifier(desk: Desk) -> None:
    desk.provider.set_claims("s-victim", preferred_username="victim", groups=["leads"])
    victim, thief = Client(), Client()
    stolen = desk.code_of(desk.begin(victim, "s-victim"))
    own = desk.begin(thief, "s-thief")
    thief.get(own.replace(desk.code_of(own), stolen))
    assert not name_of(thief)
    assert "failed" in refusal(thief)
    assert not User.objects.filter(username="victim").exists()


def test_a_token_of_another_issuer_is_refused(desk: Desk) -> None:
    desk.provider.issues_as = "evil.example"
    try:
        browser = desk.sign_on("s-issuer", preferred_username="issuer", groups=["raters"])
    finally:
        desk.provider.issues_as = ""
    assert not name_of(browser)
    assert "failed" in refusal(browser)


def test_claims_about_another_subject_are_refused(desk: Desk) -> None:
    desk.provider.describes = "s-cleo"
    try:
        browser = desk.sign_on("s-other", preferred_username="other", groups=["raters"])
    finally:
        desk.provider.describes = ""
    assert not name_of(browser)
    assert "somebody else" in refusal(browser)


def test_who_cancels_at_the_provider_is_back_at_the_sign_in_page(desk: Desk) -> None:
    browser = Client()
    back = desk.begin(browser, "s-cancel")
    browser.get(re.sub(r"code=[^&]+", "error=access_denied", back))
    assert not name_of(browser)
    assert "failed" in refusal(browser)


def test_a_suspended_account_is_refused(desk: Desk) -> None:
    claims: dict[str, Any] = {"preferred_username": "sus", "groups": ["raters"]}
    browser = desk.sign_on("s-sus", **claims)
    make_user(username="root", is_superuser=True)
    suspend_account(user=User.objects.get(username="sus"), by=None, at=NOW)
    assert browser.get("/sessions").status_code == 302
    again = desk.sign_on("s-sus", **claims)
    assert not name_of(again)
    assert "suspended" in refusal(again)
    assert AuditEntry.objects.filter(action="sign_in.failed").count() == 1


def test_a_subject_without_an_account_is_refused_where_none_are_created(
    desk: Desk, settings: Any
) -> None:
    settings.SIGN_ON_CREATES = False
    browser = desk.sign_on("s-new", preferred_username="new", groups=["raters"])
    assert not name_of(browser)
    assert "No account is linked" in refusal(browser)
    assert not User.objects.filter(username="new").exists()


def test_who_has_left_all_groups_loses_roles_sessions_and_tokens(desk: Desk) -> None:
    make_user(username="root", is_superuser=True)
    elsewhere = desk.sign_on("s-gone", preferred_username="gone", groups=["leads", "it"])
    gone = User.objects.get(username="gone")
    assert gone.is_superuser
    create_token(by=gone, name="ci", scope="read", days=30, at=timezone.now())
    again = desk.sign_on("s-gone", preferred_username="gone", groups=["other"])
    assert not name_of(again)
    assert "no group" in refusal(again)
    assert not User.objects.get(username="gone").is_superuser
    assert role_of("gone") == ""
    assert elsewhere.get("/sessions").status_code == 302
    assert not Session.objects.filter(user=gone).exists()
    assert not ApiToken.objects.filter(user=gone).exists()


def test_an_account_that_exists_can_be_linked_to_a_subject(desk: Desk) -> None:
    from judgments.sign_on.linking import link_account

    ben, cem = make_user(username="ben"), make_user(username="cem")
    assert link_account(user=ben, subject="s-ben", by=None, at=NOW)
    assert not link_account(user=ben, subject="s-ben", by=None, at=NOW)
    with pytest.raises(SignOnRefused):
        link_account(user=cem, subject="s-ben", by=None, at=NOW)
    assert name_of(desk.sign_on("s-ben", preferred_username="x", groups=["raters"])) == "ben"


def test_with_sign_on_only_a_password_signs_in_the_break_glass_account_alone(
    desk: Desk, settings: Any
) -> None:
    settings.SIGN_ON_ONLY, settings.BREAK_GLASS = True, "root"
    for username in ("ben", "root"):
        user = make_user(username=username)
        user.set_password(PASSWORD)
        user.save()
    said = {}
    for username in ("ben", "ROOT"):
        browser = Client()
        answer = browser.post("/login", {"username": username, "password": PASSWORD})
        said[username] = name_of(browser), answer.status_code
    assert said == {"ben": ("", 200), "ROOT": ("root", 302)}
    assert AuditEntry.objects.filter(action="account.break_glass", actor__username="root").exists()


def test_a_provider_that_is_away_is_said_so(desk: Desk, settings: Any) -> None:
    apps_of = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]
    away = {**apps_of, "settings": {"server_url": "http://127.0.0.1:9"}}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [away]}}
    browser = Client()
    assert browser.get("/sign-on")["Location"] == "/login"
    assert "failed" in refusal(browser)
