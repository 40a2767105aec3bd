"""A security key in Chromium: added on the page, then used to sign in."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.running_server import running_server

pytestmark = pytest.mark.browser
PASSWORD = "sturdy-otter-42-lamp"
SEED = f"""
import json
import django
django.setup()
from datetime import timedelta
from django.utils import timezone
from judgments.accounts.second_factor import begin_set_up, confirm_set_up
from judgments.accounts.totp import STEP, code_at
from judgments.secrets.services import read_secret
from tests.builders import make_world
ben = make_world().ben
ben.set_password("{PASSWORD}")
ben.save()
at = timezone.now() - timedelta(seconds=5 * STEP)
begin_set_up(user=ben, at=at)
secret = read_secret(secret=ben.second_factor.secret, origin=f"second-factor:{{ben.public_id}}")
codes = confirm_set_up(user=ben, code=code_at(secret, int(at.timestamp()) // STEP), at=at)
print(json.dumps({{"CODES": " ".join(codes)}}))
"""


def give_key(page: Page) -> None:
    """A virtual authenticator, which touches itself."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    kind = {"protocol": "ctap2", "transport": "usb", "automaticPresenceSimulation": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": kind})


def with_password(page: Page, site: str) -> None:
    page.goto(f"{site}/login")
    page.get_by_label("Username").fill("ben")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Two-step sign-in")).to_be_visible()


def test_a_key_is_added_and_signs_in(
    browser: Browser, tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    with running_server(make_home(tmp_path / "home"), seed=SEED) as server:
        site = server["TOUCHSTONE"].replace("127.0.0.1", "localhost")  # keys know names alone
        first, second, *_ = server["CODES"].split()
        page = browser.new_context().new_page()
        give_key(page)
        with_password(page, site)
        page.get_by_label("Code").fill(first)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.goto(f"{site}/second-factor")
        page.get_by_label("Name").fill("Blue")
        page.locator("#new_key_code").fill(second)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("button", name="Register key").click()
        expect(page.get_by_text("The security key was added.")).to_be_visible()
        expect(page.get_by_text("Blue")).to_be_visible()
        page.context.clear_cookies()
        with_password(page, site)
        page.get_by_role("button", name="Use security key").click()
        expect(page.get_by_role("heading", name="Two-step sign-in")).to_be_hidden()
        page.goto(f"{site}/sessions")
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        page.context.close()


def test_a_browser_without_the_key_says_so_and_a_code_still_works(
    browser: Browser, tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    with running_server(make_home(tmp_path / "home"), seed=SEED) as server:
        site = server["TOUCHSTONE"].replace("127.0.0.1", "localhost")
        first, second, *_ = server["CODES"].split()
        page = browser.new_context().new_page()
        session = page.context.new_cdp_session(page)
        session.send("WebAuthn.enable")
        kind = {"protocol": "ctap2", "transport": "usb", "automaticPresenceSimulation": True}
        made = session.send("WebAuthn.addVirtualAuthenticator", {"options": kind})
        with_password(page, site)
        page.get_by_label("Code").fill(first)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.goto(f"{site}/second-factor")
        page.get_by_label("Name").fill("Blue")
        page.locator("#new_key_code").fill(second)
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("button", name="Register key").click()
        expect(page.get_by_text("The security key was added.")).to_be_visible()
        # the wrong key is in the machine
        session.send("WebAuthn.clearCredentials", {"authenticatorId": made["authenticatorId"]})
        page.context.clear_cookies()
        with_password(page, site)
        page.get_by_role("button", name="Use security key").click()
        expect(page.get_by_role("alert")).to_contain_text("did not answer")
        page.context.close()
