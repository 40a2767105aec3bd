"""Pictures as pages show them, and a collection's progress in storing them."""

from collections import Counter, defaultdict
from collections.abc import Collection as Sized
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from django.utils.translation import gettext, gettext_noop

from judgments.models import Collection, Document, DocumentPicture, Job, Picture
from judgments.outgoing.client import MESSAGES as OUTGOING_REASONS
from judgments.permissions import Access, NotFound, check_may_see_content
from judgments.pictures.rules import SIZES, looks_like_pictures
from judgments.storage.bulk import Among

FETCH: Final = "fetch_pictures"
FIND: Final = "find_pictures"
LOOKED_AT: Final = 300  # documents that suggest fields
REASONS: Final[Mapping[str, str]] = {
    **{str(outcome): message for outcome, message in OUTGOING_REASONS.items()},
    "off": gettext_noop("Requests to other servers are switched off."),
    "not_a_picture": gettext_noop("Not a PNG, JPEG, GIF, WebP or AVIF picture."),
    "broken": gettext_noop("The picture is damaged."),
    "too_large": gettext_noop("Larger than 10 MB."),
    "too_many_pixels": gettext_noop("More than 25 million pixels."),
    "too_long": gettext_noop("The address is longer than 2,000 characters."),
    "store_full": gettext_noop("The picture store is full."),
    "given_up": gettext_noop("The worker stopped three times while reading it."),
}


@dataclass(frozen=True)
class ShownPicture:
    """A picture at a document. name: of its stored copy; None where there is none yet.

    size: small, medium or large. note: why there is none.
    """

    name: UUID | None
    size: str
    note: str = ""


@dataclass(frozen=True)
class DocumentPictures:
    """The pictures of one document, in order. fields: that name them, and are not shown as text."""

    shown: Sequence[ShownPicture]
    fields: frozenset[str]


def reason_words(reason: str, status: int | None = None) -> str:
    """Why a picture was refused, as a sentence in the language of the page."""
    if status is not None:
        return gettext("The server answered with status {status}.").format(status=status)
    return gettext(REASONS.get(reason, reason))


def list_pictures(
    *, collection: Collection, documents: Iterable[int]
) -> dict[int, list[ShownPicture]]:
    """The pictures of each of the documents that has any, in the order to show them in."""
    sizes = {one["field"]: one["size"] for one in collection.picture_fields}
    places = {field: position for position, field in enumerate(sizes)}
    if not sizes:
        return {}
    rows = DocumentPicture.objects.filter(
        Among("document", documents), field__in=list(sizes)
    ).values_list(
        "document", "field", "position",
        "picture__public_id", "picture__state", "picture__reason", "picture__status",
    )  # fmt: skip
    result: dict[int, list[ShownPicture]] = defaultdict(list)
    for document, field, _, name, state, reason, status in sorted(
        rows.order_by(), key=lambda row: (places[row[1]], row[2])
    ):
        result[document].append(_show(sizes[field], name, state, reason, status))
    return dict(result)


def get_document_pictures(*, access: Access, document: Document) -> DocumentPictures:
    """The pictures of a document of the collection."""
    check_may_see_content(access)
    collection = access.collection
    shown = list_pictures(collection=collection, documents=[document.pk])
    return DocumentPictures(shown.get(document.pk, ()), field_names(collection))


def _show(size: str, name: UUID, state: str, reason: str, status: int | None) -> ShownPicture:
    if state == Picture.State.STORED:
        return ShownPicture(name, size)
    notes = {
        Picture.State.WAITING: gettext("Not fetched yet."),
        Picture.State.MISSING: gettext("Not uploaded."),
    }
    return ShownPicture(None, size, notes.get(Picture.State(state)) or reason_words(reason, status))


def get_stored(*, collection: Collection, name: UUID, documents: QuerySet[Any] | None) -> bytes:
    """A stored picture's bytes. documents: one of these has to have it, if they are given."""
    pictures = Picture.objects.filter(
        collection=collection, public_id=name, state=Picture.State.STORED
    )
    if documents is not None:
        naming = DocumentPicture.objects.filter(document__in=documents)
        pictures = pictures.filter(pk__in=naming.values("picture"))
    data = pictures.values_list("content__data", flat=True).first()
    if data is None:
        raise NotFound("picture")
    return bytes(data)


