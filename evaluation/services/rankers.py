"""Registering the systems that are compared."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from evaluation.models import Ranker
from judgments.errors import DomainError
from judgments.models import Collection, User
from judgments.models.collections import SLUG
from judgments.permissions import Access, check_may_upload_runs
from judgments.services import audit


class RankerRefused(DomainError):
    """The ranker can't be registered like this."""


def create_ranker(
    *, access: Access, at: datetime, slug: str, name: str = "", description: str = ""
) -> Ranker:
    """Register a ranker in the viewer's collection; for researchers and leads.

    Raises RankerRefused for a slug that is taken or not made of a-z, 0-9 and hyphens.
    """
    check_may_upload_runs(access)
    return start_ranker(
        collection=access.collection,
        by=access.user,
        at=at,
        slug=slug,
        name=name,
        description=description,
    )


def start_ranker(
    *,
    collection: Collection,
    by: User | None,
    at: datetime,
    slug: str,
    name: str = "",
    description: str = "",
) -> Ranker:
    """`create_ranker` without a viewer, for the command line."""
    try:
        SLUG(slug)
    except ValidationError as error:
        raise RankerRefused("slug_invalid", error.messages[0]) from error
    try:
        with transaction.atomic():
            ranker = Ranker.objects.create(
                collection=collection,
                slug=slug,
                name=name.strip() or slug,
                description=description.strip(),
                created_at=at,
                created_by=by,
            )
            audit.record(
                collection=collection, actor=by, at=at, action="ranker.created", subject=slug
            )
    except IntegrityError as error:
        raise RankerRefused("slug_taken", f"There is already a ranker {slug} here.") from error
    return ranker
