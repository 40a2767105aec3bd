"""The production set-up: what docker-compose.yml, the Dockerfile and the locks promise."""

import os
import re
import subprocess
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from config.celery import PromptConnection
from judgments.storage.caches import SealedRedisCache
from tests.services import free_port

ROOT = Path(__file__).resolve().parents[2]
SECRETS = {
    "TOUCHSTONE_SECRET_KEY",
    "TOUCHSTONE_BACKUP_KEYS",
    "TOUCHSTONE_ENCRYPTION_KEYS",
    "TOUCHSTONE_SEAL_KEYS",
    "POSTGRES_PASSWORD",
    "POSTGRES_OWNER_PASSWORD",
    "POSTGRES_APP_PASSWORD",
    "REDIS_PASSWORD",
}
PINNED = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)


def compose_text() -> str:
    return (ROOT / "docker-compose.yml").read_text()


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(compose_text())["services"]
    return found


def pins(lock: str) -> dict[str, str]:
    return dict(PINNED.findall((ROOT / lock).read_text()))


@pytest.mark.parametrize("secret", sorted(SECRETS))
def test_a_secret_has_no_default_and_its_absence_is_explained(secret: str) -> None:
    uses = re.findall(rf"\$\{{{secret}(.*?)\}}", compose_text())
    assert uses
    assert all(use.startswith(":?") and secret in use for use in uses)


def test_every_variable_of_the_compose_file_is_documented() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    variables = set(re.findall(r"\$\{([A-Z_]+)", compose_text()))
    assert variables >= SECRETS
    assert {name for name in variables if name not in page} == set()


def test_only_web_server_and_listener_are_reachable_and_only_from_the_same_machine() -> None:
    ports = {name: one["ports"] for name, one in services().items() if "ports" in one}
    assert list(ports) == ["web", "live"]
    assert all(port.startswith("127.0.0.1:") for one in ports.values() for port in one)


def test_every_service_that_stays_has_a_health_check() -> None:
    staying = {name: one for name, one in services().items() if one["restart"] != "no"}
    assert set(staying) == {"web", "live", "worker", "jobs", "db", "redis"}
    assert {name for name, one in staying.items() if "healthcheck" not in one} == set()


