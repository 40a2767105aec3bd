"""A security key in Chromium: added on the page, then used to sign in."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.windows import Place

pytestmark = pytest.mark.browser
BEGIN = """
from datetime import timedelta
from django.utils import timezone
from judgments.accounts.second_factor import begin_set_up, confirm_set_up
from judgments.accounts.totp import STEP, code_at
from judgments.models import User
from judgments.secrets.services import read_secret
ben = User.objects.get(username="ben")
at = timezone.now() - timedelta(seconds=5 * STEP)
begin_set_up(user=ben, at=at)
secret = read_secret(secret=ben.second_factor.secret, origin=f"second-factor:{ben.public_id}")
codes = confirm_set_up(user=ben, code=code_at(secret, int(at.timestamp()) // STEP), at=at)
print(*codes)
"""


def sign_in(page: Page, site: str, password: str) -> None:
    """By name and password, until the second step is asked for."""
    page.goto(f"{site}/login")
    page.get_by_label("Username").fill("ben")
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Two-step sign-in")).to_be_visible()


def enter_code(page: Page, code: str) -> None:
    """In the second step."""
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Two-step sign-in")).to_be_hidden()


def test_a_key_is_added_and_signs_in_and_where_it_is_not_a_code_still_works(
    browser: Browser, place: Place
) -> None:
    first, second, third, *_ = place.site.call("-c", BEGIN).split()
    site = place.site.address.replace("127.0.0.1", "localhost")  # keys know names alone
    with browser.new_context() as context:
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("WebAuthn.enable")
        kind = {"protocol": "ctap2", "transport": "usb", "automaticPresenceSimulation": True}
        made = session.send("WebAuthn.addVirtualAuthenticator", {"options": kind})
        sign_in(page, site, place.passwords["ben"])
        enter_code(page, first)
        page.goto(f"{site}/second-factor")
        page.get_by_label("Name").fill("Blue")
        page.locator("#new_key_code").fill(second)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("button", name="Register key").click()
        expect(page.get_by_text("The security key was added.")).to_be_visible()
        expect(page.get_by_text("Blue")).to_be_visible()
        context.clear_cookies()
        sign_in(page, site, place.passwords["ben"])
        page.get_by_role("button", name="Use security key").click()
        expect(page.get_by_role("heading", name="Two-step sign-in")).to_be_hidden()
        page.goto(f"{site}/sessions")
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        # the wrong key is in the machine
        session.send("WebAuthn.clearCredentials", {"authenticatorId": made["authenticatorId"]})
        context.clear_cookies()
        sign_in(page, site, place.passwords["ben"])
        page.get_by_role("button", name="Use security key").click()
        expect(page.get_by_role("alert")).to_contain_text("did not answer")
        enter_code(page, third)
