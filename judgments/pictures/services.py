"""What leads do about pictures: choose fields, upload files, have them fetched again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from django.core.files.base import File
from django.db import transaction
from django.db.models import Q

from judgments.audit import services as audit
from judgments.jobs.services import submit_job
from judgments.models import Document, Job, Picture
from judgments.permissions import Access, check_may_lead
from judgments.pictures.queries import FIND
from judgments.pictures.rules import MOST_FIELDS, SIZES
from judgments.pictures.storing import ensure_fetching, lock
from touchstone.errors import DomainError

UPLOAD: Final = "import_pictures"


class PicturesRefused(DomainError):
    """The fields or files can't be taken like this."""


def choose_fields(*, access: Access, fields: Mapping[str, str], at: datetime) -> Job | None:
    """Show these fields as pictures, each in its size, in this order; None if they were chosen.

    Returns the job that looks through the documents. Raises PicturesRefused.
    """
    check_may_lead(access)
    _check_fields(fields)
    chosen = [{"field": field, "size": size} for field, size in fields.items()]
    with transaction.atomic():
        collection = lock(access.collection.pk)
        before = collection.picture_fields
        if before == chosen:
            return None
        collection.picture_fields = access.collection.picture_fields = chosen
        collection.save(update_fields=["picture_fields"])
        audit.record_by(
            access,
            at,
            "pictures.fields_chosen",
            collection.slug,
            before=before,
            after=chosen,
        )
        units = Document.objects.filter(collection=collection).count()
        return submit_job(access=access, kind=FIND, file=None, params={}, at=at, units=units)


def _check_fields(fields: Mapping[str, str]) -> None:
    if len(fields) > MOST_FIELDS:
        raise PicturesRefused("too_many_fields", f"At most {MOST_FIELDS} fields can hold pictures.")
    for field, size in fields.items():
        if not field.strip() or len(field) > 200 or "\x00" in field:
            raise PicturesRefused("field_invalid", "A field’s name must have 1 to 200 characters.")
        if field == "html":
            raise PicturesRefused("field_invalid", "The field html is shown as a page.")
        if size not in SIZES:
            raise PicturesRefused(
                "size_invalid", f"Unknown size. Choose one of: {', '.join(SIZES)}."
            )


def fetch_again(*, access: Access, at: datetime) -> int:
    """Try the pictures again that were refused and have an address; how many there are."""
    check_may_lead(access)
    with transaction.atomic():
        collection = lock(access.collection.pk)
        refused = Picture.objects.filter(
            Q(source__istartswith="http://") | Q(source__istartswith="https://"),
            collection=collection,
            state=Picture.State.REFUSED,
        )
        count = refused.update(state=Picture.State.WAITING, reason="", status=None, attempts=0)
        if count:
            audit.record_by(
                access, at, "pictures.fetched_again", collection.slug, after={"pictures": count}
            )
        ensure_fetching(collection=collection, by=access.user, at=at)
    return count


def upload_files(*, access: Access, file: "File[bytes]", at: datetime) -> Job:
    """Have a ZIP archive of picture files stored under the names that documents' fields hold."""
    check_may_lead(access)
    retry = {"retry_page": ["pictures", access.collection.slug]}
    return submit_job(access=access, kind=UPLOAD, file=file, params=retry, at=at)
