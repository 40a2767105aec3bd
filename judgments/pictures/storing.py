"""The store of pictures, which has a limit, and the work that fills it."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from judgments.jobs.services import queue_job
from judgments.models import Collection, Picture, PictureContent, User
from judgments.pictures.encoding import Encoded
from judgments.pictures.queries import FETCH, count_bytes, list_open_jobs
from judgments.pictures.rules import MOST_BYTES


@dataclass(frozen=True)
class Failure:
    """Why there are no bytes. is_final: trying again would not help."""

    reason: str
    status: int | None = None
    is_final: bool = True


def lock(collection_id: int) -> Collection:
    """Loading documents, choosing fields and ending a job wait for one another."""
    return Collection.objects.select_for_update(no_key=True).get(pk=collection_id)


def ensure_fetching(*, collection: Collection, by: User | None, at: datetime) -> None:
    """See to it that a job fetches what waits; call it under the collection's lock."""
    is_waiting = Picture.objects.filter(collection=collection, state=Picture.State.WAITING)
    if is_waiting.exists() and not list_open_jobs(collection, (FETCH,)).exists():
        queue_job(collection=collection, by=by, kind=FETCH, params={}, at=at)


def keep_bytes(picture_id: int, data: bytes) -> None:
    """Let uploaded bytes wait to be re-encoded, unless that has been done already."""
    wanting = Picture.objects.filter(
        pk=picture_id, state__in=(Picture.State.MISSING, Picture.State.REFUSED)
    )
    if not wanting.exists():
        return
    if len(data) > MOST_BYTES:
        refuse(picture_id, Failure("too_large"))
    elif not has_room(picture_id, len(data)):
        refuse(picture_id, Failure("store_full"))
    else:
        wanting.update(state=Picture.State.WAITING, reason="", attempts=0, bytes=len(data))
        PictureContent.objects.update_or_create(picture_id=picture_id, defaults={"data": data})


def store(picture_id: int, encoded: Encoded) -> bool:
    """Put the picture into the store under a new name; False if it has no room."""
    with transaction.atomic():
        if not has_room(picture_id, len(encoded.data)):
            refuse(picture_id, Failure("store_full"))
            return False
        Picture.objects.filter(pk=picture_id).update(
            public_id=uuid.uuid4(),
            state=Picture.State.STORED,
            reason="",
            status=None,
            attempts=0,
            width=encoded.width,
            height=encoded.height,
            bytes=len(encoded.data),
        )
        PictureContent.objects.update_or_create(
            picture_id=picture_id, defaults={"data": encoded.data}
        )
    return True


def refuse(picture_id: int, failure: Failure) -> None:
    """Say of the picture why it is not shown; what was stored of it goes."""
    with transaction.atomic():
        Picture.objects.filter(pk=picture_id).update(
            state=Picture.State.REFUSED, reason=failure.reason, status=failure.status, bytes=0
        )
        PictureContent.objects.filter(picture=picture_id).delete()


def has_room(picture_id: int, size: int) -> bool:
    """Whether so many bytes fit into the store, in place of those that the picture takes now."""
    others = count_bytes(Picture.objects.exclude(pk=picture_id))
    return others + size <= int(settings.PICTURE_STORE)
