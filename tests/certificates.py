"""Certificates for servers on loopback, of an authority of their own."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def make_certificates(folder: Path) -> None:
    """Write ca.crt, and server.crt with server.key for 127.0.0.1, which last a day."""
    folder.mkdir(parents=True)
    authority, own = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Authority of {folder.name}")])
    at = datetime.now(UTC)
    base = (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .not_valid_before(at - timedelta(hours=1))
        .not_valid_after(at + timedelta(days=1))
    )
    ca = (
        base.subject_name(issuer)
        .public_key(authority.public_key())
        .serial_number(x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(authority, hashes.SHA256())
    )
    server = (
        base.subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")]))
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(authority, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "ca.crt").write_bytes(ca.public_bytes(pem))
    (folder / "server.crt").write_bytes(server.public_bytes(pem))
    (folder / "server.key").write_bytes(
        own.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
