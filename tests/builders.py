"""The rows that tests begin with. Keyword-only; the same call gives the same rows.

The cast: Ada leads, Ben and Cem annotate, Dora researches, Eve leads another collection.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from judgments.collections.content_hash import content_hash
from judgments.collections.services import create_collection
from judgments.lists.services import start_list
from judgments.models import (
    Collection,
    Document,
    JudgmentList,
    JudgmentVersion,
    Membership,
    Query,
    SavedSet,
    User,
)
from judgments.permissions import Access, get_access
from judgments.sets.services import create_set
from judgments.versions.services import Change, commit_judgments
from touchstone.files.query_ids import QueryIds
from touchstone.scales import Scale

NOW = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
ROLES = {"ada": "lead", "ben": "annotator", "cem": "annotator", "dora": "researcher"}
CAST = ("ben", "cem", "dora")


def make_user(*, username: str, name: str = "", is_superuser: bool = False) -> User:
    """A person; the one who is there already, if so. Sign in with `client.force_login`."""
    found = User.objects.filter(username=username).first()
    if found is not None:
        return found
    user = _new_user(username, name=name, is_superuser=is_superuser)
    user.save(force_insert=True)
    return user


def _new_user(username: str, *, name: str = "", is_superuser: bool = False) -> User:
    return User(
        username=username,
        name=name or username.capitalize(),
        email=f"{username}@people.example",
        # "!" as Django writes it for an account without a password: no slow hashing in tests
        password="!" + "x" * 40,
        is_superuser=is_superuser,
    )


def make_member(*, collection: Collection, username: str, role: str) -> User:
    """A person with a role in a collection."""
    user = make_user(username=username)
    number = Membership.objects.filter(collection=collection).count() + 1
    Membership.objects.create(
        collection=collection,
        user=user,
        role=role,
        pseudonym=f"person {number}",
        created_at=NOW,
    )
    return user


def make_collection(
    *, slug: str = "books", name: str = "", lead: str = "ada", cast: bool = True
) -> Collection:
    """A collection that `lead` leads; with `cast`, Ben, Cem and Dora are members too."""
    collection = _start_collection(make_user(username=lead), slug=slug, name=name)
    if cast:
        _add_cast(collection, _ensure_users(CAST))
    return collection


def _start_collection(lead: User, *, slug: str, name: str = "") -> Collection:
    return create_collection(by=lead, at=NOW, slug=slug, name=name or slug.capitalize())


def _ensure_users(names: Iterable[str]) -> dict[str, User]:
    """As `make_user` of each would, with fewer questions to the database."""
    names = list(names)
    known = User.objects.in_bulk(names, field_name="username")
    made = User.objects.bulk_create(_new_user(name) for name in names if name not in known)
    return known | {user.username: user for user in made}


def _add_cast(collection: Collection, people: Mapping[str, User]) -> None:
    """Ben, Cem and Dora, as `make_member` would, in one statement."""
    Membership.objects.bulk_create(
        Membership(
            collection=collection,
            user=people[name],
            role=ROLES[name],
            pseudonym=f"person {number}",
            created_at=NOW,
        )
        for number, name in enumerate(CAST, start=2)  # who leads is the first
    )


def make_access(*, collection: Collection, username: str = "ada") -> Access:
    """What a member may do in a collection."""
    return get_access(viewer=User.objects.get(username=username), slug=collection.slug)


def make_queries(*, collection: Collection, count: int = 3, prefix: str = "q") -> list[Query]:
    """Queries q1, q2, …, each with a text, every other one in the segment "head"."""
    return Query.objects.bulk_create(
        Query(
            collection=collection,
            qid=f"{prefix}{number}",
            text=f"query number {number}",
            description=f"What query {number} is after.",
            segment="head" if number % 2 else "tail",
        )
        for number in range(1, count + 1)
    )


def make_documents(*, collection: Collection, count: int = 5, prefix: str = "d") -> list[Document]:
    """Documents d1, d2, …, each with a title and a body."""
    return Document.objects.bulk_create(
        Document(
            collection=collection,
            docid=f"{prefix}{number}",
            title=f"Title {number}",
            body=f"The body of document {number}.",
            content_hash=content_hash(f"Title {number}", f"The body of document {number}."),
        )
        for number in range(1, count + 1)
    )


def make_list(
    *,
    collection: Collection,
    slug: str = "main",
    name: str = "",
    scale: Scale | None = None,
) -> JudgmentList:
    """An empty list, graded 0 to 4 unless another scale is given."""
    return start_list(
        collection=collection,
        by=User.objects.filter(username="ada").first(),
        at=NOW,
        slug=slug,
        name=name or slug.capitalize(),
        scale=scale or Scale.default(),
    )


def commit(
    *,
    judgment_list: JudgmentList,
    grades: Mapping[tuple[Query, Document], int | None] | Iterable[Change],
    by: User | None = None,
    at: datetime = NOW,
    reason: str = "a test",
    source: str = JudgmentVersion.Source.IMPORT,
) -> JudgmentVersion:
    """A version with these grades, given as {(query, document): grade} or as changes."""
    if isinstance(grades, Mapping):
        changes: Iterable[Change] = [
            Change(query.pk, document.pk, grade) for (query, document), grade in grades.items()
        ]
    else:
        changes = grades
    version = commit_judgments(
        judgment_list=judgment_list, changes=changes, by=by, at=at, reason=reason, source=source
    )
    assert version is not None, "these grades change nothing"
    return version


@dataclass(frozen=True)
class World:
    """A collection with its cast, three queries, five documents and an empty list."""

    collection: Collection
    queries: list[Query]
    documents: list[Document]
    judgments: JudgmentList
    ada: User
    ben: User
    cem: User
    dora: User
    eve: User


def make_world(*, slug: str = "books", queries: int = 3, documents: int = 5) -> World:
    """The usual beginning; Eve leads a collection of her own, `<slug>-of-eve`."""
    people = _ensure_users(["ada", *CAST, "eve"])
    collection = _start_collection(people["ada"], slug=slug)
    _add_cast(collection, people)
    _start_collection(people["eve"], slug=f"{slug}-of-eve")
    return World(
        collection=collection,
        queries=make_queries(collection=collection, count=queries),
        documents=make_documents(collection=collection, count=documents),
        judgments=make_list(collection=collection),
        **people,
    )


def make_set(
    *, world: World, qids: Iterable[str], slug: str = "canaries", is_held_out: bool = False
) -> SavedSet:
    """A saved set of these queries, made by Ada."""
    return create_set(
        access=make_access(collection=world.collection),
        at=NOW,
        slug=slug,
        name=slug.capitalize(),
        ids=QueryIds("test", {qid: line for line, qid in enumerate(qids, start=1)}),
        is_held_out=is_held_out,
    )
