"""Judgment lists and what can be done with their versions."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from judgments.errors import DomainError
from judgments.models import Collection, JudgmentList, User
from judgments.models.collections import SLUG
from judgments.permissions import Access, check_may_lead
from judgments.services import audit


class ListRefused(DomainError):
    """The list can't be made or changed like this."""


def create_list(
    *,
    access: Access,
    at: datetime,
    slug: str,
    name: str,
    scale: list[dict[str, Any]],
    description: str = "",
) -> JudgmentList:
    """Make an empty list on a grade scale (`Scale.to_json()`); for leads."""
    check_may_lead(access)
    return start_list(
        collection=access.collection,
        by=access.user,
        at=at,
        slug=slug,
        name=name,
        scale=scale,
        description=description,
    )


def start_list(
    *,
    collection: Collection,
    by: User | None,
    at: datetime,
    slug: str,
    name: str,
    scale: list[dict[str, Any]],
    description: str = "",
) -> JudgmentList:
    """`create_list` without a viewer, for the command line.

    Raises ListRefused for a slug that is taken or not made of a-z, 0-9 and hyphens.
    """
    try:
        SLUG(slug)
    except ValidationError as error:
        raise ListRefused("slug_invalid", error.messages[0]) from error
    try:
        with transaction.atomic():
            judgment_list = JudgmentList.objects.create(
                collection=collection,
                slug=slug,
                name=name.strip() or slug,
                description=description.strip(),
                scale=scale,
                created_at=at,
                created_by=by,
            )
            audit.record(
                collection=collection, actor=by, at=at, action="list.created", subject=slug
            )
    except IntegrityError as error:
        raise ListRefused("slug_taken", f"There is already a list {slug} here.") from error
    return judgment_list