def get_picture(*, access: Access, name: UUID) -> bytes:
    """A stored picture's bytes, for those who may read every document."""
    check_may_see_content(access)
    return get_stored(collection=access.collection, name=name, documents=None)


@dataclass(frozen=True)
class PictureField:
    """size: small, medium or large."""

    field: str
    size: str


@dataclass(frozen=True)
class RefusedPictures:
    """pictures: number refused for this reason. example: the source of one of them.

    message: the reason as text.
    """

    reason: str
    message: str
    pictures: int
    example: str


@dataclass(frozen=True)
class PicturesState:
    """How many of a collection's pictures are stored, waiting and refused.

    waiting: to be fetched. missing: files that are not uploaded yet. bytes: size of the
    collection's pictures. is_running: a worker is processing them, or will be.
    """

    fields: tuple[PictureField, ...]
    waiting: int
    missing: int
    stored: int
    refused: int
    bytes: int
    is_running: bool
    reasons: tuple[RefusedPictures, ...]

    @property
    def total(self) -> int:
        """How many pictures there are."""
        return self.waiting + self.missing + self.stored + self.refused

    @property
    def settled(self) -> int:
        """How many are stored, or refused."""
        return self.stored + self.refused


def get_pictures_state(*, access: Access) -> PicturesState:
    """The state of the pictures, for those who may read the collection's documents."""
    check_may_see_content(access)
    collection = access.collection
    pictures = Picture.objects.filter(collection=collection).order_by()
    counts = dict(pictures.values_list("state").annotate(pictures=Count("pk")))
    return PicturesState(
        fields=tuple(PictureField(**one) for one in collection.picture_fields),
        waiting=counts.get(Picture.State.WAITING, 0),
        missing=counts.get(Picture.State.MISSING, 0),
        stored=counts.get(Picture.State.STORED, 0),
        refused=counts.get(Picture.State.REFUSED, 0),
        bytes=count_bytes(pictures),
        is_running=list_open_jobs(collection).exists(),
        reasons=_list_reasons(pictures),
    )


def count_bytes(pictures: QuerySet[Picture]) -> int:
    """How much of the store these pictures take."""
    return pictures.aggregate(bytes=Sum("bytes"))["bytes"] or 0


def list_open_jobs(collection: Collection, kinds: Sized[str] = (FETCH, FIND)) -> QuerySet[Job]:
    """The jobs that find or fetch the collection's pictures and have not ended."""
    states = (Job.State.QUEUED, Job.State.RUNNING)
    return Job.objects.filter(collection=collection, kind__in=kinds, state__in=states)


def _list_reasons(pictures: QuerySet[Picture]) -> tuple[RefusedPictures, ...]:
    refused = pictures.filter(state=Picture.State.REFUSED)
    rows = refused.values_list("reason", "status").annotate(pictures=Count("pk"))
    return tuple(
        RefusedPictures(
            reason=reason,
            message=reason_words(reason, status),
            pictures=count,
            example=refused.filter(reason=reason, status=status).order_by("pk")[0].source,
        )
        for reason, status, count in sorted(rows, key=lambda row: (-row[2], row[0], row[1] or 0))
    )


def suggest_fields(*, access: Access) -> list[str]:
    """Fields of the collection's first documents that may name pictures, most frequent first."""
    check_may_see_content(access)
    documents = Document.objects.filter(collection=access.collection, is_stub=False)
    result: Counter[str] = Counter()
    for fields in documents.order_by("pk").values_list("fields", flat=True)[:LOOKED_AT]:
        result.update(name for name, value in fields.items() if looks_like_pictures(value))
    return [name for name, _ in sorted(result.items(), key=lambda item: (-item[1], item[0]))]


def field_names(collection: Collection) -> frozenset[str]:
    """The fields that are shown as pictures, and not as texts."""
    return frozenset(one["field"] for one in collection.picture_fields)


def list_sizes() -> list[tuple[str, str]]:
    """(size, in words) of all sizes."""
    return [(size, f"{size.capitalize()} ({pixels} px)") for size, pixels in SIZES.items()]
