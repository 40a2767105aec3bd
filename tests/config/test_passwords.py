"""Passwords that are long and easy to guess are refused wherever one is set."""

import io

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config.passwords import count_surprises
from judgments.members.services import invite, setup_code
from judgments.models import User
from tests.builders import make_access, make_user, make_world

GUESSABLE = [
    "aaaaaaaaaaaa",
    "123456789012",
    "qwertyuiopas",
    "098765432109",
    "ABCDEFGHIJKL",
    "abcabcabcabc",
    "xK7#xK7#xK7#",
    "111122223333",
    "1qaz2wsx3edc",
    "1q2w3e4r5t6y",
    "qwertzuiopas",
    "azertyuiopqs",
    "!@#$%^&*()_+",
    "aaaaaaaaaaaaB7x!",
]
COMMON = [
    "password2026",
    "2026Password!",
    "P@ssw0rd2026",
    "passwordpassword",
    "trustno1trustno1",
    "dragon-2026!!",
    "Touchstone2026",
]
GOOD = [
    "83648262947abc",
    "a long enough password",
    "correct horse battery",
    "T4$kq!9zLmWp",
    "Mississippi river",
    "sesquipedalian",
    "was the poor tree tall",
]


@pytest.mark.parametrize("password", GUESSABLE)
def test_a_password_of_repeats_sequences_or_keyboard_runs_is_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        validate_password(password)
    assert "password_predictable" in {error.code for error in refused.value.error_list}


@pytest.mark.parametrize("password", COMMON)
def test_a_common_password_that_was_made_longer_is_refused(password: str) -> None:
    with pytest.raises(ValidationError) as refused:
        validate_password(password)
    assert "password_too_common" in {error.code for error in refused.value.error_list}


@pytest.mark.parametrize("password", GOOD)
def test_a_password_of_words_or_of_random_characters_is_accepted(password: str) -> None:
    validate_password(password)


def test_case_does_not_make_a_run_less_predictable() -> None:
    assert count_surprises("QwErTyUiOp") == count_surprises("qwertyuiop") == 1
    assert count_surprises("") == 0


@pytest.mark.django_db
@pytest.mark.parametrize("password", GUESSABLE[:3])
def test_set_up_invitation_change_and_command_refuse_a_guessable_password(
    client: Client, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    form = {"username": "fay", "name": "", "password": password}
    assert client.post(reverse("setup"), form | {"code": setup_code()}).status_code == 200
    assert not User.objects.exists()
    world = make_world()
    access = make_access(collection=world.collection)
    _, token = invite(access=access, role="annotator", note="", days=7, at=timezone.now())
    assert client.post(reverse("invitation", args=[token]), form).status_code == 200
    assert not User.objects.filter(username="fay").exists()
    ben = make_user(username="ben")
    ben.set_password(GOOD[0])
    ben.save()
    client.force_login(ben, backend="django.contrib.auth.backends.ModelBackend")
    words = {"old_password": GOOD[0], "new_password1": password, "new_password2": password}
    assert client.post(reverse("password"), words).status_code == 200
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    with pytest.raises(SystemExit):
        call_command("changepassword", "ben")
    ben.refresh_from_db()
    assert ben.check_password(GOOD[0])
