"""A security key in software, which answers as browsers let one answer."""

import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

PRESENT, ATTESTED = AuthenticatorData.FLAG.UP, AuthenticatorData.FLAG.AT


class SoftKey:
    """counter: goes up with each signature; None for a key that does not count."""

    def __init__(self, *, counter: int | None = 0) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._id = os.urandom(16)
        self.counter = counter

    def register(self, options: str, origin: str) -> str:
        """The answer to the options of a registration."""
        asked = json.loads(options)["publicKey"]
        data = AttestedCredentialData.create(
            Aaguid.NONE, self._id, ES256.from_cryptography_key(self._private.public_key())
        )
        said = AuthenticatorData.create(
            sha256(asked["rp"]["id"].encode()), PRESENT | ATTESTED, self._count(), bytes(data)
        )
        client = self._client(CollectedClientData.TYPE.CREATE, asked, origin)
        made = AttestationObject.create("none", said, {})
        return self._answer(clientDataJSON=client, attestationObject=bytes(made))

    def sign(self, options: str, origin: str) -> str:
        """The answer to the options of a sign-in."""
        asked = json.loads(options)["publicKey"]
        said = AuthenticatorData.create(sha256(asked["rpId"].encode()), PRESENT, self._count())
        client = self._client(CollectedClientData.TYPE.GET, asked, origin)
        signature = self._private.sign(bytes(said) + sha256(client), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            clientDataJSON=client, authenticatorData=bytes(said), signature=signature
        )

    def _count(self) -> int:
        if self.counter is None:
            return 0
        self.counter += 1
        return self.counter

    def _client(self, kind: str, asked: dict[str, Any], origin: str) -> bytes:
        made = CollectedClientData.create(kind, websafe_decode(asked["challenge"]), origin)
        return bytes(made)

    def _answer(self, **parts: bytes) -> str:
        name = websafe_encode(self._id)
        response = {part: websafe_encode(value) for part, value in parts.items()}
        answer = {"id": name, "rawId": name, "type": "public-key", "response": response}
        return json.dumps({**answer, "clientExtensionResults": {}})
