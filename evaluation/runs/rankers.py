"""Registering the systems that are compared."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from evaluation.models import Ranker
from judgments.audit import services as audit
from judgments.collections.naming import check_name, unless_taken
from judgments.models import Collection, User
from judgments.models.collections import check_free_slug
from judgments.permissions import Access, NotFound, check_may_upload_runs
from touchstone.errors import DomainError


class RankerRefused(DomainError):
    """The ranker can't be registered like this."""


def change_tags(*, access: Access, at: datetime, ranker_slug: str, tags: list[str]) -> Ranker:
    """Give a ranker other tags; for researchers and leads. NotFound for no such ranker."""
    check_may_upload_runs(access)
    with transaction.atomic():
        rankers_qs = Ranker.objects.select_for_update(no_key=True)
        ranker = rankers_qs.filter(collection=access.collection, slug=ranker_slug).first()
        if ranker is None:
            raise NotFound("ranker")
        before = ranker.tags
        if tags != before:
            ranker.tags = tags
            ranker.save(update_fields=["tags"])
            audit.record_by(
                access,
                at,
                "ranker.tagged",
                ranker_slug,
                before={"tags": before},
                after={"tags": tags},
            )
    return ranker


def create_ranker(
    *,
    access: Access,
    at: datetime,
    slug: str,
    name: str = "",
    description: str = "",
    tags: Sequence[str] = (),
) -> Ranker:
    """Register a ranker in the viewer's collection; for researchers and leads.

    tags: as `parse_tags` gives them.
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
        tags=tags,
    )


def start_ranker(
    *,
    collection: Collection,
    by: User | None,
    at: datetime,
    slug: str,
    name: str = "",
    description: str = "",
    tags: Sequence[str] = (),
) -> Ranker:
    """`create_ranker` without a viewer, for the command line."""
    check_name(slug, check_free_slug, refused=RankerRefused, code="slug_invalid")
    with unless_taken(RankerRefused("slug_taken", f"The ranker {slug} already exists.")):
        ranker = Ranker.objects.create(
            collection=collection,
            slug=slug,
            name=name.strip() or slug,
            description=description.strip(),
            tags=list(tags),
            created_at=at,
            created_by=by,
        )
        audit.record(collection=collection, actor=by, at=at, action="ranker.created", subject=slug)
    return ranker
