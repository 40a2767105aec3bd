"""A purged collection leaves nothing but an emptied row, what was done to it, and one line."""

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client, override_settings
from django.urls import reverse

from annotation.models import Campaign, CampaignAnnotator, Label, MachineJudge
from config.backups.making import verify_everything
from config.privacy import ledger
from config.privacy.belonging import belongings, dependences
from config.privacy.purging import (
    PurgeRefused,
    check_may_purge,
    count_purge,
    list_outside,
    purge_collection,
    replay_purges,
)
from evaluation.models import Ranker
from judgments.audit.seals import seal_entries
from judgments.audit.services import record
from judgments.collections.services import create_collection
from judgments.members.services import add_name
from judgments.messages.services import notify
from judgments.models import (
    AuditEntry,
    Collection,
    Document,
    Job,
    JudgmentList,
    Query,
    SavedSet,
    SavedSetQuery,
    Secret,
    User,
)
from tests.architecture.test_mutability import kept, write_facts
from tests.builders import NOW, make_user, make_world
from tests.builders_annotation import label, make_campaign
from tests.config.commands.test_backup import call, home
from tests.evaluation.builders import make_run

# what is of no collection, with the reason
STAYING = {
    "annotation.LabellingPreferences": "of a person",
    "evaluation.MeasureSet": "definitions, which all collections share",
    "judgments.ApiToken": "of a person",
    "judgments.AuditEntry": "a sealed fact: its details go",
    "judgments.AuditSeal": "of the installation",
    "judgments.MessageChoice": "of a person",
    "judgments.RecoveryCode": "of a person",
    "judgments.Round": "of the installation",
    "judgments.SecondFactor": "of a person",
    "judgments.SecurityKey": "of a person",
    "judgments.Session": "of a person",
    "judgments.SideText": "goes with the fact that it was written about",
    "judgments.User": "people are of no collection; names of imported labels are erased",
    "judgments.User_groups": "of a person",
    "judgments.User_user_permissions": "of a person",
    "judgments.WorkerBeat": "of the installation",
}
WORD = "Xanadu"
LATER = NOW + timedelta(days=31)


