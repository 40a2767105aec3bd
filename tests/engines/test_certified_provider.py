"""Complete sign-ons with npm's certified oidc-provider, and what it and Touchstone refuse.

The same with oidc-provider-mock, and with dishonest providers, is in tests/judgments/sign_on.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client

from judgments.accounts.services import suspend_account
from judgments.models import Membership, User
from tests.builders import NOW, make_collection, make_user
from tests.engines.certified_provider import CertifiedProvider, certified_provider
from tests.judgments.sign_on.conftest import Desk, desk, installed  # noqa: F401 (fixtures)
from tests.judgments.sign_on.test_sign_on import (  # a test of both providers among them
    model,
    name_of,
    refusal,
    role_of,
    test_a_stolen_code_is_worth_nothing_without_its_verifier,  # noqa: F401
)


@pytest.fixture(scope="session")
def provider() -> Iterator[CertifiedProvider]:
    with certified_provider() as served:
        yield served


@pytest.fixture(autouse=True)
def books(desk: Desk) -> None:  # noqa: F811
    make_collection(slug="books")


def test_a_whole_sign_on_with_code_and_pkce_gives_the_roles_of_the_groups(desk: Desk) -> None:  # noqa: F811
    claims: dict[str, Any] = {"preferred_username": "cleo", "name": "Cleo", "email": "c@x.example"}
    browser = desk.sign_on("s-1", **claims, email_verified=True, groups=["raters", "other"])
    assert name_of(browser) == "cleo"
    asked = desk.provider.asked[-1]
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert len(asked["code_challenge"]) == 43
    cleo = User.objects.get(username="cleo")
    assert (cleo.name, cleo.email, role_of("cleo")) == ("Cleo", "c@x.example", "annotator")
    link = model("socialaccount.SocialAccount").objects.get()
    assert (link.uid, link.extra_data) == ("s-1", {})
    desk.sign_on("s-1", **claims, groups=["leads"])
    assert role_of("cleo") == "lead"
    desk.sign_on("s-1", **claims, groups=["it"])
    cleo.refresh_from_db()
    assert (role_of("cleo"), cleo.is_superuser) == ("", True)


def test_an_address_that_is_not_verified_is_not_kept_and_takes_no_account(desk: Desk) -> None:  # noqa: F811
    ben = make_user(username="ben")
    claims: dict[str, Any] = {"preferred_username": "ben", "email": ben.email, "groups": ["raters"]}
    assert name_of(desk.sign_on("s-eve", **claims, email_verified=False)) == "ben-2"
    assert not User.objects.get(username="ben-2").email


def test_the_provider_refuses_a_request_without_a_challenge(desk: Desk) -> None:  # noqa: F811
    browser = Client()
    url = browser.get("/sign-on")["Location"]
    parts = urlsplit(url)
    bare = [(k, v) for k, v in parse_qsl(parts.query) if not k.startswith("code_challenge")]
    back = desk.provider.authorize(parts._replace(query=urlencode(bare)).geturl(), "s-2")
    assert "error=invalid_request" in back
    browser.get(back.removeprefix("http://testserver"))
    assert not name_of(browser)


def test_the_provider_refuses_a_code_that_was_used(desk: Desk) -> None:  # noqa: F811
    desk.provider.set_claims("s-used", preferred_username="used", groups=["raters"])
    browser = Client()
    back = desk.begin(browser, "s-used")
    browser.get(back)
    assert name_of(browser) == "used"
    other = Client()
    own = desk.begin(other, "s-used")
    other.get(own.replace(desk.code_of(own), desk.code_of(back)))
    assert not name_of(other)


def test_the_provider_sends_codes_to_no_other_address(desk: Desk) -> None:  # noqa: F811
    url = Client().get("/sign-on")["Location"]
    with pytest.raises(ValueError, match="redirect_uri"):
        desk.provider.authorize(url.replace("testserver", "evil.example"), "s-3")


def test_a_wrong_secret_of_touchstone_signs_in_no_one(desk: Desk, settings: Any) -> None:  # noqa: F811
    (app,) = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    changed = {"OAUTH_PKCE_ENABLED": True, "APPS": [{**app, "secret": "guessed"}]}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": changed}
    browser = desk.sign_on("s-4", preferred_username="four", groups=["raters"])
    assert not name_of(browser)
    assert "failed" in refusal(browser)


def test_a_wrong_or_anothers_state_is_refused(desk: Desk) -> None:  # noqa: F811
    desk.provider.set_claims("s-state", preferred_username="state", groups=["raters"])
    browser, other = Client(), Client()
    back = desk.begin(browser, "s-state")
    other.get(back)
    assert not name_of(other)
    browser.get(re.sub(r"state=\w+", "state=guessed", back))
    assert not name_of(browser)
    browser.get(back)
    assert name_of(browser) == "state"


def test_who_refuses_at_the_provider_is_back_at_the_sign_in_page(desk: Desk) -> None:  # noqa: F811
    browser = Client()
    browser.get(desk.begin(browser, ""))
    assert not name_of(browser)
    assert "failed" in refusal(browser)


def test_suspended_unknown_and_without_a_group_are_refused(desk: Desk, settings: Any) -> None:  # noqa: F811
    make_user(username="root", is_superuser=True)
    claims: dict[str, Any] = {"preferred_username": "sus", "groups": ["raters"]}
    assert name_of(desk.sign_on("s-sus", **claims)) == "sus"
    again = desk.sign_on("s-sus", **claims | {"groups": ["other"]})
    assert (name_of(again), "no group" in refusal(again)) == ("", True)
    assert not Membership.objects.filter(user__username="sus").exists()
    suspend_account(user=User.objects.get(username="sus"), by=None, at=NOW)
    again = desk.sign_on("s-sus", **claims)
    assert (name_of(again), "suspended" in refusal(again)) == ("", True)
    settings.SIGN_ON_CREATES = False
    new = desk.sign_on("s-new", preferred_username="new", groups=["raters"])
    assert (name_of(new), "No account is linked" in refusal(new)) == ("", True)
