"""The long work: finding what documents name, and fetching it."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from judgments.jobs.kinds import Work
from judgments.models import Collection, Document, Picture, User
from judgments.outgoing.client import Client, Limits, Outcome, OutgoingError
from judgments.pictures.encoding import PictureRefusedError, encode
from judgments.pictures.naming import name_pictures
from judgments.pictures.rules import MOST_BYTES, UPLOADED
from judgments.pictures.storing import Failure, ensure_fetching, lock, refuse, store
from judgments.stopping import process_ends

CHUNK: Final = 500  # documents that are looked through in one transaction
SLICE: Final = 30.0  # seconds after which other jobs have their turn
AT_ONCE: Final = 4  # requests
ATTEMPTS: Final = 3
PAUSE: Final = 5.0  # seconds for servers that failed
SECONDS: Final = 20.0  # for a request
HEADERS: Final = (("Accept", "image/webp,image/avif,image/png,image/jpeg,image/gif"),)
MAY_PASS: Final = frozenset({Outcome.DNS, Outcome.CONNECT, Outcome.TIMEOUT})


def find_pictures(work: Work) -> None:
    """The job kind `find_pictures`: look through all documents for what the chosen fields name."""
    last = done = 0
    while True:
        with transaction.atomic():
            collection = lock(work.collection_id)
            documents = Document.objects.filter(collection=collection, pk__gt=last).order_by("pk")
            chunk = list(documents.values_list("pk", "fields")[:CHUNK])
            name_pictures(collection=collection, documents=chunk)
        if not chunk:
            break
        last, done = chunk[-1][0], done + len(chunk)
        work.progress(done)
    with transaction.atomic():
        collection = lock(work.collection_id)
        _end(work, collection, {"documents": done})


def fetch_pictures(work: Work) -> None:
    """The job kind `fetch_pictures`: for half a minute; what is left then is another job's."""
    until = time.monotonic() + SLICE
    done = tried = 0
    limits = Limits(seconds=SECONDS, size=MOST_BYTES, connections=AT_ONCE)
    with Client(limits=limits) as client, ThreadPoolExecutor(AT_ONCE) as threads:
        while batch := _next_pictures(work.collection_id):
            if batch[0].attempts > tried:  # all others have been tried as often
                tried = batch[0].attempts
                time.sleep(PAUSE)
            for picture, data in zip(
                batch, threads.map(partial(_read, client), batch), strict=True
            ):
                _settle(picture, data)
            done += len(batch)
            work.progress(done)
            if time.monotonic() >= until or process_ends.is_set():
                break
    with transaction.atomic():
        _end(work, lock(work.collection_id), {"pictures": done})


def _end(work: Work, collection: Collection, counts: dict[str, int]) -> None:
    """Mark the job done, delete what no document names, and queue what is left to fetch."""
    unnamed = Picture.objects.filter(collection=collection, documents=None)
    # what came inside a document can't be had again
    unnamed.exclude(source__startswith=UPLOADED).delete()
    work.finish({**counts, "next_page": ["pictures", collection.slug]})
    ensure_fetching(collection=collection, by=author_of(work), at=timezone.now())


def _next_pictures(collection_id: int) -> list[Picture]:
    """The next few pictures, in the documents' order; what failed before comes last."""
    waiting = Picture.objects.filter(collection=collection_id, state=Picture.State.WAITING)
    batch = list(waiting.select_related("content").order_by("attempts", "pk")[:AT_ONCE])
    Picture.objects.filter(pk__in=[one.pk for one in batch]).update(attempts=F("attempts") + 1)
    return batch


def _read(client: Client, picture: Picture) -> bytes | Failure:
    """The picture's bytes as they are elsewhere; called in a thread without a connection."""
    if picture.attempts >= ATTEMPTS:
        return Failure("given_up")
    if hasattr(picture, "content"):
        return bytes(picture.content.data)
    if not settings.OUTGOING:
        return Failure("off")
    try:
        return client.request("GET", picture.source, headers=HEADERS).body
    except OutgoingError as error:
        status = error.answer.status if error.answer else None
        is_busy = status is not None and (status == 429 or status >= 500)
        may_pass = error.outcome in MAY_PASS or is_busy
        is_last = picture.attempts + 1 >= ATTEMPTS
        return Failure(error.outcome, status, is_final=is_last or not may_pass)


def _settle(picture: Picture, data: bytes | Failure) -> None:
    """Store what was read, or say why not; a failure that may pass leaves the picture waiting."""
    if isinstance(data, Failure):
        if data.is_final:
            refuse(picture.pk, data)
        return
    try:
        encoded = encode(data)
    except PictureRefusedError as refusal:
        refuse(picture.pk, Failure(refusal.reason))
    else:
        store(picture.pk, encoded)


def author_of(work: Work) -> User | None:
    """Who asked for the work."""
    return None if work.created_by_id is None else User.objects.get(pk=work.created_by_id)
