"""The pages of webhooks: a secret is shown once; the log shows every attempt."""

import pytest
from django.test import Client

from judgments.messages.sending import send_due
from judgments.models import WebhookEndpoint
from judgments.outgoing.rules import read_origins
from tests.builders import NOW, make_world
from tests.judgments.outgoing.servers import answer, serving

pytestmark = pytest.mark.django_db


def test_a_lead_creates_one_tests_it_and_sends_again(settings, tmp_path):
    settings.HOME = tmp_path
    ada = Client()
    ada.force_login(make_world().ada)
    with serving(answer(b"", status="503 Busy")) as server:
        settings.OUTGOING = read_origins([server.entry])
        form = {"url": f"{server.url}/hook", "events": ["release.created"]}
        made = ada.post("/c/books/webhooks", form).content.decode()
        assert "whsec_" in made
        assert "whsec_" not in ada.get("/c/books/webhooks").content.decode()
        page = f"/c/books/webhooks/{WebhookEndpoint.objects.get().public_id}"
        ada.post(f"{page}/test")
        send_due(clock=lambda: NOW.replace(year=2100))
        shown = ada.get(page).content.decode()
        assert "Status 503" in shown
        assert "1 attempt<" in shown
        delivery = WebhookEndpoint.objects.get().deliveries.get()
        ada.post(f"{page}/deliveries/{delivery.public_id}/replay")
        send_due(clock=lambda: NOW.replace(year=2100))
    assert "2 attempts<" in ada.get(page).content.decode()
    assert ada.post(f"{page}/delete").headers["Location"] == "/c/books/webhooks"
    assert ada.get(page).status_code == 404
