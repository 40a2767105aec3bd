"""Secrets of other servers: encrypted, for one server, under keys that can be replaced."""

import io
import json

import pytest
from django.core.management import call_command

from judgments.models import Secret
from judgments.secrets.keys import SecretRefused
from judgments.secrets.services import erase_secret, read_secret, rotate_secrets, store_secret
from tests.builders import NOW, make_collection

pytestmark = pytest.mark.django_db

ORIGIN = "https://search.example"
VALUE = "sesame-8Q2x"


@pytest.fixture(autouse=True)
def home(settings, tmp_path):
    settings.HOME = tmp_path
    settings.ENCRYPTION_KEYS = []
    return tmp_path


def make_secret(*, value=VALUE, origin=ORIGIN):
    collection = make_collection(cast=False)
    return store_secret(collection=collection, value=value, origin=origin, by=None, at=NOW)


def code_of(call):
    with pytest.raises(SecretRefused) as refused:
        call()
    return refused.value.code


def test_what_is_stored_is_read_again_and_not_in_the_database(home):
    secret = Secret.objects.get(pk=make_secret().pk)
    assert read_secret(secret=secret, origin=ORIGIN) == VALUE
    assert VALUE not in secret.ciphertext
    keys = home / "encryption_keys"
    assert keys.stat().st_mode & 0o777 == 0o600


def test_a_secret_goes_to_the_server_that_it_was_stored_for_alone():
    secret = make_secret()
    for origin in ("http://search.example", "https://search.example:8443", "https://evil.example"):
        assert code_of(lambda o=origin: read_secret(secret=secret, origin=o)) == "secret_elsewhere"


def test_a_ciphertext_copied_to_another_row_or_a_changed_origin_is_not_read():
    first = make_secret()
    other = store_secret(
        collection=first.collection, value="x", origin="https://evil.example", by=None, at=NOW
    )
    other.ciphertext = first.ciphertext
    read = lambda: read_secret(secret=other, origin="https://evil.example")  # noqa: E731
    assert code_of(read) == "secret_unreadable"
    first.origin = "https://evil.example"
    moved = lambda: read_secret(secret=first, origin="https://evil.example")  # noqa: E731
    assert code_of(moved) == "secret_unreadable"


@pytest.mark.parametrize("value", ["", "two\nlines", "x" * 4001])
def test_a_value_that_no_header_can_carry_is_refused(value):
    assert code_of(lambda: make_secret(value=value)) == "secret_invalid"


def test_production_without_a_key_says_which_variable_is_missing(settings):
    settings.PRODUCTION = True
    with pytest.raises(SecretRefused, match="TOUCHSTONE_ENCRYPTION_KEYS") as refused:
        make_secret()
    assert refused.value.code == "encryption_key_missing"
    assert not Secret.objects.exists()


def test_after_a_rotation_the_first_key_is_enough(settings):
    settings.ENCRYPTION_KEYS = ["old-" * 8]
    secret = make_secret()
    settings.ENCRYPTION_KEYS = ["new-" * 8, "old-" * 8]
    assert read_secret(secret=secret, origin=ORIGIN) == VALUE
    assert (rotate_secrets().encrypted, rotate_secrets().unreadable) == (1, 0)
    settings.ENCRYPTION_KEYS = ["new-" * 8]
    secret.refresh_from_db()
    assert read_secret(secret=secret, origin=ORIGIN) == VALUE


def test_a_secret_under_a_lost_key_is_counted_kept_and_cannot_be_read(settings):
    settings.ENCRYPTION_KEYS = ["lost" * 8]
    secret = make_secret()
    before = secret.ciphertext
    settings.ENCRYPTION_KEYS = ["another-" * 8]
    assert rotate_secrets().unreadable == 1
    secret.refresh_from_db()
    assert secret.ciphertext == before
    assert code_of(lambda: read_secret(secret=secret, origin=ORIGIN)) == "secret_unreadable"


def test_the_command_adds_a_key_and_the_old_one_can_go(home, capsys):
    secret = make_secret()
    old = (home / "encryption_keys").read_text().strip()
    out = io.StringIO()
    call_command("rotate_secrets", "--new-key", "--json", stdout=out)
    counts = json.loads(out.getvalue())
    assert (counts["encrypted"], counts["unreadable"]) == (1, 0)
    keys = (home / "encryption_keys").read_text().split()
    assert keys[1:] == [old]
    assert (home / "encryption_keys").stat().st_mode & 0o777 == 0o600
    (home / "encryption_keys").write_text(keys[0])
    secret.refresh_from_db()
    assert read_secret(secret=secret, origin=ORIGIN) == VALUE


def test_a_key_file_that_others_can_read_is_refused(home):
    secret = make_secret()
    (home / "encryption_keys").chmod(0o644)
    read = lambda: read_secret(secret=secret, origin=ORIGIN)  # noqa: E731
    assert code_of(read) == "encryption_key_exposed"


def test_a_removed_secret_is_gone():
    secret = make_secret()
    erase_secret(secret=secret)
    assert Secret.objects.get().ciphertext == ""
    assert code_of(lambda: read_secret(secret=secret, origin=ORIGIN)) == "secret_erased"
    assert rotate_secrets().encrypted == 0
