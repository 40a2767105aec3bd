"""A Touchstone where sign-on is configured: allauth is installed for these tests alone."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.test import Client, override_settings

from config.settings import sign_on_settings
from tests.judgments.sign_on.provider import Provider, serving_provider

GRANTS = ("raters=annotator@books", "leads=lead@books", "it=administrator")
APPS = ("account", "socialaccount")


class Desk:
    """Browsers at a Touchstone, and its identity provider."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    def begin(self, browser: Client, subject: str, following: str = "") -> str:
        """Go to the provider and sign in there; the path that it sends the browser back to."""
        sent = browser.get("/sign-on", {"next": following} if following else {})
        assert sent.status_code == 302, sent.text
        back = urlsplit(self.provider.authorize(sent["Location"], subject))
        return f"{back.path}?{back.query}"

    def sign_on(self, subject: str, **claims: object) -> Client:
        self.provider.set_claims(subject, **claims)
        browser = Client()
        browser.get(self.begin(browser, subject))
        return browser

    @staticmethod
    def code_of(path: str) -> str:
        return parse_qs(urlsplit(path).query)["code"][0]


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with serving_provider() as served:
        yield served


@pytest.fixture(scope="module")
def installed(
    provider: Provider, django_db_setup: None, django_db_blocker: object
) -> Iterator[None]:
    """Allauth's tables, and the settings that an administrator's environment makes."""
    made = sign_on_settings(
        issuer=provider.issuer, client="touchstone", secret="secret", groups=list(GRANTS)
    )
    installed = [*settings.INSTALLED_APPS, *made.pop("INSTALLED_APPS")]
    changed = {
        **made,
        "MIDDLEWARE": [*settings.MIDDLEWARE, *made["MIDDLEWARE"]],
        "ROOT_URLCONF": "tests.judgments.sign_on.urls",
    }
    with (
        override_settings(**changed),  # first: allauth looks at them when it is installed
        override_settings(INSTALLED_APPS=installed),
        django_db_blocker.unblock(),  # type: ignore[attr-defined]
    ):
        models = [model for name in APPS for model in apps.get_app_config(name).get_models()]
        with connection.schema_editor() as editor:
            for model in models:
                editor.create_model(model)
        yield
        with connection.schema_editor() as editor:
            for model in reversed(models):
                editor.delete_model(model)


@pytest.fixture
def desk(installed: None, provider: Provider, db: None) -> Desk:
    return Desk(provider)
