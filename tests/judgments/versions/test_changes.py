"""The differences of two versions, as arrays."""

import hashlib
import io

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from judgments.collections.services import create_collection
from judgments.imports.services import import_qrels, read_judgments
from judgments.lists.queries import get_qrels
from judgments.lists.services import release_version, start_list
from judgments.versions.changes import get_changes, kind_of
from judgments.versions.queries import get_judged, list_differences
from judgments.versions.services import Change, commit_judgments
from judgments.versions.temporal import apply
from tests.builders import NOW, commit, make_access, make_world
from touchstone.scales import Scale

PAIRS = st.tuples(st.integers(0, 2), st.integers(0, 3))
COMMITS = st.lists(
    st.dictionaries(PAIRS, st.sampled_from([None, 0, 1, 2, 3, 4]), min_size=1, max_size=6),
    min_size=1,
    max_size=5,
)


@pytest.mark.django_db
@settings(max_examples=15, deadline=None)
@given(commits=COMMITS, places=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_the_changes_applied_to_a_version_give_the_other_one(commits, places) -> None:
    with transaction.atomic():
        check(commits, places)
        transaction.set_rollback(True)


def check(commits, places) -> None:
    world = make_world()
    for wanted in commits:
        changes = [
            Change(world.queries[q].pk, world.documents[d].pk, grade)
            for (q, d), grade in wanted.items()
        ]
        commit_judgments(
            judgment_list=world.judgments,
            changes=changes,
            by=None,
            at=NOW,
            reason="",
            source="import",
        )
    world.judgments.refresh_from_db()
    before, after = (min(place, world.judgments.head) for place in places)
    found = get_changes(judgment_list=world.judgments, before=before, after=after)
    old, new = (
        get_judged(list_id=world.judgments.pk, version=number).pairs() for number in (before, after)
    )
    assert apply(old, found) == new
    assert list(found) == list_differences(list_id=world.judgments.pk, before=before, after=after)
    for kind, count in found.counts().items():
        assert [kind_of(one) for one in found.of_kind(kind)] == [kind] * count
    assert sum(len(found.of_query(query.pk)) for query in world.queries) == len(found)


@pytest.mark.django_db
def test_a_release_has_the_same_digest_after_export_and_import_elsewhere() -> None:
    world = make_world()
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(q1, d1): 3, (q1, d2): 0, (q2, d1): 4})
    first = release(world.collection, world.judgments)
    content = get_qrels(judgment_list=world.judgments, number=1)
    elsewhere = create_collection(by=world.ada, at=NOW, slug="empty", name="Empty")
    scale = Scale.from_json(world.judgments.scale)
    taken = start_list(
        collection=elsewhere, by=world.ada, at=NOW, slug="copy", name="Copy", scale=scale
    )
    qrels = read_judgments(
        io.BytesIO(content), collection=elsewhere, scale=scale, name="first.qrels"
    )
    import_qrels(
        judgment_list=taken, qrels=qrels, create=True, by=world.ada, at=NOW, reason="a copy"
    )
    assert release(elsewhere, taken).sha256 == first.sha256
    assert first.sha256 == hashlib.sha256(content).hexdigest()


def release(collection, judgment_list):
    access = make_access(collection=collection)
    return release_version(
        access=access, at=NOW, judgment_list=judgment_list, number=1, name="spring"
    )