@pytest.fixture(scope="module")
def sealed_at(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Settings: where the key is by which entries are sealed, and the newest seal."""
    place = tmp_path_factory.mktemp("home")
    return {"HOME": place, "NEWEST_SEAL": str(place / "newest.json")}


@pytest.fixture(autouse=True)
def own_home(settings: Any, tmp_path: Path, sealed_at: dict[str, Any]) -> None:
    settings.HOME, settings.NEWEST_SEAL = sealed_at["HOME"], sealed_at["NEWEST_SEAL"]
    settings.ERASURES = str(tmp_path / "erasures" / "ledger.jsonl")


@pytest.fixture(scope="module")
def facts(shared_rows: None, sealed_at: dict[str, Any]) -> Collection:
    """What `books` gives, made once for the tests that use it."""
    write_facts()
    films = make_world(slug="films", queries=2, documents=3)
    make_run(collection=films.collection, rankings={"q1": ["d1", "d2"], "q2": ["d3"]})
    for pair in make_campaign(world=films).pairs.order_by("pk"):
        label(pair=pair, username="ben", grade=1, note="So.")
    with override_settings(**sealed_at):
        seal_entries(after=0, at=NOW)
    return archived("books")


@pytest.fixture
def books(facts: Collection) -> Collection:
    """A collection with a row in every append-only table, archived, beside another one."""
    return deepcopy(facts)


def archived(slug: str) -> Collection:
    Collection.objects.filter(slug=slug).update(archived_at=NOW)
    return Collection.objects.get(slug=slug)


def purge(collection: Collection, **more: Any) -> Any:
    wanted: dict[str, Any] = {"by": None, "at": LATER, "force": False, **more}
    return purge_collection(collection=collection, **wanted)


def rows_of_others(collection: Collection) -> dict[str, list[Any]]:
    return {
        own.model._meta.label: list(
            own.model._base_manager.filter(~own.condition(collection)).order_by("pk").values()
        )
        for own in belongings().values()
    }


def test_every_model_belongs_to_collections_or_is_said_to_be_of_none() -> None:
    apps_of_ours = ("annotation", "evaluation", "judgments")
    others = {
        model._meta.label
        for app in apps_of_ours
        for model in apps.get_app_config(app).get_models(include_auto_created=True)
        if model is not Collection and model not in belongings()
    }
    assert others == set(STAYING)


def test_what_refers_to_rows_comes_before_them() -> None:
    order = list(belongings())
    for own in belongings().values():
        for path in own.paths:
            model: Any = own.model
            for name in path.split("__"):
                model = model._meta.get_field(name).related_model
                assert model is Collection or order.index(own.model) < order.index(model)
    assert {one.model.__name__ for one in dependences()} >= {"Judgment", "Label", "SecondFactor"}


@pytest.mark.django_db
def test_all_that_belongs_to_it_goes_and_nothing_else(books: Collection) -> None:
    add_name(collection=books, name="Agent Zanzibar", by=None, at=NOW)
    ada = User.objects.get(username="ada")
    notify(
        kind="joined", key="n", people=[ada], payload={}, page=("home",), collection=books, at=NOW
    )
    others, facts = rows_of_others(books), list(AuditEntry.objects.order_by("pk").values())
    assert len({one.model for one in belongings().values() if one.rows(books).exists()}) > 60
    expected = count_purge(collection=books)
    assert purge(books) == expected
    assert expected.names == 1
    assert all(not own.rows(books).exists() for own in belongings().values())
    assert rows_of_others(books) == others
    assert not User.objects.filter(name__contains="Zanzibar").exists()
    with connection.cursor() as cursor:
        for table, count in expected.rows.items():
            cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608
            assert (table, cursor.fetchone()[0]) == (table, len(_labelled(others, table)))
            assert count > 0
    entries = list(AuditEntry.objects.order_by("pk"))
    assert list(AuditEntry.objects.order_by("pk").values())[: len(facts)] == facts
    assert all(not one.subject for one in entries if one.collection_id == books.pk)
    last = entries[-1]
    assert (last.action, last.subject, last.collection) == ("collection.purged", "books", None)
    assert last.after == {"number": books.pk, "rows": dict(expected.rows)}
    found = verify_everything()
    assert found.problems == ()
    assert found.evaluations == 0


def _labelled(others: dict[str, list[Any]], table: str) -> list[Any]:
    (model,) = (one for one in belongings() if one._meta.db_table == table)
    return others[model._meta.label]


@pytest.mark.django_db
def test_facts_are_kept_as_before_by_triggers_afterwards(books: Collection) -> None:
    purge(books)
    assert Label.objects.exists()
    for table in sorted(kept()):
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608
            has_rows = cursor.fetchone()[0]
        if has_rows and not kept()[table].deletable:
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                connection.cursor().execute(f'DELETE FROM "{table}"')  # noqa: S608


@pytest.mark.django_db
def test_the_emptied_row_is_no_collection_to_any_one(books: Collection) -> None:
    purge(books)
    row = Collection.ever.get(pk=books.pk)
    assert (row.name, row.purged_at) == ("", LATER)
    assert row.slug.startswith("purged-")
    client = Client()
    client.force_login(make_user(username="root", is_superuser=True))
    for slug in ("books", row.slug):
        assert client.get(reverse("collection", args=[slug])).status_code == 404
    assert row.slug not in client.get(reverse("home"), {"archived": "1"}).content.decode()
    archived_ones = client.get("/api/v1/collections/", {"archived": "true"}).json()
    assert archived_ones["results"] == []
    assert client.get(reverse("site-audit")).status_code == 200
    # its short name is free
    again = create_collection(by=User.objects.get(username="ada"), at=LATER, slug="books", name="B")
    assert again.pk != books.pk


@pytest.mark.django_db
def test_refusals(books: Collection) -> None:
    check_may_purge(collection=books, at=LATER, force=False)
    with pytest.raises(PurgeRefused, match="archived 29 days ago"):
        check_may_purge(collection=books, at=NOW + timedelta(days=29), force=False)
    check_may_purge(collection=books, at=NOW, force=True)
    with pytest.raises(PurgeRefused, match="Archive films first"):
        check_may_purge(collection=Collection.objects.get(slug="films"), at=LATER, force=True)
    job = Job.objects.create(collection=books, kind="import_queries", created_at=NOW)
    with pytest.raises(PurgeRefused, match="background job"):
        check_may_purge(collection=books, at=LATER, force=True)
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    Collection.objects.filter(pk=books.pk).update(archived_at=None)
    with pytest.raises(PurgeRefused, match="Archive books first"):
        purge(books)  # restored since it was looked at
    assert Query.objects.filter(collection=books).exists()
    assert ledger.list_purges() == []


@pytest.mark.django_db
def test_what_others_depend_on_is_not_purged(books: Collection) -> None:
    assert list_outside(books) == []
    films = JudgmentList.objects.get(collection__slug="films")
    judge = MachineJudge.objects.create(collection=films.collection, name="M", created_at=NOW)
    secret = Secret.objects.create(collection=books, origin="https://a.example", created_at=NOW)
    MachineJudge.objects.filter(pk=judge.pk).update(secret=secret)
    other_set = SavedSet.objects.create(
        collection=films.collection, slug="s", name="S", created_at=NOW
    )
    query = Query.objects.filter(collection=books)[0]
    SavedSetQuery.objects.create(saved_set=other_set, query=query)
    with pytest.raises(PurgeRefused) as refused:
        purge(books)
    assert "annotation_machinejudge, judgments_savedsetquery" in refused.value.message
    assert Query.objects.filter(pk=query.pk).exists()


@pytest.mark.django_db
def test_the_ledger_purges_what_is_there_again_and_nothing_that_only_has_its_number(
    books: Collection,
) -> None:
    films = Collection.objects.get(slug="films")
    ledger.add_purge(books.pk, books.created_at, NOW)
    ledger.add_purge(films.pk, films.created_at + timedelta(seconds=1), NOW)
    assert ledger.list_erasures() == []
    assert (replay_purges(at=LATER), replay_purges(at=LATER)) == (1, 0)
    assert set(Collection.objects.values_list("slug", flat=True)) == {
        "books-of-eve",
        "films",
        "films-of-eve",
    }
    assert "books" not in ledger.path_of_ledger().read_text()


@pytest.mark.django_db
def test_the_command_lists_asks_and_deletes(
    books: Collection, capsys: Any, monkeypatch: Any
) -> None:
    Collection.objects.filter(pk=books.pk).update(archived_at=NOW - timedelta(days=4_000))
    labels = Label.objects.filter(guideline_revision__guideline__collection=books).count()
    call_command("purge_collection", "books", "--dry-run")
    said = capsys.readouterr().out
    assert f"{labels:>12,}  annotation_label\n" in said
    assert Query.objects.filter(collection=books).exists()
    monkeypatch.setattr("sys.stdin", StringIO("book\n"))
    with pytest.raises(SystemExit):
        call_command("purge_collection", "books")
    assert "Nothing was deleted: 'book' is not books." in capsys.readouterr().err
    assert Query.objects.filter(collection=books).exists()
    monkeypatch.setattr("sys.stdin", StringIO("books\n"))
    call_command("purge_collection", "books", "--by", "ada", "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["purged"], result["rows"]["annotation_label"]) == (True, labels)
    assert AuditEntry.objects.latest("pk").actor == User.objects.get(username="ada")
    assert [number for number, _ in ledger.list_purges()] == [books.pk]


def name_xanadu() -> None:
    """In a process of its own: words that are nowhere else; archived for 31 days, the job done."""
    from django.utils import timezone

    Collection.objects.filter(slug="books").update(
        name=WORD, description=WORD, archived_at=timezone.now() - timedelta(days=31)
    )
    Job.objects.update(state=Job.State.DONE, params={"file": WORD})
    for model, column in (
        (Query, "text"),
        (Document, "body"),
        (Ranker, "description"),
        (JudgmentList, "name"),
        (CampaignAnnotator, "paused"),
    ):
        assert model._default_manager.update(**{column: WORD})
    for campaign in Campaign.objects.all():  # a list's campaigns have different names
        Campaign.objects.filter(pk=campaign.pk).update(name=f"{WORD} {campaign.pk}")
    books = Collection.objects.get(slug="books")
    detail: dict[str, Any] = {"subject": WORD, "after": {"reason": WORD}}
    record(collection=books, actor=None, at=NOW, action="campaign.changed", **detail)
    add_name(collection=books, name=WORD, by=None, at=NOW)


def do(environment: dict[str, str], *words: str) -> str:
    done = call(environment, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_is_left_in_the_file_its_backups_and_what_is_restored(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    """On SQLite to the last byte."""
    one, two = make_home(tmp_path / "one"), tmp_path / "two"
    environment, word = home(one), WORD.encode()
    do(environment, "-m", "tests.config.commands.installation")
    do(environment, "manage.py", "shell", "-c", f"from {__name__} import name_xanadu as f; f()")
    old, new = tmp_path / "old.tar.gz", tmp_path / "new.tar.gz"
    do(environment, "manage.py", "backup", str(old))
    assert word in gzip.decompress(old.read_bytes())
    confirmed = ("purge_collection", "books", "--confirm", "books", "--json")
    purged = json.loads(do(environment, "manage.py", *confirmed))
    assert (purged["rows"]["annotation_label"], purged["files"], purged["names"]) == (6, 1, 1)
    assert [
        path.name for path in one.rglob("*") if path.is_file() and word in path.read_bytes()
    ] == []
    assert list((one / "uploads" / "jobs").glob("*")) == []
    do(environment, "manage.py", "verify", "--all")
    do(environment, "manage.py", "backup", str(new))
    assert word not in gzip.decompress(new.read_bytes())
    # the older backup still has everything: the ledger takes it away before any request is served
    other = home(two) | {
        "TOUCHSTONE_BACKUP_KEYS": (one / "backup_keys").read_text().strip(),
        "TOUCHSTONE_ERASURES": str(one / "erasures" / "ledger.jsonl"),
    }
    do(other, "manage.py", "restore", str(old))
    assert [
        path.name for path in two.rglob("*") if path.is_file() and word in path.read_bytes()
    ] == []
    do(other, "manage.py", "verify", "--all")
    script = "from judgments.models import Collection as C; print(*C.objects.values_list('slug'))"
    assert "books-of-eve" in do(other, "manage.py", "shell", "-v0", "-c", script)
    assert "'books'" not in do(other, "manage.py", "shell", "-v0", "-c", script)
