"""The processes of docker-compose.yml, started as it starts them, without its containers."""

import json
import os
import re
import secrets
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
HOST = "labels.example.org"


def compose_command(service: str) -> list[str]:
    """What a service of docker-compose.yml runs."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    command: list[str] = compose["services"][service]["command"]
    return command


def image_command() -> list[str]:
    """What the image runs unless it is told otherwise: the web server."""
    found = re.search(r"^CMD (\[.*\])", (ROOT / "Dockerfile").read_text(), re.DOTALL | re.MULTILINE)
    assert found
    command: list[str] = json.loads(found.group(1).replace("\\\n", ""))
    return command


def web_command(port: int, directory: Path) -> list[str]:
    """The web server of the image, on loopback."""
    here = {"0.0.0.0:8000": f"127.0.0.1:{port}", "/dev/shm": str(directory)}
    return [here.get(word, word) for word in image_command()]


def programs() -> str:
    """A PATH on which this interpreter's own programs come first."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def production_environment(home: Path, database_url: str, redis_url: str) -> dict[str, str]:
    """What compose and the file .env beside it would say."""
    return {
        "PATH": programs(),
        "TOUCHSTONE_HOME": str(home),
        "TOUCHSTONE_MODE": "production",
        "TOUCHSTONE_SECRET_KEY": secrets.token_urlsafe(64),
        "TOUCHSTONE_HOSTS": HOST,
        "TOUCHSTONE_BEHIND_PROXY": "true",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "WEB_CONCURRENCY": "2",
    }
