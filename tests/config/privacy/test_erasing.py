"""An erased person is nowhere any more, in no backup either, and no figure has changed."""

import gzip
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, CheckAction, Label, LabelTiming
from config.backups.making import verify_everything
from config.privacy import ledger
from config.privacy.erasing import TEXTS_OF, erase_person, replay_erasures
from config.privacy.mentions import find_audit_details, names_of
from evaluation.models import Evaluation
from judgments.accounts.services import AccountRefused, resume_account
from judgments.audit.services import record
from judgments.models import AuditEntry, SideText, User
from tests.architecture.test_mutability import APPEND_ONLY, rows_of
from tests.architecture.test_side_texts import campaign, computed, world  # noqa: F401 (fixtures)
from tests.builders import NOW, World, make_user
from tests.config.commands.test_backup import call, home
from tests.config.privacy.traces import TRACES, USERNAME, leave_traces, list_traces
from tests.services import own_postgres_database


@pytest.fixture(autouse=True)
def own_home(settings: Any, tmp_path: Path) -> None:
    settings.HOME = tmp_path
    settings.ERASURES = str(tmp_path / "erasures" / "ledger.jsonl")


@pytest.mark.django_db
def test_an_erased_person_is_in_no_table_and_every_figure_is_as_it_was(
    world: World,  # noqa: F811
    campaign: Campaign,  # noqa: F811
) -> None:
    leave_traces()
    before = computed(world, campaign)
    facts = {model: rows_of(model) for model in APPEND_ONLY if model is not Evaluation}
    assert {"judgments_user", "judgments_sidetext", "judgments_notice"} <= set(list_traces())
    ben = User.objects.get(username=USERNAME)
    assert Label.objects.filter(annotator=ben).exists()
    erased = erase_person(user=ben, by=world.ada, at=NOW)
    assert erased.texts > 0
    assert erased.timings == Label.objects.filter(annotator=ben).count()
    assert list(list_traces()) == []
    assert not LabelTiming.objects.filter(label__annotator=ben).exists()
    assert LabelTiming.objects.exists()
    # the one fact that is new says that it was done
    assert AuditEntry.objects.latest("pk").action == "person.erased"
    for row in facts[CheckAction]:  # what a lead wrote to a person, or of one, is emptied
        row["message"] = ""
    for model, rows in facts.items():
        assert rows_of(model)[: len(rows)] == rows
    assert verify_everything().problems == ()
    assert computed(world, campaign) == before


@pytest.mark.django_db
def test_who_is_erased_can_neither_sign_in_nor_come_back(world: World) -> None:  # noqa: F811
    client = Client()
    client.force_login(world.ben)
    erase_person(user=world.ben, by=None, at=NOW)
    assert client.get(reverse("tokens")).status_code == 302
    world.ben.refresh_from_db()
    assert (world.ben.is_active, world.ben.has_usable_password()) == (False, False)
    assert not resume_account(user=world.ben, by=None, at=NOW)
    with pytest.raises(AccountRefused, match="erased"):
        erase_person(user=world.ben, by=None, at=NOW)
    assert ledger.list_erasures() == [world.ben.public_id]


@pytest.mark.django_db
def test_the_last_administrator_is_not_erased_nor_in_the_ledger() -> None:
    root = make_user(username="root", is_superuser=True)
    with pytest.raises(AccountRefused, match="last active administrator"):
        erase_person(user=root, by=root, at=NOW)
    assert ledger.list_erasures() is None


@pytest.mark.django_db
def test_a_name_that_is_a_word_takes_no_other_text_with_it(world: World) -> None:  # noqa: F811
    User.objects.filter(pk=world.ben.pk).update(username="mark", name="Mark", email="")
    world.ben.refresh_from_db()
    said: dict[str, Any] = {"collection": None, "actor": world.ada, "at": NOW, "action": "a.test"}
    about = record(subject="the mark", after={"reason": "Mark these again."}, **said)
    other = record(subject="the marks", after={"reason": "Mark these again."}, **said)
    named = record(subject="x", after={"people": ["mark"]}, **said)
    assert find_audit_details(names_of(world.ben)) == {about.detail_id, named.detail_id}
    erase_person(user=world.ben, by=None, at=NOW)
    assert SideText.objects.filter(pk=other.detail_id).exists()


@pytest.mark.django_db
def test_people_in_the_ledger_are_erased_again_and_no_one_else(world: World) -> None:  # noqa: F811
    ledger.add_erasure(world.cem.public_id, NOW)
    ledger.add_erasure(world.cem.public_id, NOW)
    assert (replay_erasures(at=NOW), replay_erasures(at=NOW)) == (1, 0)
    assert User.objects.get(pk=world.cem.pk).erased_at == NOW
    assert User.objects.get(pk=world.ben.pk).erased_at is None
    path = ledger.path_of_ledger()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "cem" not in path.read_text()


def test_every_text_beside_a_fact_is_erased_with_its_author() -> None:
    keys = {
        (model, field.name)
        for model in APPEND_ONLY
        for field in model._meta.concrete_fields
        if field.related_model is SideText
    }
    assert keys - {(AuditEntry, "detail")} == {
        (model, column) for model, _, columns in TEXTS_OF for column in columns
    }


@pytest.mark.django_db
def test_a_command_erases(world: World, capsys: Any) -> None:  # noqa: F811
    call_command("erase_person", "BEN", "--json")
    assert json.loads(capsys.readouterr().out)["person"] == str(world.ben.public_id)
    assert User.objects.get(pk=world.ben.pk).erased_at


