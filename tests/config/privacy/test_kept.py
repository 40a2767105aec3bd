"""What is kept about a person, for the person and for administrators."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, GoldItem, Label, LabellingPreferences, LabelTiming
from config.privacy.erasing import OWN, TEXTS_OF
from config.privacy.kept import SECTIONS, list_sections
from judgments.models import RecoveryCode, User
from tests.architecture.test_side_texts import campaign, world  # noqa: F401 (fixtures)
from tests.builders import World, make_user
from tests.config.privacy.traces import EMAIL, NAME, USERNAME, WORDS, leave_traces

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_home(settings: Any, tmp_path: Any) -> None:
    settings.HOME, settings.ERASURES = tmp_path, str(tmp_path / "ledger.jsonl")


def client_for(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def read(client: Client, name: str, *args: str) -> Any:
    answer: Any = client.get(reverse(name, args=args))
    assert answer["Content-Type"].startswith("application/json")
    return json.loads(b"".join(answer.streaming_content))


def test_a_person_gets_every_label_with_what_they_wrote_and_nothing_of_gold(
    world: World,  # noqa: F811
    campaign: Campaign,  # noqa: F811
) -> None:
    leave_traces()
    ben = User.objects.get(username=USERNAME)
    said = read(client_for(ben), "kept-file")
    assert (said["account"]["name"], said["account"]["email"]) == (NAME, EMAIL)
    own_qs = Label.objects.filter(annotator=ben)
    assert len(said["labels"]) == own_qs.count()
    assert next(one for one in said["labels"] if one["note"] == WORDS)["seconds"] == 4.5
    assert {one["campaign"] for one in said["labels"]} == {"First"}
    assert said["thread_messages"][0]["text"] == WORDS
    assert said["api_tokens"][0]["name"] == WORDS
    assert GoldItem.objects.exists()
    assert set(said["labels"][0]) == {
        "campaign", "query", "document", "outcome", "grade", "reason", "note", "received_at",
        "made_at", "seconds",
    }  # fmt: skip
    # of others, and for others, nothing
    assert read(client_for(world.eve), "kept-file")["labels"] == []
    root = client_for(make_user(username="root", is_superuser=True))
    assert read(root, "account-kept", USERNAME)["labels"] == said["labels"]
    assert client_for(world.ada).get(reverse("account-kept", args=[USERNAME])).status_code == 404


def test_the_page_counts_what_the_file_holds(
    world: World,  # noqa: F811
    campaign: Campaign,  # noqa: F811
) -> None:
    leave_traces()
    client = client_for(User.objects.get(username=USERNAME))
    page = client.get(reverse("kept"))
    counts = {section.key: section.count for section in page.context["sections"]}
    said = read(client, "kept-file")
    assert {key: len(said[key]) for key in counts if key != "sessions"} == {
        key: count for key, count in counts.items() if key != "sessions"
    }
    assert f'href="{reverse("kept-file")}"' in page.text


def test_whatever_is_erased_is_shown_before(world: World) -> None:  # noqa: F811
    shown = {section.find(world.ben).model for section in SECTIONS}
    erased = {model for model, *_ in (*TEXTS_OF, *OWN)}
    # timing comes with the labels, and of recovery codes there are hashes alone
    assert erased - {LabelTiming, RecoveryCode} <= shown
    assert LabellingPreferences in shown
    assert len({section.key for section in list_sections(world.ben)}) == len(SECTIONS)


def test_an_administrator_types_the_username_to_erase(world: World) -> None:  # noqa: F811
    client = client_for(make_user(username="root", is_superuser=True))
    address = reverse("account-erase", args=["ben"])
    assert client.post(address, {"username": "cem"}).context["form"].errors["username"]
    assert not User.objects.get(pk=world.ben.pk).erased_at
    assert client.post(address, {"username": "Ben"})["Location"] == reverse("accounts")
    erased = User.objects.get(pk=world.ben.pk)
    assert erased.erased_at
    page = client.get(reverse("account", args=[erased.username]))
    assert ">erased<" in page.text
    assert reverse("account-erase", args=[erased.username]) not in page.text


def test_the_last_administrator_is_told_why_not() -> None:
    root = make_user(username="root", is_superuser=True)
    answer = client_for(root).post(reverse("account-erase", args=["root"]), {"username": "root"})
    assert "last active administrator" in str(answer.context["form"].non_field_errors())
