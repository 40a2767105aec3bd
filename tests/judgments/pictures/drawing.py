"""Pictures for tests, good and bad, and a collection whose documents name some."""

import base64
import io
import json
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from PIL import Image

from judgments.collections.services import load_documents
from judgments.jobs.services import work_jobs
from judgments.models import Collection, Picture
from judgments.pictures.services import choose_fields
from tests.builders import NOW, make_access
from touchstone.files.collections import read_documents


def drawn(width: int = 40, height: int = 30, *, form: str = "PNG", **options: Any) -> bytes:
    """A picture of one colour; options: of Pillow, and `mode`, `colour`."""
    mode, colour = options.pop("mode", "RGB"), options.pop("colour", 0)
    out = io.BytesIO()
    Image.new(mode, (width, height), colour).save(out, form, **options)
    return out.getvalue()


def data_uri(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def load(collection: Collection, documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Documents by their id, with these fields, as an upload brings them."""
    lines = [json.dumps({"doc_id": docid, **fields}) for docid, fields in documents.items()]
    records = read_documents(io.BytesIO("\n".join(lines).encode()), name="documents.jsonl")
    load_documents(collection=collection, records=records, by=None, at=NOW)


def choose(collection: Collection, **sizes: str) -> None:
    """Have fields shown as pictures, and all work done that follows."""
    choose_fields(access=make_access(collection=collection), fields=sizes, at=timezone.now())
    work_jobs()
    collection.refresh_from_db()


def states(collection: Collection) -> dict[str, tuple[str, str]]:
    """(state, reason) of each picture by its source."""
    pictures = Picture.objects.filter(collection=collection)
    return {one.source: (one.state, one.reason) for one in pictures}
