"""What the tests find on this machine, and which of them a pass of the suite runs."""

import gc
import os
import shutil
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import hypothesis
import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management.color import no_style
from django.db import connection, transaction
from django.middleware import csrf
from django.test import TransactionTestCase
from django.utils.crypto import get_random_string
from execnet.xspec import XSpec
from pytest_django.plugin import DjangoDbBlocker

from judgments import waking
from judgments.permissions import Access
from tests import services
from tests.builders import World, make_access, make_world
from tests.emptying import empty_databases
from tests.racing import AtOnce, Racers

APPS = ("annotation", "evaluation", "judgments")
# A long test at the end would leave the other process without work.
FIRST = {
    "browser",  # all of it in one process
    "leaks",
    "real_services",
    "test_migrations.py",
    "test_run_script.py",
    "test_storms.py",
    "test_tutorials.py",
}
# What pages, REST, commands and files say is the same on both databases, so the first pass asks it.
# In the second, test_every_address.py opens every page once and requests are generated.
FIRST_PASS_WORDS = {
    "commands", "downloads", "explained", "file", "files", "form", "formats", "forms", "languages",
    "overview", "page", "pages", "views",
}  # fmt: skip
FIRST_PASS_FOLDERS = {"api", "management"}
SHARES_ROWS = pytest.StashKey[bool]()  # of a module: whether its shared rows are there now
USES_THE_DATABASE = {"db", "transactional_db", "live_server"}
USES_A_SERVER = {
    *USES_THE_DATABASE,
    "own_database_url",
    "own_migrated_database_url",
    "own_redis_url",
}

# Tests ask more often than people do; servers that they start inherit it.
settings.THROTTLE = 0
os.environ["TOUCHSTONE_THROTTLE"] = "0"
# Each client loads the middleware again, and with it the list of all static files.
settings.WHITENOISE_AUTOREFRESH = True

# Tokens are random: one had the letters of a name that its page must not show. Masked, these
# letters become G, N, P, U, W and Y, which spell none.
csrf._get_new_csrf_string = lambda: get_random_string(csrf.CSRF_SECRET_LENGTH, "qxz")

# A slow machine is no bug, and a suite that finds something must find it again.
FOUND_AGAIN: dict[str, Any] = {"deadline": None, "derandomize": True, "print_blob": True}
hypothesis.settings.register_profile("suite", max_examples=20, **FOUND_AGAIN)
hypothesis.settings.register_profile("long", **FOUND_AGAIN)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--real-services",
        action="store_true",
        help="only what uses the database or Redis: the second pass, after SQLite",
    )
    parser.addoption(
        "--long", action="store_true", help="tests marked `long` too, and more generated examples"
    )


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("long" if config.getoption("--long") else "suite")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: FIRST.isdisjoint(item.path.parts))
    for item in items:
        # one process has all of a module, whose world or browser is then made once
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    if config.getoption("--real-services"):
        _keep(config, items, _uses_a_server)
    if not config.getoption("--long"):
        _keep(config, items, lambda item: item.get_closest_marker("long") is None)
    for marker, missing in _missing().items():
        for item in items:
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=missing))


def pytest_collection_finish() -> None:
    """Keep the thousands of tests, and what they import, from being looked through for garbage."""
    gc.collect()
    gc.freeze()


def _keep(
    config: pytest.Config, items: list[pytest.Item], is_kept: Callable[[pytest.Item], bool]
) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not is_kept(item)])
    items[:] = [item for item in items if is_kept(item)]


def _uses_a_server(item: pytest.Item) -> bool:
    if item.get_closest_marker("postgres") or item.get_closest_marker("redis"):
        return True
    if item.get_closest_marker("browser") or item.get_closest_marker("first_pass"):
        return False
    name, folder = item.path.stem, item.path.parent.name
    is_of_first = folder in FIRST_PASS_FOLDERS or FIRST_PASS_WORDS.intersection(name.split("_"))
    if is_of_first and name != "test_fuzzing":
        return False
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(item.get_closest_marker("django_db") or fixtures & USES_A_SERVER)


def _missing() -> dict[str, str]:
    """Why the tests with a marker can't run here, for each marker whose need is not met."""
    needs = {
        "postgres": (
            os.environ.get("DATABASE_URL", "").startswith("postgres"),
            "DATABASE_URL names no PostgreSQL; ./run tests starts one",
        ),
        "redis": (
            os.environ.get("REDIS_URL"),
            "REDIS_URL names no Redis; ./run tests starts one",
        ),
        "browser": (services.find_chromium(), "Chromium was not found"),
        "fonts": (
            services.find_fonts().keys() == services.FONTS.keys(),
            "not all of these fonts were found: " + ", ".join(services.FONTS),
        ),
        "data": (services.find_data(), "the public collections were not found (TOUCHSTONE_DATA)"),
    }
    return {marker: why for marker, (met, why) in needs.items() if not met}


def pytest_xdist_setupnodes(config: pytest.Config, specs: list[XSpec]) -> None:
    """Give each process of a pass its own Redis database and its own home."""
    for number, spec in enumerate(specs):
        if os.environ.get("REDIS_URL"):
            spec.env["REDIS_URL"] = redis_database(os.environ["REDIS_URL"], number)
        if os.environ.get("TOUCHSTONE_HOME"):
            home = Path(os.environ["TOUCHSTONE_HOME"]) / f"process-{number}"
            home.mkdir(exist_ok=True)
            spec.env["TOUCHSTONE_HOME"] = str(home)


