"""The first page: the collections one is in."""

from dataclasses import dataclass

from django.db.models import Count

from judgments.models import Collection, Document, Membership, Query, Role, User
from judgments.permissions import ADMIN, may_create_collection


@dataclass(frozen=True)
class CollectionCard:
    """A collection as one's list of collections shows it. role: one's own in it."""

    slug: str
    name: str
    description: str
    role: str
    queries: int
    documents: int


@dataclass(frozen=True)
class HomePage:
    """annotates: whether the viewer labels anywhere, and so wants to go there.

    may_create: whether the viewer may make a collection. leads: whether they lead any.
    archived: how many others are archived; shows_archived: these are shown.
    """

    collections: list[CollectionCard]
    annotates: bool
    may_create: bool
    leads: bool
    archived: int
    shows_archived: bool


def get_home_page(*, viewer: User, shows_archived: bool = False) -> HomePage:
    """The collections that the viewer is a member of; all of them for an admin.

    shows_archived: those that are archived, and no others.
    """
    own = list(Membership.objects.filter(user=viewer).order_by("id"))
    roles = {membership.collection_id: membership.role for membership in own}
    collections = Collection.objects.order_by("name", "slug")
    if not viewer.is_superuser:
        collections = collections.filter(pk__in=roles)
    archived = [one for one in collections if one.archived_at is not None]
    result = archived if shows_archived else [one for one in collections if one not in archived]
    ids = [collection.pk for collection in result]
    queries = _count(Query, ids)
    documents = _count(Document, ids)
    return HomePage(
        archived=0 if shows_archived else len(archived),
        shows_archived=shows_archived,
        leads=viewer.is_superuser or any(m.role == Role.LEAD for m in own),
        may_create=may_create_collection(viewer),
        annotates=any(m.role == Role.ANNOTATOR or m.is_annotating for m in own),
        collections=[
            CollectionCard(
                slug=collection.slug,
                name=collection.name,
                description=collection.description,
                role=roles.get(collection.pk, ADMIN),
                queries=queries.get(collection.pk, 0),
                documents=documents.get(collection.pk, 0),
            )
            for collection in result
        ],
    )


def _count(model: type[Query] | type[Document], collection_ids: list[int]) -> dict[int, int]:
    rows = model._default_manager.filter(collection__in=collection_ids).order_by()
    return dict(rows.values_list("collection_id").annotate(Count("pk")))
