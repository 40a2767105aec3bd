"""One's own menu, and the log of what was changed."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judgments.audit.services import record
from judgments.models import SideText
from tests.builders import NOW, World

pytestmark = pytest.mark.django_db


def test_the_menu_leads_to_ones_own_password(client: Client, world: World) -> None:
    client.force_login(world.ben)
    assert f'href="{reverse("password")}"' in client.get(reverse("tokens")).text


def test_the_audit_log_says_what_was_given_in_words(client: Client, world: World) -> None:
    given = {"images": False, "people": ["ben", "cem"], "rules": [{"below": 50}], "tags": []}
    entry: dict[str, Any] = {"action": "a.test", "subject": "First", "after": given}
    record(collection=world.collection, actor=None, at=NOW, **entry)
    client.force_login(world.ada)
    (row, *_) = client.get(reverse("audit", args=["books"])).context["page"].rows
    said = [("images", "no"), ("people", "ben, cem"), ("rules", "below 50"), ("tags", "–")]
    assert [(detail.name, detail.after) for detail in row.details] == said
    SideText.objects.all().delete()  # as erasing a person does
    answer = client.get(reverse("audit", args=["books"]))
    (row, *_) = answer.context["page"].rows
    assert (row.action, row.subject, row.details) == ("a.test", "", [])
    assert "(erased)" in answer.text