def redis_database(url: str, further: int) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + further}"))


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that has been migrated and holds nothing, to be copied.

    It is a file on SQLite, and on PostgreSQL the name of a database. Migrating takes ten seconds of
    a processor, so it is done once for these migrations, and kept: in var/tests, or on the server.
    """
    home = tmp_path_factory.mktemp("migrated")
    server = os.environ.get("DATABASE_URL", "")
    if server.startswith("postgres"):
        return services.keep_postgres_database(server, home=home)
    return str(services.keep_sqlite_database(home=home))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
    migrated: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Let the tests' database begin as a copy of the migrated one.

    SQLite is tested as it serves: a file, with its log beside it, and not a database in memory.
    """
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "config.sqlite":
        own = tmp_path_factory.mktemp("database") / "touchstone.sqlite3"
        database["TEST"]["NAME"] = str(shutil.copy(migrated, own))
    else:
        database["TEST"]["TEMPLATE"] = migrated


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """On SQLite the copy is there before Django looks for it."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def make_home(migrated: str) -> Callable[[Path], Path]:
    """Makes a home for processes, with a database that has been migrated and holds nothing."""

    def make(path: Path) -> Path:
        path.mkdir()
        if connection.vendor == "sqlite":
            shutil.copy(migrated, path / "touchstone.sqlite3")
        return path

    return make


@pytest.fixture(scope="session", autouse=True)
def passwords_are_hashed_in_milliseconds() -> Iterator[None]:
    """The work that makes guessing slow is Django's to test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PBKDF2PasswordHasher, "iterations", 1_000)
        yield


@pytest.fixture(scope="session", autouse=True)
def append_only_tables_can_be_emptied() -> Iterator[None]:
    """After a test with real commits the database is emptied, which the triggers would refuse."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_databases)
        yield


@pytest.fixture(scope="module")
def shared_rows(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Lets a module's fixtures make rows once, for all its tests; its end takes them back.

    What a test changes of them is taken back when it ends, like all that it does. Objects are not:
    give each test a deep copy of those that it may change.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        _count_again(follows_rows=False)
        request.node.stash[SHARES_ROWS] = True
        yield
        request.node.stash[SHARES_ROWS] = False
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def ids_begin_at_one(request: pytest.FixtureRequest) -> None:
    """What follows from ids, such as an order drawn from a seed, is the same in every run.

    Neither database counts again by itself: PostgreSQL not after a rollback, SQLite not after the
    tables of a test with real commits were emptied. Where a module shares rows, ids go on after
    theirs, which SQLite sees to itself.
    """
    marked = request.node.get_closest_marker("django_db")
    if marked is None and not USES_THE_DATABASE.intersection(request.fixturenames):
        return
    if marked is None:
        request.getfixturevalue("db")
    module = request.node.getparent(pytest.Module)
    _count_again(follows_rows=module.stash.get(SHARES_ROWS, False))


def _count_again(*, follows_rows: bool) -> None:
    """Let ids begin at one, or after those of the rows that a module shares."""
    models = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    keys = (model._meta.auto_field for model in models)
    sequences = [{"table": key.model._meta.db_table, "column": key.column} for key in keys if key]
    statements = connection.ops.sequence_reset_by_name_sql(no_style(), sequences)
    if follows_rows and connection.vendor == "postgresql":
        statements = connection.ops.sequence_reset_sql(no_style(), models)
    with connection.cursor() as cursor:
        cursor.execute("\n".join(statements))


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def ada(world: World) -> Access:
    """What Ada, who leads the world's collection, may do in it."""
    return make_access(collection=world.collection)


@pytest.fixture
def at_once() -> Iterator[AtOnce]:
    """Does several works at the same moment, each on a connection of its own."""
    racers = Racers()
    yield racers.at_once
    racers.close()


@pytest.fixture(autouse=True)
def nothing_has_been_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test said to the workers does not keep the next from saying the same."""
    monkeypatch.setattr(waking, "_crier", waking._Crier())


@pytest.fixture(autouse=True)
def no_version_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and times are the same in every test, and lists are not."""
    monkeypatch.setattr("judgments.versions.judgment_cache._remembered", OrderedDict())


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser's program; tests that ask for it carry the marker `browser`."""
    found = services.find_chromium()
    assert found
    return found


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public collections; tests that ask for them carry the marker `data`."""
    found = services.find_data()
    assert found
    return found


@pytest.fixture
def own_redis_url() -> Iterator[str]:
    """A Redis of this test alone, to flush, freeze and kill."""
    with services.private_redis() as url:
        yield url


@pytest.fixture
def own_database_url(tmp_path: Path) -> Iterator[str]:
    """An empty database of this test alone, of the pass's kind, for processes that it starts."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        yield f"sqlite:///{tmp_path / 'own.sqlite3'}"
        return
    with services.own_postgres_database(server) as url:
        yield url


@pytest.fixture
def own_migrated_database_url(migrated: str) -> Iterator[str]:
    """A database on PostgreSQL of this test alone, which has been migrated and holds nothing."""
    server = os.environ["DATABASE_URL"]
    with services.own_postgres_database(server, like=migrated) as url:
        yield url