def test_nothing_is_left_in_the_file_its_backups_and_what_is_restored(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    """On SQLite to the last byte: free pages and the log hold nothing either."""
    one, two = make_home(tmp_path / "one"), tmp_path / "two"
    environment = home(one)
    built = call(environment, "-m", "tests.config.privacy.traces")
    assert built.returncode == 0, built.stderr
    old, new = tmp_path / "old.tar.gz", tmp_path / "new.tar.gz"
    assert call(environment, "manage.py", "backup", str(old)).returncode == 0
    assert TRACES.search(gzip.decompress(old.read_bytes()))
    erased = call(environment, "manage.py", "erase_person", USERNAME, "--json")
    assert erased.returncode == 0, erased.stderr
    files = list(one.rglob("touchstone.sqlite3*"))
    assert [path.name for path in files if TRACES.search(path.read_bytes())] == []
    assert call(environment, "manage.py", "backup", str(new)).returncode == 0
    assert not TRACES.search(gzip.decompress(new.read_bytes()))
    # the older backup still has everything: the ledger takes it away before any request is served
    other = home(two) | {
        "TOUCHSTONE_BACKUP_KEYS": (one / "backup_keys").read_text().strip(),
        "TOUCHSTONE_ERASURES": str(one / "erasures" / "ledger.jsonl"),
    }
    restored = call(other, "manage.py", "restore", str(old))
    assert (restored.returncode, restored.stderr) == (0, "")
    found = [path.name for path in two.glob("touchstone*") if TRACES.search(path.read_bytes())]
    assert found == []
    checked = call(other, "manage.py", "verify", "--all")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.postgres
def test_nothing_is_left_on_postgresql_in_its_backups_and_what_is_restored(
    tmp_path: Path, own_migrated_database_url: str
) -> None:
    """Labels, audit entries, threads and all else that the person left, in every table."""

    def do(environment: dict[str, str], *words: str) -> str:
        done = call(environment, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tables(environment: dict[str, str]) -> list[str]:
        script = "from tests.config.privacy.traces import list_traces; print(*list_traces())"
        return do(environment, "manage.py", "shell", "-v0", "-c", script).split()

    def facts(environment: dict[str, str]) -> str:
        script = f"from {__name__} import print_facts; print_facts()"
        return do(environment, "manage.py", "shell", "-v0", "-c", script)

    one = home(tmp_path / "one") | {"DATABASE_URL": own_migrated_database_url}
    do(one, "-m", "tests.config.privacy.traces")
    left = {"judgments_user", "judgments_sidetext", "judgments_notice", "annotation_queryskip"}
    assert left <= set(tables(one))
    before = facts(one)
    assert before.count("annotation_label ") == 1
    old, new = tmp_path / "old.tar.gz", tmp_path / "new.tar.gz"
    do(one, "manage.py", "backup", str(old))
    assert TRACES.search(gzip.decompress(old.read_bytes()))
    do(one, "manage.py", "erase_person", USERNAME)
    assert tables(one) == []
    assert facts(one) == before
    do(one, "manage.py", "verify", "--all")
    do(one, "manage.py", "backup", str(new))
    assert not TRACES.search(gzip.decompress(new.read_bytes()))
    with own_postgres_database(own_migrated_database_url) as second:
        two = home(tmp_path / "two") | {
            "DATABASE_URL": second,
            "TOUCHSTONE_BACKUP_KEYS": (tmp_path / "one" / "backup_keys").read_text().strip(),
            "TOUCHSTONE_ERASURES": str(tmp_path / "one" / "erasures" / "ledger.jsonl"),
        }
        do(two, "manage.py", "restore", str(old))
        assert tables(two) == []
        assert facts(two) == before
        do(two, "manage.py", "verify", "--all")


def print_facts() -> None:
    """In a process of its own: a digest of each append-only table but the audit log."""
    for model in APPEND_ONLY:
        if model is not AuditEntry:
            rows = rows_of(model)
            for row in rows:
                row.pop("message", None)  # what a lead wrote of a person goes with the person
            digest = hashlib.sha256(repr(rows).encode()).hexdigest()
            sys.stdout.write(f"{model._meta.db_table} {len(rows)} {digest}\n")


@pytest.mark.parametrize("line", ['{"person": "8f1', '{"at": "2026"}', '{"person": "x"}', "[]"])
def test_what_is_no_line_of_the_ledger_is_refused(line: str) -> None:
    path = ledger.path_of_ledger()
    path.parent.mkdir()
    path.write_text(f"\n{line}\n")
    with pytest.raises(
        ledger.LedgerUnreadable, match=r"ledger\.jsonl:2: not a line of the erasure"
    ):
        ledger.list_erasures()


def test_a_restore_with_a_damaged_ledger_restores_nothing_and_without_one_says_so(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    """Found by hand: it restored all that was erased, and only then failed to read the ledger."""
    one = home(make_home(tmp_path / "one"))
    made = call(one, "manage.py", "backup", str(tmp_path / "b"))
    assert made.returncode == 0, made.stderr
    damaged = tmp_path / "ledger.jsonl"
    damaged.write_text('\n{"person": "8f1\n')
    keys = (tmp_path / "one" / "backup_keys").read_text().strip()
    two = home(tmp_path / "two") | {"TOUCHSTONE_BACKUP_KEYS": keys}
    ledger_of_two = {"TOUCHSTONE_ERASURES": str(damaged)}
    refused = call(two | ledger_of_two, "manage.py", "restore", str(tmp_path / "b"))
    assert refused.returncode == 2
    assert "ledger.jsonl:2: not a line of the erasure ledger" in refused.stderr
    assert not (tmp_path / "two" / "touchstone.sqlite3").exists()
    assert "no erasure ledger" in call(two, "manage.py", "restore", str(tmp_path / "b")).stderr
