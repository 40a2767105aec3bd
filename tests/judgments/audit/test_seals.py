"""Seals of the audit log: what was changed under them is found, also without the triggers."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from config.privacy.erasing import erase_person
from config.sweep import list_due
from judgments.apps import APPEND_ONLY
from judgments.audit import seals
from judgments.audit.seals import (
    KEYS,
    TASK,
    find_newest,
    is_sealing_due,
    put_newest_aside,
    read_newest,
    seal_entries,
)
from judgments.audit.services import record
from judgments.audit.verifying import verify_seals
from judgments.models import AuditEntry, AuditSeal
from judgments.tasks import seal_audit
from judgments.triggers import remove_triggers
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings, tmp_path: Path) -> Path:
    settings.HOME, settings.SEAL_KEYS = tmp_path, []
    settings.NEWEST_SEAL = str(tmp_path / "seals" / "newest.json")
    return tmp_path


def write(world: World, count: int) -> list[AuditEntry]:
    return [
        record(
            collection=world.collection,
            actor=world.ada,
            at=NOW + timedelta(seconds=number),
            action="campaign.opened",
            subject=f"Spring {number}",
        )
        for number in range(count)
    ]


@pytest.fixture
def sealed(world: World) -> list[AuditEntry]:
    """Three entries, each under a seal of its own; then the database's owner drops the triggers."""
    entries = []
    for number in range(3):
        entries += write(world, 1)
        assert seal_entries(after=number, at=NOW + timedelta(minutes=number))
    assert verify_seals(newest=read_newest()).problems == ()
    remove_triggers(connection, APPEND_ONLY)
    return entries