def test_nothing_starts_before_what_it_needs() -> None:
    found = services()
    for name in ("web", "worker", "jobs"):
        needs = found[name]["depends_on"]
        assert needs["migrate"] == {"condition": "service_completed_successfully"}
        assert needs["db"] == needs["redis"] == {"condition": "service_healthy"}
    assert found["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}


def test_no_container_writes_outside_its_volumes_or_takes_all_of_the_machine() -> None:
    for name, one in services().items():
        assert one["read_only"] is (name != "migrate"), name  # a restore unpacks in its home
        assert one["mem_limit"], name
        assert one["pids_limit"], name
    written = {"uploads", "erasures", "compiled"}
    for name in ("web", "worker", "jobs", "migrate"):
        mounted = {place.partition(":")[0] for place in services()[name]["volumes"]}
        assert mounted - {"seals", "scratch", "data-sets"} == written, name
        assert services()[name]["tmpfs"] or "scratch" in mounted, name


def test_images_have_exact_tags() -> None:
    images = {one["image"] for one in services().values()} - {"touchstone"}
    bases = set(re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert len(images) == 2
    assert len(bases) == 1
    assert all(re.search(r":\d+\.\d+(\.\d+)?(-slim)?$", one) for one in images | bases)


def test_the_compose_file_passes_every_variable_that_an_installation_may_set() -> None:
    """But for those that compose itself sets, or that name files in the container."""
    page = (ROOT / "docs" / "configuration.md").read_text()
    table = page.partition("## The client")[0]
    variables = set(re.findall(r"^\| `(TOUCHSTONE_[A-Z_]+)`", table, re.MULTILINE))
    inside = {
        "TOUCHSTONE_MODE",
        "TOUCHSTONE_HOME",
        "TOUCHSTONE_ERASURES",
        "TOUCHSTONE_NEWEST_SEAL",
        "TOUCHSTONE_DATA_SETS_FOLDER",
        "TOUCHSTONE_ORIGINS",
        "TOUCHSTONE_LOG_FORMAT",
        "TOUCHSTONE_SWEEP_INTERVAL",
        "TOUCHSTONE_LIVE_COMMIT_INTERVAL",
    }
    assert len(variables) > 20
    assert variables - inside - set(re.findall(r"\$\{([A-Z_]+)", compose_text())) == set()


def test_every_volume_is_declared() -> None:
    mounted = {
        place.split(":")[0] for one in services().values() for place in one.get("volumes", ())
    }
    files = {place for place in mounted if place.startswith("./")}
    assert mounted - files == set(yaml.safe_load(compose_text())["volumes"])
    assert {place for place in files if not (ROOT / place).is_file()} == set()


def networks(name: str) -> set[str]:
    return set(services()[name]["networks"])


def test_the_database_and_redis_are_reached_by_those_that_need_them_alone() -> None:
    declared = yaml.safe_load(compose_text())["networks"]
    internal = {name for name, one in declared.items() if one and one.get("internal")}
    assert internal == {"store", "queue"}
    assert (networks("db"), networks("redis")) == ({"store"}, {"queue"})
    reaching = {name for name in services() if networks(name) & internal} - {"db", "redis"}
    assert reaching == {"web", "live", "worker", "jobs", "migrate"}
    assert networks("live") & internal == {"store"}
    outwards = {name: networks(name) - internal for name in services()}
    assert {name: found for name, found in outwards.items() if found} == {
        "web": {"front"},
        "live": {"front"},
        "jobs": {"outgoing"},  # fetches pictures, asks live rankers
    }
    assert not any(
        "ports" in one for name, one in services().items() if name not in ("web", "live")
    )


def variables_of(name: str) -> set[str]:
    """The variables of .env that a service is given."""
    return set(re.findall(r"\$\{([A-Z_]+)", str(services()[name].get("environment", {}))))


def test_each_service_is_given_the_secrets_that_it_needs_and_no_others() -> None:
    everywhere = {"TOUCHSTONE_SECRET_KEY", "TOUCHSTONE_ENCRYPTION_KEYS", "REDIS_PASSWORD"}
    app = everywhere | {"POSTGRES_APP_PASSWORD"}
    owner = everywhere | {"POSTGRES_OWNER_PASSWORD"}
    given = {name: variables_of(name) & SECRETS for name in services()}
    assert given == {
        "migrate": owner | {"TOUCHSTONE_BACKUP_KEYS", "TOUCHSTONE_SEAL_KEYS"},
        "web": app,
        "live": {"TOUCHSTONE_SECRET_KEY", "POSTGRES_APP_PASSWORD"},
        "worker": app | {"TOUCHSTONE_SEAL_KEYS"},
        "jobs": app,
        "db": {"POSTGRES_PASSWORD", "POSTGRES_OWNER_PASSWORD", "POSTGRES_APP_PASSWORD"},
        "redis": {"REDIS_PASSWORD"},
    }


def test_web_and_workers_connect_as_the_application_and_migrations_as_the_owner() -> None:
    urls = {
        name: one["environment"]["DATABASE_URL"].partition("://")[2].partition(":")[0]
        for name, one in services().items()
        if "DATABASE_URL" in one.get("environment", {})
    }
    app, owner = "touchstone_app", "touchstone_owner"
    assert urls == {"migrate": owner, "web": app, "live": app, "worker": app, "jobs": app}
    assert {app, owner} <= set(
        re.findall(r"\w+", (ROOT / "config/postgresql/roles.sql").read_text())
    )
    assert services()["db"]["environment"]["POSTGRES_USER"] not in (app, owner)


@contextmanager
def redis_of_compose(password: str, port: int, directory: Path) -> Iterator[None]:
    """Redis, started as docker-compose.yml starts it, on a port of its own."""
    shell, switch, script = services()["redis"]["command"]
    script = script.replace("$$", "$").replace("user default", f"port {port}\nuser default", 1)
    environment = {"PATH": os.environ["PATH"], "REDISCLI_AUTH": password}
    server = subprocess.Popen(
        [shell, switch, script], env=environment, cwd=directory, stdout=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.redis
def test_redis_of_the_compose_file_asks_for_its_password(tmp_path: Path) -> None:
    port = free_port()
    check = services()["redis"]["healthcheck"]["test"][1].replace("-cli", f"-cli -p {port}")

    def is_healthy(password: str) -> bool:
        environment = {"PATH": os.environ["PATH"], "REDISCLI_AUTH": password}
        return subprocess.run(["sh", "-c", check], env=environment, check=False).returncode == 0

    with redis_of_compose("secret", port, tmp_path):
        deadline = time.monotonic() + 30
        while not is_healthy("secret") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert is_healthy("secret")
        assert not is_healthy("wrong")
        with redis.Redis(port=port) as client, pytest.raises(redis.AuthenticationError):
            client.get("x")
        url = f"redis://touchstone:secret@127.0.0.1:{port}/0"
        with redis.Redis.from_url(url) as client:
            for words in REFUSED:
                with pytest.raises(redis.exceptions.NoPermissionError):
                    client.execute_command(*words)
            memory, persistence = client.info("memory"), client.info("persistence")
        send_and_receive(url)
        use_cache(url)
    assert (memory["maxmemory"], memory["maxmemory_policy"]) == (268_435_456, "volatile-lru")
    assert persistence["aof_enabled"] == 0


# what empties Redis, stops it, changes it, looks at others or writes files
REFUSED = [
    ("CONFIG", "SET", "dir", "/tmp"),
    ("CONFIG", "GET", "*"),
    ("FLUSHALL",),
    ("FLUSHDB",),
    ("KEYS", "*"),
    ("SHUTDOWN",),
    ("SAVE",),
    ("ACL", "LIST"),
    ("MONITOR",),
    ("CLIENT", "LIST"),
    ("REPLICAOF", "127.0.0.1", "1"),
]


def send_and_receive(url: str) -> None:
    """A wake-up, sent, received and acknowledged as the broker's channels do, and put back."""
    with (
        PromptConnection(url, transport_options={"socket_timeout": 5}) as connection,
        connection.SimpleQueue("refresh") as messages,
    ):
        messages.put({"task": "judgments.work_jobs"})
        message = messages.get(timeout=10)
        message.requeue()
        again = messages.get(timeout=10)
        again.ack()
        channel: Any = messages.channel
        channel.qos.restore_unacked_once()
        channel.qos.restore_visible()
        assert channel.client.ping()


def use_cache(url: str) -> None:
    """Every way in which values are cached and counted."""
    cache = SealedRedisCache(url, {"VERSION": 2})
    cache.set("figures", {"a": [1, 2]}, 60)
    assert cache.get("figures") == {"a": [1, 2]}
    assert cache.add("lock", 1, 60)
    assert cache.incr("lock") == 2
    assert cache.get_many(["figures", "lock"]).keys() == {"figures", "lock"}
    assert cache.touch("figures", 60)
    cache.delete_many(["figures", "lock"])
    assert cache.get("figures") is None


def test_every_queue_has_a_worker() -> None:
    from django.conf import settings

    routed = {route["queue"] for route in settings.CELERY_TASK_ROUTES.values()}
    queues = {settings.CELERY_TASK_DEFAULT_QUEUE, *routed}
    commands = [one["command"] for name, one in services().items() if name in ("worker", "jobs")]
    worked = {command[command.index("--queues") + 1] for command in commands}
    assert worked == queues
    assert f'QUEUES = "{",".join(sorted(queues, reverse=True))}"' in (ROOT / "run").read_text()


def test_the_image_runs_as_nobody_special_and_installs_by_hash() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER")]
    assert users == ["touchstone"]
    assert any("--require-hashes -r requirements.lock" in line for line in lines)


def test_the_image_holds_every_package_that_is_ours() -> None:
    from django.conf import settings

    kept = set(re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    ours = set(packages["root_packages"])
    assert ours >= {app for app in settings.INSTALLED_APPS if (ROOT / app).is_dir()}
    folders = {Path(one).name for one in [*settings.STATICFILES_DIRS, ROOT / "templates"]}
    assert ours | folders | {"manage.py", "requirements.lock"} <= kept


def test_the_development_lock_holds_the_runtime_s_packages_at_the_same_versions() -> None:
    runtime, development = pins("requirements.lock"), pins("requirements-dev.lock")
    assert runtime.items() <= development.items()
    assert len(runtime) > 20


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_names_no_registry_and_every_package_by_hash(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--index-url" not in text
    for entry in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in entry, entry
