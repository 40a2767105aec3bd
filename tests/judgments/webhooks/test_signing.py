"""Signatures: the standard's published vector, and the standard's own package."""

from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from judgments.webhooks.signing import new_secret, sign, signed_headers

BODY = '{"type": "webhook.test", "data": {"name": "Größe"}}'


def test_the_signature_is_the_published_one():
    # https://github.com/standard-webhooks/standard-webhooks, the tests of its libraries
    found = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_receivers_of_either_secret_verify_what_two_secrets_sign():
    new, old = new_secret(), new_secret()
    now = datetime.now(UTC)
    headers = dict(signed_headers([new, old], message_id="msg_1", at=now, body=BODY.encode()))
    assert headers["webhook-signature"].count("v1,") == 2
    for secret in (new, old):
        assert Webhook(secret).verify(BODY, headers)["data"] == {"name": "Größe"}
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(BODY, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new).verify(BODY + " ", headers)
