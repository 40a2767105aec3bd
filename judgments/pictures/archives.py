"""Picture files in a ZIP archive, by the names that documents' fields hold."""

import struct
import zipfile
from pathlib import PurePosixPath
from typing import BinaryIO, Final

from django.db import transaction
from django.utils import timezone

from judgments.audit import services as audit
from judgments.jobs.kinds import Work
from judgments.models import Collection, Picture
from judgments.pictures.encoding import PictureRefusedError, encode
from judgments.pictures.fetching import author_of
from judgments.pictures.rules import MOST_BYTES, UPLOADED, is_address
from judgments.pictures.storing import Failure, refuse, store
from touchstone.errors import DomainError

LONGEST_LISTING: Final = 16 * 1024 * 1024  # bytes of an archive that name its files


class ArchiveRefused(DomainError):
    """The file holds no pictures that could be taken."""


def store_files(work: Work) -> None:
    """The job kind `import_pictures`: an archive whose files have the names that fields hold."""
    counts = {"stored": 0, "refused": 0, "not_named": 0}
    with work.open() as file, _open_archive(file) as archive:
        named = _map_files(work.collection_id)
        for member in archive.infolist():
            if member.is_dir():
                continue
            pictures = named.get(member.filename) or named.get(PurePosixPath(member.filename).name)
            for picture_id in pictures or ():
                is_stored = _store_file(picture_id, archive, member)
                counts["stored" if is_stored else "refused"] += 1
            counts["not_named"] += not pictures
            work.progress(member.header_offset)
    if not counts["stored"] + counts["refused"]:
        raise ArchiveRefused(
            "no_file_named",
            "No file’s name appears in a picture field of any document.",
        )
    with transaction.atomic():
        collection = Collection.objects.get(pk=work.collection_id)
        audit.record(
            collection=collection,
            actor=author_of(work),
            at=timezone.now(),
            action="pictures.uploaded",
            subject=collection.slug,
            after=counts,
        )
        work.finish({**counts, "next_page": ["pictures", collection.slug]})


def _map_files(collection_id: int) -> dict[str, list[int]]:
    """Pictures that are to be uploaded, by the name that a field holds and by its last part."""
    pictures = Picture.objects.filter(collection=collection_id)
    files: dict[str, list[int]] = {}
    for pk, source in pictures.order_by("pk").values_list("pk", "source").iterator():
        if not is_address(source) and not source.startswith(UPLOADED):
            for name in {source, PurePosixPath(source).name}:
                files.setdefault(name, []).append(pk)
    return files


def _store_file(picture_id: int, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    try:
        with archive.open(member) as file:
            encoded = encode(file.read(MOST_BYTES + 1))
    except PictureRefusedError as refusal:
        refuse(picture_id, Failure(refusal.reason))
        return False
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
        refuse(picture_id, Failure("broken"))  # damaged, encrypted, packed in an unusual way
        return False
    return store(picture_id, encoded)


def _open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """The archive. Its list of files is measured before it is read into memory."""
    refused = ArchiveRefused("not_an_archive", "This file is not a ZIP archive.")
    file.seek(0, 2)
    file.seek(max(0, file.tell() - 65_557))
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        raise refused
    (listing,) = struct.unpack_from("<L", tail, end + 12)
    # what would let an archive have a longer listing stands just before
    if listing > LONGEST_LISTING or tail[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
        raise ArchiveRefused("too_many_files", "The archive has more than 65,534 files.")
    file.seek(0)
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise refused from error
