"""Nothing that is read from Redis, a file or the database can be code."""

import ast
from collections.abc import Iterator

from django.conf import settings

from config.celery import app
from tests.deployment import ROOT

OURS = ("annotation", "config", "evaluation", "judgments", "touchstone")
RUNS_CODE = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
BACKENDS = {
    "judgments.storage.caches.SealedRedisCache",
    "django.core.cache.backends.locmem.LocMemCache",  # memory of the process alone
}
USE_DJANGOS_CACHE = {"judgments/storage/caches.py"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def imported(tree: ast.Module) -> set[str]:
    found = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return found | {
        node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }


def test_no_module_unpickles() -> None:
    guilty = {
        name
        for name, tree in modules()
        if {one.partition(".")[0] for one in imported(tree)} & RUNS_CODE
    }
    assert guilty == set()


def test_arrays_are_never_read_with_pickles() -> None:
    guilty = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    }
    assert guilty == set()


def test_values_reach_the_cache_through_one_module() -> None:
    users = {name for name, tree in modules() if "django.core.cache" in imported(tree)}
    assert users == USE_DJANGOS_CACHE


def test_the_cache_sessions_and_messages_are_plain() -> None:
    assert {one["BACKEND"] for one in settings.CACHES.values()} <= BACKENDS
    text = (ROOT / "config" / "settings.py").read_text()
    assert "cache.backends.redis" not in text
    assert "filebased" not in text
    assert settings.SESSION_SERIALIZER == "django.contrib.sessions.serializers.JSONSerializer"
    assert list(app.conf.accept_content) == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.result_backend is None
