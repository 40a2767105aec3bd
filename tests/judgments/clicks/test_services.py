"""A click log becomes counts: every record in the ledger, no event, no client, no unknown text."""

import json
import zlib
from io import StringIO

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command

from judgments.clicks import packing
from judgments.clicks.queries import (
    ESTIMATORS,
    MODELS,
    get_log_page,
    get_pairs_page,
    list_applications,
    load_evidence,
)
from judgments.clicks.services import ClicksRefused
from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, ClickBlock, ClickLog, Query
from judgments.permissions import NotFound
from tests.builders import make_access, make_world
from tests.judgments.clicks.builders import (
    EXAMINATION,
    HEADER,
    make_clicks,
    page_rows,
    simulated_rows,
)
from touchstone.files.errors import FileRefused

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


def held(log: ClickLog, kind: str) -> list[tuple[int, int, int, int, int]]:
    """(query, document, rank, impressions, clicks), the names as they are stored."""
    stored = load_evidence(log=log, kind=kind)
    own = stored.evidence
    columns = (
        stored.queries[own.query],
        stored.documents[own.document],
        own.rank,
        own.impressions,
        own.clicks,
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_the_evidence_is_counted_by_pair_and_rank_and_unknown_names_are_numbers(monkeypatch):
    monkeypatch.setattr(packing, "BLOCK", 2)
    world = make_world()
    rows = [
        *page_rows(1, world.queries[0].text, ["d1", "d2"], [2]),
        *page_rows(2, world.queries[0].text, ["d1", "nobody's"], [1]),
        *page_rows(3, "a secret question", ["d1", "d2"]),
        'click,"query number 1",d3,4,p1,client1,9',
    ]
    log = make_clicks(world=world, rows=rows)
    q1 = world.queries[0].pk
    d1, d2, d3 = (document.pk for document in world.documents[:3])
    # names that the collection lacks count down in the order of the log
    assert held(log, "events") == [
        (-2, d1, 1, 1, 0),
        (-2, d2, 2, 1, 0),
        (q1, -3, 2, 1, 0),
        (q1, d1, 1, 2, 1),
        (q1, d2, 2, 1, 1),
        (q1, d3, 4, 0, 1),
    ]
    # the click below the page is evidence of an event, and of no result page
    assert held(log, "pages") == held(log, "events")[:-1]
    assert ClickBlock.objects.filter(log=log, kind="events").count() == 3
    assert (log.impressions, log.clicks, log.records) == (6, 3, 9)
    assert (log.queries, log.known_queries) == (2, 1)
    assert (log.documents, log.known_documents) == (4, 3)


def test_neither_clients_nor_unknown_texts_nor_events_are_stored():
    world = make_world()
    rows = page_rows(77, "a secret question", ["d1", "hidden-document"], [1])
    log = make_clicks(world=world, rows=rows)
    stored = json.dumps(list(ClickLog.objects.values()), default=str)
    blocks = b"".join(zlib.decompress(bytes(block.rows)) for block in log.blocks.all())
    for word in ("secret", "hidden", "client77", "p77"):
        assert word not in stored
        assert word.encode() not in blocks
    assert Query.objects.filter(collection=world.collection).count() == len(world.queries)


def test_the_ledger_has_every_record_once():
    world = make_world()
    text = world.queries[0].text
    rows = [
        *page_rows(1, text, ["d1", "d2"], [2]),
        *page_rows(1, text, ["d1", "d2"], [2]),  # all duplicates
        f'add_to_cart,"{text}",d1,1,p1,c,1',
        f'impression,"{text}",,1,p1,c,1',
        "impression,,d1,1,,c,1",
    ]
    page = get_log_page(
        access=make_access(collection=world.collection, username="dora"),
        number=make_clicks(world=world, rows=rows).number,
    )
    assert {one.outcome: one.records for one in page.outcomes} == {
        "impression": 2,
        "click": 1,
        "duplicate": 3,
        "other_action": 1,
        "no_document": 1,
        "no_query": 1,
    }
    assert sum(one.records for one in page.outcomes) == page.log.records == len(rows)
    assert [one.outcome for one in page.outcomes if one.is_evidence] == ["impression", "click"]


def test_an_import_is_all_or_nothing_and_the_same_log_is_refused():
    world = make_world()
    rows = page_rows(1, world.queries[0].text, ["d1", "d2"], [1])
    with pytest.raises(FileRefused) as refused:
        make_clicks(world=world, rows=[*rows, "click,q,d1,first,p1,c,1"])
    assert [problem.line for problem in refused.value.problems] == [5]
    assert not ClickLog.objects.exists()
    make_clicks(world=world, rows=rows)
    with pytest.raises(ClicksRefused, match="already imported as “May”"):
        make_clicks(world=world, rows=rows, name="again")
    assert make_clicks(world=world, rows=[*rows, *page_rows(2, "q", ["d1", "d2"])]).number == 2


def test_a_log_without_evidence_is_refused_with_its_actions():
    world = make_world()
    rows = ['view,"q",d1,1,p1,c,1', 'view,"q",d2,2,p1,c,1', 'tap,"q",d2,2,p1,c,1']
    with pytest.raises(ClicksRefused, match=r"Its actions: view, tap\."):
        make_clicks(world=world, rows=rows)


def test_a_lead_uploads_a_log_that_a_worker_imports(settings, tmp_path, client):
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    world = make_world()
    rows = ['seen,"q1",d1,5,p1,c,1', 'seen,"q1",d2,6,p1,c,1', 'tapped,"q1",d2,6,p1,c,1']
    client.force_login(world.ada)
    sent = {
        "name": "June",
        "file": ContentFile("\n".join([HEADER, *rows]).encode(), name="log.csv"),
        "impressions": "seen",
        "clicks": "tapped, touched",
        "rank_base": "1",
    }
    assert client.post("/c/books/clicks/upload", sent).status_code == 302
    work_jobs()
    log = ClickLog.objects.get()
    assert (log.name, log.impressions, log.clicks, log.known_queries) == ("June", 2, 1, 1)
    (application,) = list_applications(log)
    # the ranks begin at 5: of that page, nothing is known of 1 to 4
    assert (application.rank_base, application.pages, application.dropped["gap"]) == (1, 0, 1)
    assert AuditEntry.objects.filter(action="clicks.imported", actor=world.ada).exists()
    page = client.get("/c/books/clicks/1").content.decode()
    assert "there are no result pages" in page
    response = client.post("/c/books/clicks/upload", sent | {"clicks": "seen"})
    assert "both an impression and a click" in response.content.decode()


def test_the_examination_of_a_simulated_log_is_found_and_its_page_shows_it(client):
    world = make_world(queries=30, documents=6)
    log = make_clicks(world=world, rows=simulated_rows(world))
    (application,) = list_applications(log)
    assert application.pages == 3000
    assert set(application.curves) == set(ESTIMATORS)
    for name, curve in application.curves.items():
        if name == "sdbn":  # its examination is that people read down to a position
            continue
        for point, truth in zip(curve, EXAMINATION, strict=True):
            assert point.examination == pytest.approx(truth, abs=0.12)
            assert point.low <= point.examination <= point.high
    assert np.array(application.supported)[0, 1]
    client.force_login(world.dora)
    page = client.get(f"/c/books/clicks/{log.number}").content.decode()
    assert f"{application.curves['all_pairs'][1].examination:.3f}" in page
    assert "refused" not in page
    assert "Fitted to one random half of 3,000 pages" in page
    for name in MODELS:
        fit = application.models[name]
        assert fit.perplexity.low < fit.perplexity.value < fit.perplexity.high
        assert f"{fit.perplexity.value:.3f}" in page
    best = min(application.models, key=lambda name: application.models[name].perplexity.value)
    assert best == "pbm"


def test_thin_evidence_is_refused(client):
    world = make_world()
    log = make_clicks(world=world)
    client.force_login(world.dora)
    page = client.get(f"/c/books/clicks/{log.number}").content.decode()
    assert "AllPairs refuses position 2" in page
    assert "PBM refuses position 2" in page
    assert "SDBN refuses positions 1, 2" in page
    assert "Refused: half of the pages must be at least 100 pages of 10 queries" in page


def test_pairs_have_clicks_over_expected_clicks(client):
    world = make_world()
    log = make_clicks(world=world)
    access = make_access(collection=world.collection, username="dora")
    page = get_pairs_page(access=access, number=log.number)
    # d2 was shown at 1 (no click there) and at 2 (one click in two impressions)
    assert [(row.doc_id, row.impressions, row.clicks, row.expected) for row in page.rows] == [
        ("d2", 2, 1, 0.5),
        ("d1", 1, 0, 0.0),
    ]
    assert [row.coec for row in page.rows] == [2.0, None]
    assert get_pairs_page(access=access, number=log.number, query_id="q2").rows == []
    client.force_login(world.dora)
    assert "2.00" in client.get(f"/c/books/clicks/{log.number}/pairs").content.decode()
    ben = make_access(collection=world.collection, username="ben")
    with pytest.raises(NotFound):
        get_pairs_page(access=ben, number=log.number)


def test_the_command_imports_several_files_as_one_log(tmp_path):
    world = make_world()
    text = world.queries[0].text
    paths = []
    for number, documents in ((1, ["d1", "d2"]), (2, ["d2", "d1"])):
        path = tmp_path / f"{number}.csv"
        rows = page_rows(number, text, documents, [1])
        path.write_text("\n".join([HEADER, *rows, *rows]))
        paths.append(str(path))
    out = StringIO()
    call_command("import_clicks", "books", *paths, "--by", "ada", "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["number"], found["impressions"], found["clicks"]) == (1, 4, 2)
    assert ClickLog.objects.get().name == "1.csv"
    with pytest.raises(SystemExit) as refused:
        call_command("import_clicks", "books", *paths, stderr=out)
    assert refused.value.code == 2
    assert "already imported" in out.getvalue()