def execute(sql: str, *values: int | str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def rewrite_action(entry: AuditEntry) -> str:
    execute("UPDATE judgments_auditentry SET action = 'run.imported' WHERE id = %s", entry.pk)
    return f"audit entry {entry.pk}: it was changed after seal {entry.seal_id}"


def rewrite_actor(entry: AuditEntry) -> str:
    execute("UPDATE judgments_auditentry SET actor_id = NULL WHERE id = %s", entry.pk)
    return f"audit entry {entry.pk}: it was changed after seal {entry.seal_id}"


def rewrite_time(entry: AuditEntry) -> str:
    moved = AuditEntry.objects.filter(pk=entry.pk).update(at=entry.at + timedelta(microseconds=1))
    assert moved
    return f"audit entry {entry.pk}: it was changed after seal {entry.seal_id}"


def put_another_detail(entry: AuditEntry) -> str:
    other = AuditEntry.objects.exclude(pk=entry.pk).exclude(detail=None).first()
    assert other
    AuditEntry.objects.filter(pk=entry.pk).update(detail=other.detail_id)
    return f"audit entry {entry.pk}: it was changed after seal {entry.seal_id}"


def delete(entry: AuditEntry) -> str:
    execute("DELETE FROM judgments_auditentry WHERE id = %s", entry.pk)
    return f"audit entry {entry.pk} of seal {entry.seal_id}: it is missing"


def unseal(entry: AuditEntry) -> str:
    execute("UPDATE judgments_auditentry SET seal_id = NULL WHERE id = %s", entry.pk)
    return f"audit entry {entry.pk} of seal {entry.seal_id}: it is missing"


@pytest.mark.parametrize(
    "change",
    [rewrite_action, rewrite_actor, rewrite_time, put_another_detail, delete, unseal],
)
def test_a_changed_or_missing_entry_is_named(
    sealed: list[AuditEntry], change: Callable[[AuditEntry], str]
) -> None:
    entry = AuditEntry.objects.get(pk=sealed[1].pk)
    problem = change(entry)
    assert verify_seals().problems == (problem,)


def test_entries_that_change_places_are_both_named(sealed: list[AuditEntry]) -> None:
    first, second = sealed[0].pk, sealed[1].pk
    for old, new in ((first, -1), (second, first), (-1, second)):
        execute("UPDATE judgments_auditentry SET id = %s WHERE id = %s", new, old)
    # each has its seal with it: its seal does not know it under the other's id
    assert set(verify_seals().problems) == {
        f"audit entry {first} of seal 1: it is missing",
        f"audit entry {second}: it was put into seal 1 afterwards",
        f"audit entry {second} of seal 2: it is missing",
        f"audit entry {first}: it was put into seal 2 afterwards",
    }


def test_entries_of_one_seal_that_change_places_are_both_named(world: World) -> None:
    first, second = (entry.pk for entry in write(world, 2))
    seal_entries(after=0, at=NOW)
    remove_triggers(connection, APPEND_ONLY)
    for old, new in ((first, -1), (second, first), (-1, second)):
        execute("UPDATE judgments_auditentry SET id = %s WHERE id = %s", new, old)
    problems = verify_seals().problems
    assert problems == tuple(
        f"audit entry {pk}: it was changed after seal 1" for pk in (first, second)
    )


def test_an_entry_and_its_line_in_the_seal_changed_together_need_the_key(
    sealed: list[AuditEntry],
) -> None:
    rewrite_action(sealed[1])
    seal = AuditSeal.objects.get(number=2)
    facts = AuditEntry.objects.values_list(*seals.FACTS).get(pk=sealed[1].pk)
    seal.entries = f"{sealed[1].pk} {seals.digest_of(facts)}"
    before = AuditSeal.objects.get(number=1).mac
    seal.mac = seals.mac_of("guessed" * 8, seal, before)
    seal.save()
    made = "it was not made with a key of this installation"
    # the one after it followed from the right one
    assert verify_seals().problems == (f"audit seal 2: {made}", f"audit seal 3: {made}")


def test_a_seal_that_is_deleted_with_its_entries_is_missed(sealed: list[AuditEntry]) -> None:
    execute("DELETE FROM judgments_auditentry WHERE seal_id = 2")
    execute("DELETE FROM judgments_auditseal WHERE number = 2")
    assert verify_seals().problems == ("audit seal 2: it is missing",)


def test_seals_that_change_places_are_found(sealed: list[AuditEntry]) -> None:
    for old, new in ((2, 99), (3, 2), (99, 3)):
        execute("UPDATE judgments_auditseal SET number = %s WHERE number = %s", new, old)
        execute("UPDATE judgments_auditentry SET seal_id = %s WHERE seal_id = %s", new, old)
    assert "audit seal 2: it was not made with a key of this installation" in (
        verify_seals().problems
    )


def test_the_end_of_the_log_is_missed_by_the_file_beside_the_database(
    sealed: list[AuditEntry],
) -> None:
    execute("DELETE FROM judgments_auditentry WHERE seal_id = 3")
    execute("DELETE FROM judgments_auditseal WHERE number = 3")
    assert verify_seals().problems == ()
    (problem,) = verify_seals(newest=read_newest()).problems
    made_at = (NOW + timedelta(minutes=2)).isoformat()
    missing = f"audit seal 3 of {made_at}: it is missing"
    assert problem == f"{missing}; the newest in the database is 2"


def test_the_end_of_the_log_made_again_is_not_the_one_that_is_known(
    sealed: list[AuditEntry],
) -> None:
    newest = read_newest()
    unseal(sealed[2])
    execute("DELETE FROM judgments_auditseal WHERE number = 3")
    assert seal_entries(after=2, at=NOW + timedelta(hours=1))  # by the application's own worker
    assert verify_seals(newest=newest).problems


def test_the_command_names_what_was_changed_and_what_is_not_sealed(
    sealed: list[AuditEntry], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    tail = write(world, 2)
    call_command("verify")
    said = capsys.readouterr().out
    assert f"2 audit entries are not sealed yet, from {tail[0].pk} to {tail[1].pk}" in said
    problem = rewrite_action(AuditEntry.objects.get(pk=sealed[0].pk))
    with pytest.raises(SystemExit) as ended:
        call_command("verify", "--json")
    assert ended.value.code == 1
    found = json.loads(capsys.readouterr().out)
    assert found["problems"] == [problem]
    assert found["unsealed"] == [one.pk for one in tail]


def test_sealing_is_found_due_done_once_and_leaves_nothing(world: World) -> None:
    write(world, 3)
    count = AuditEntry.objects.count()
    wake = (TASK, (0,))
    assert wake in set(list_due())
    seal_audit(0)
    assert not is_sealing_due()
    assert wake not in set(list_due())
    seal_audit(0)  # the same message again
    assert find_newest() == 1
    log = verify_seals()
    assert (log.seals, log.entries, log.tail, log.problems) == (1, count, (), ())
    write(world, 1)
    assert (TASK, (1,)) in set(list_due())  # other words than before: announced at once
    seal_audit(0)  # found due before the last seal was made
    assert is_sealing_due()


def test_many_entries_are_sealed_in_portions(world: World, monkeypatch) -> None:
    monkeypatch.setattr(seals, "PORTION", 4)
    write(world, 9)
    count = AuditEntry.objects.count()
    assert seal_entries(after=0, at=NOW) == count
    assert find_newest() == -(-count // 4)
    assert verify_seals().problems == ()


def test_an_erased_person_leaves_every_seal_as_it_is(world: World) -> None:
    write(world, 2)
    assert seal_entries(after=0, at=NOW)
    erase_person(user=world.ben, by=None, at=NOW)
    assert AuditEntry.objects.filter(detail__text__contains="ben").count() == 0
    assert verify_seals().problems == ()


def test_keys_can_be_replaced_and_seals_are_checked_with_all_of_them(
    world: World, settings
) -> None:
    settings.SEAL_KEYS = ["old-" * 8]
    seal_entries(after=0, at=NOW)
    write(world, 1)
    settings.SEAL_KEYS = ["new-" * 8, "old-" * 8]
    seal_entries(after=1, at=NOW)
    assert verify_seals().problems == ()
    settings.SEAL_KEYS = ["new-" * 8]
    assert verify_seals().problems == (
        "audit seal 1: it was not made with a key of this installation",
    )


def test_production_without_a_key_seals_nothing_and_verify_says_why(
    world: World, settings, home: Path
) -> None:
    seal_entries(after=0, at=NOW)
    (home / "seal_keys").unlink()
    settings.PRODUCTION = True
    write(world, 1)
    assert not is_sealing_due()
    with pytest.raises(seals.SealRefused, match="TOUCHSTONE_SEAL_KEYS"):
        seal_entries(after=1, at=NOW)
    assert verify_seals().problems == (
        "the seals of the audit log can't be checked without TOUCHSTONE_SEAL_KEYS",
    )
    (home / "seal_keys").write_text("k" * 40)
    (home / "seal_keys").chmod(0o644)  # others can read it
    assert not is_sealing_due()


def test_the_key_and_the_newest_seal_are_for_their_owner_alone(world: World, home: Path) -> None:
    seal_entries(after=0, at=NOW)
    assert KEYS.path.stat().st_mode & 0o777 == 0o600
    newest = home / "seals" / "newest.json"
    assert newest.parent.stat().st_mode & 0o777 == 0o700
    assert json.loads(newest.read_text())["mac"] == AuditSeal.objects.get().mac
    aside = put_newest_aside(NOW)
    assert aside
    assert aside.exists()
    assert read_newest() is None


def test_the_page_and_its_file_say_which_seal_an_entry_has(world: World) -> None:
    seal_entries(after=0, at=NOW)
    write(world, 1)
    ada = client_of("ada")
    page = ada.get(reverse("audit", args=["books"])).content.decode()
    cells = [row.rpartition('muted">')[2] for row in page.split("</td>\n            </tr>")[:-1]]
    assert cells[:2] == ["not yet", "1"]
    file = ada.get(reverse("audit-file", args=["books"])).getvalue().decode()
    *_, last, newest = map(json.loads, file.splitlines())
    mac = AuditSeal.objects.get().mac
    assert last["seal"] == {"number": 1, "at": NOW.isoformat(), "mac": mac}
    assert newest["seal"] is None
