"""What a purge deletes beside rows, and of the installation: with real commits."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from config.privacy.purging import purge_collection
from judgments.archiving.services import archive_collection
from judgments.jobs.services import submit_job
from judgments.models import (
    Collection,
    Job,
    OutboxMessage,
    Secret,
    WebhookDelivery,
    WebhookEndpoint,
)
from judgments.webhooks.services import publish_event
from tests.builders import NOW, make_access, make_world


@pytest.fixture(autouse=True)
def own_home(settings: Any, tmp_path: Path) -> None:
    settings.HOME, settings.MEDIA_ROOT = tmp_path, str(tmp_path / "uploads")
    settings.ERASURES = str(tmp_path / "erasures" / "ledger.jsonl")


@pytest.mark.django_db(transaction=True)
def test_uploads_and_deliveries_of_the_installation_go_too() -> None:
    world = make_world(queries=1, documents=1)
    make_world(slug="films", queries=1, documents=1)
    secret = Secret.objects.create(origin="https://a.example", ciphertext="x", created_at=NOW)
    WebhookEndpoint.objects.create(
        url="u", events=["campaign.closed"], secret=secret, created_at=NOW
    )
    for slug in ("books", "films"):
        collection = Collection.objects.get(slug=slug)
        publish_event(event="campaign.closed", key=slug, collection=collection, data={}, at=NOW)
    file = ContentFile(b"q9\tone more\n", name="queries.tsv")
    ada = make_access(collection=world.collection)
    job = submit_job(access=ada, kind="import_queries", file=file, params={}, at=NOW)
    name = str(job.file.name)
    assert default_storage.exists(name)
    Job.objects.update(state=Job.State.FAILED)
    archive_collection(access=ada, at=NOW)
    purged = purge_collection(
        collection=Collection.objects.get(slug="books"), by=None, at=NOW, force=True
    )
    assert purged.files == 1
    assert not default_storage.exists(name)
    assert list(WebhookDelivery.objects.values_list("key", flat=True)) == ["films"]
    assert OutboxMessage.objects.filter(channel="webhook").count() == 1
