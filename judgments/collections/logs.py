"""Uploaded logs of a collection: numbered, and each content once."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Max

from judgments.models import Collection, User
from judgments.models.logs import UploadedLog
from touchstone.errors import DomainError

Log = TypeVar("Log", bound=UploadedLog)


def create_log(
    kind: type[Log],
    *,
    collection: Collection,
    name: str,
    digest: str,
    known: Callable[[str], DomainError],
    by: User | None,
    at: datetime,
    is_simulated: bool,
    **values: Any,
) -> Log:
    """The collection's next log of a kind; in a transaction.

    digest: of its content. known: what to raise where the collection has that content, given the
    name of the log that has it.
    """
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
    logs: Any = kind._default_manager.filter(collection=collection)
    same = logs.filter(digest=digest).first()
    if same is not None:
        raise known(same.name)
    made: Log = kind._default_manager.create(
        collection=collection,
        number=(logs.aggregate(last=Max("number"))["last"] or 0) + 1,
        name=name.strip()[:200],
        digest=digest,
        is_simulated=is_simulated,
        created_at=at,
        created_by=by,
        **values,
    )
    return made
