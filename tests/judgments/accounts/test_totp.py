"""Codes by the clock, against the vectors of RFC 6238."""

import base64

import pytest

from judgments.accounts.totp import STEP, code_at, find_step, key_uri, new_secret

SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ],
)
def test_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    assert code_at(SECRET, seconds // STEP) == code
    assert find_step(SECRET, code, seconds=seconds, after=0) == seconds // STEP


def test_a_code_is_accepted_one_step_early_or_late_and_not_after_its_use() -> None:
    code = code_at(SECRET, 100)
    accepted = [find_step(SECRET, code, seconds=step * STEP, after=0) for step in range(98, 103)]
    assert accepted == [None, 100, 100, 100, None]
    assert find_step(SECRET, code, seconds=100 * STEP, after=100) is None


def test_a_secret_is_random_and_as_apps_take_it() -> None:
    secret = new_secret()
    assert secret != new_secret()
    assert (len(secret), len(base64.b32decode(secret))) == (32, 20)
    said = key_uri(secret, account="ben@x", issuer="Touchstone")
    assert said == f"otpauth://totp/Touchstone%3Aben%40x?secret={secret}&issuer=Touchstone"
