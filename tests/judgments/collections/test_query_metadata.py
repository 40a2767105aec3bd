"""Segments and weights are a version's: loading others moves no number of an older version."""

import random
import re
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from judgments.collections import query_metadata as traits
from judgments.collections import services as collections
from judgments.collections.query_metadata import (
    get_query_traits,
    list_segment_queries,
    list_segments,
    list_trait_changes,
)
from judgments.collections.services import Loaded, ensure_queries, load_queries
from judgments.lists.services import revert_version
from judgments.models import JudgmentVersion, Query, QueryMetadataHistory
from judgments.signals import version_committed
from judgments.versions.queries import get_judged, list_touched_queries
from judgments.versions.temporal import TraitChange
from tests.builders import NOW, World, commit, make_access, make_list, make_user, make_world
from touchstone.files.collections import QueryRecord
from touchstone.measures.traits import Traits

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def world() -> World:
    """q1 and q2 are judged; q1 and q3 are in "head", q2 in "tail"."""
    world = make_world()
    q1, q2, _ = world.queries
    commit(judgment_list=world.judgments, grades={(q1, world.documents[0]): 3})
    commit(judgment_list=world.judgments, grades={(q2, world.documents[0]): 1})
    return world


def load(world: World, **traits: Traits | str) -> Loaded:
    """Load queries again with other traits; with a text, with other words alone."""
    records = []
    for qid, wanted in traits.items():
        query = Query.objects.get(collection=world.collection, qid=qid)
        text, own = query.text or "text", Traits(query.segment, query.weight)
        if isinstance(wanted, Traits):
            own = wanted
        else:
            text = wanted
        records.append(record_of(qid, *own, text=text, description=query.description))
    return load_queries(collection=world.collection, records=records, by=world.ada, at=NOW)


def record_of(
    qid: str, segment: str, weight: float = 1.0, *, text: str = "text", description: str = ""
) -> QueryRecord:
    return QueryRecord(
        query_id=qid, text=text, description=description, segment=segment, weight=weight, line=1
    )


def head(world: World) -> int:
    world.judgments.refresh_from_db()
    return world.judgments.head


def segments(world: World, version: int) -> list[str]:
    return list_segments(list_id=world.judgments.pk, version=version)


def in_segment(world: World, version: int, segment: str) -> list[str]:
    pks = list_segment_queries(list_id=world.judgments.pk, version=version, segment=segment)
    return list(Query.objects.filter(pk__in=pks).values_list("qid", flat=True))


def test_another_segment_makes_a_version_and_older_ones_keep_theirs(world):
    assert load(world, q1=Traits("new", 2.5)) == Loaded(changed=1)
    assert head(world) == 3
    made = JudgmentVersion.objects.get(number=3)
    assert (made.source, made.author) == ("queries", world.ada)
    assert made.reason == "1 query has a different segment or weight"
    assert (made.added, made.changed, made.removed) == (0, 0, 0)
    assert in_segment(world, 2, "head") == ["q1", "q3"]
    assert in_segment(world, 2, "new") == []
    assert in_segment(world, 3, "head") == ["q3"]
    assert in_segment(world, 3, "new") == ["q1"]
    q1 = world.queries[0].pk
    for version, own in (
        (1, Traits("head", 1.0)),
        (2, Traits("head", 1.0)),
        (3, Traits("new", 2.5)),
    ):
        found = get_query_traits(list_id=world.judgments.pk, version=version, query_ids=[q1])
        assert found == {q1: own}


def test_a_version_of_traits_touches_no_query(world):
    load(world, q1=Traits("new", 1.0), q2=Traits("new", 1.0))
    assert list_touched_queries(list_id=world.judgments.pk, after=2, until=3) == []
    before, after = (get_judged(list_id=world.judgments.pk, version=n).pairs() for n in (2, 3))
    assert before == after


def test_the_segments_of_a_version_are_those_of_the_queries_judged_at_it(world):
    assert segments(world, 0) == []
    assert segments(world, 1) == ["head"]
    assert segments(world, 2) == ["head", "tail"]
    load(world, q1=Traits("", 1.0), q2=Traits("new", 1.0), q3=Traits("unjudged", 1.0))
    assert segments(world, 3) == ["new"]
    assert segments(world, 2) == ["head", "tail"]
    commit(judgment_list=world.judgments, grades={(world.queries[1], world.documents[0]): None})
    assert segments(world, 4) == []


def test_the_new_version_is_announced_once_it_is_there(world, django_capture_on_commit_callbacks):
    heard = []

    def listen(list_id, number, **_):
        heard.append((list_id, number))

    version_committed.connect(listen)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            load(world, q1=Traits("new", 1.0))
            assert heard == []
    finally:
        version_committed.disconnect(listen)
    assert heard == [(world.judgments.pk, 3)]


def test_only_lists_that_judged_a_changed_query_get_a_version(world):
    empty = make_list(collection=world.collection, slug="empty")
    other = make_list(collection=world.collection, slug="other")
    commit(judgment_list=other, grades={(world.queries[1], world.documents[0]): 2})
    load(world, q1=Traits("new", 1.0))
    for judgment_list, number in ((world.judgments, 3), (other, 1), (empty, 0)):
        judgment_list.refresh_from_db()
        assert judgment_list.head == number
    assert QueryMetadataHistory.objects.count() == 1


def test_a_query_that_was_judged_once_still_counts_in_the_versions_of_then(world):
    q1, d1 = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q1, d1): None})
    load(world, q1=Traits("new", 1.0))
    assert head(world) == 4
    assert in_segment(world, 2, "head") == ["q1", "q3"]


def test_other_words_alone_a_new_query_or_the_same_file_make_no_version(world):
    load(world, q1="in other words")
    load(world, q1=Traits("head", 1.0), q3=Traits("of nobody's concern", 1.0))
    record = record_of("q4", "fresh")
    load_queries(collection=world.collection, records=[record], by=None, at=NOW)
    assert head(world) == 2
    assert not QueryMetadataHistory.objects.exists()


def test_a_judged_stub_that_becomes_a_query_of_a_segment_makes_a_version(world):
    stubs = ensure_queries(collection=world.collection, qids=["s1", "s2"])
    grades = {(Query.objects.get(pk=pk), world.documents[0]): 1 for pk in stubs.values()}
    commit(judgment_list=world.judgments, grades=grades)
    load(world, s1="now with a text")
    assert head(world) == 3
    load(world, s2=Traits("files", 1.0))
    assert head(world) == 4
    assert (in_segment(world, 3, "files"), in_segment(world, 4, "files")) == ([], ["s2"])


def test_a_file_that_is_refused_leaves_neither_traits_nor_a_version(world):
    def broken():
        yield record_of("q1", "new")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        load_queries(collection=world.collection, records=broken(), by=None, at=NOW)
    assert head(world) == 2
    assert not QueryMetadataHistory.objects.exists()
    assert in_segment(world, 2, "head") == ["q1", "q3"]


def test_going_back_restores_grades_and_leaves_segments_as_they_are(world):
    ada = make_access(collection=world.collection)

    def back(number):
        return revert_version(
            access=ada, at=NOW, judgment_list=world.judgments, number=number, reason=""
        )

    load(world, q1=Traits("new", 1.0))
    assert back(2) is None
    made = back(1)
    assert (made.number, made.removed) == (4, 1)
    assert (segments(world, 1), segments(world, 4)) == (["head"], ["new"])
    load(world, q1=Traits("head", 1.0))
    assert (segments(world, 4), segments(world, 5)) == (["new"], ["head"])


@pytest.mark.parametrize(
    "values",
    [
        {"since": 0},
        {"since": 3},
        {"weight": 0.0},
        {"weight": float("inf")},
        {"weight": float("nan")},
    ],
    ids=str,
)
def test_the_database_refuses_rows_that_mean_nothing(world, values):
    row = {"segment": "", "weight": 1.0, "since": 1, "until": 3} | values
    with pytest.raises(IntegrityError), transaction.atomic():
        QueryMetadataHistory.objects.create(list=world.judgments, query=world.queries[0], **row)


@pytest.mark.parametrize("seed", range(8))
def test_the_traits_of_every_version_are_those_of_its_day(seed, monkeypatch):
    monkeypatch.setattr(collections, "CHUNK", 2)
    monkeypatch.setattr(traits, "CHUNK", 2)
    rng = random.Random(seed)
    world = make_world(queries=5, documents=2)
    lists = [world.judgments, make_list(collection=world.collection, slug="other")]
    history: dict[int, dict[int, Any]] = {own.pk: {0: {}} for own in lists}
    for _ in range(16):
        if rng.random() < 0.5:
            chosen = rng.sample(world.queries, rng.randint(1, 5))
            load(world, **{query.qid: any_traits(rng) for query in chosen})
        else:
            pair = (rng.choice(world.queries), rng.choice(world.documents))
            own = rng.choice(lists)
            is_judged = (pair[0].pk, pair[1].pk) in judged(own)
            commit(judgment_list=own, grades={pair: None if is_judged else 2})
        for own in lists:
            own.refresh_from_db()
            write_down(own, history[own.pk])
    for own in lists:
        held(own, history[own.pk])


def any_traits(rng: random.Random) -> Traits:
    return Traits(rng.choice(["", "a", "b"]), rng.choice([1.0, 0.5]))


def write_down(judgment_list, history):
    """What the queries are that were ever judged; the same as before unless there is a version."""
    last = max(history)
    assert judgment_list.head in (last, last + 1)
    known = {query.pk for query in history[last]} | {pk for pk, _ in judged(judgment_list)}
    found = Query.objects.filter(pk__in=known)
    today = {query: Traits(query.segment, query.weight) for query in found}
    assert history.setdefault(judgment_list.head, today) == today


def judged(judgment_list, version=None):
    version = judgment_list.head if version is None else version
    return get_judged(list_id=judgment_list.pk, version=version).pairs()


def held(judgment_list, history):
    """What the selectors say of each version and of each two is what was written down then."""
    for version, queries in history.items():
        then = {query.pk: own for query, own in queries.items()}
        found = get_query_traits(list_id=judgment_list.pk, version=version)
        assert {pk: found[pk] for pk in then} == then
        counting = {query_id for query_id, _ in judged(judgment_list, version)}
        names = {then[pk].segment for pk in counting} - {""}
        assert list_segments(list_id=judgment_list.pk, version=version) == sorted(names)
        for name in ("", "a", "b", "c"):
            own = list_segment_queries(list_id=judgment_list.pk, version=version, segment=name)
            assert own == [pk for pk in sorted(found) if found[pk].segment == name]
        for other, its_queries in history.items():
            changes = {
                TraitChange(query.pk, own, its_queries[query])
                for query, own in queries.items()
                if query in its_queries and its_queries[query] != own
            }
            differ = list_trait_changes(list_id=judgment_list.pk, before=version, after=other)
            both = {query.pk for query in queries.keys() & its_queries.keys()}
            assert {change for change in differ if change.query_id in both} == changes


def text_of(username: str, name: str, *arguments: object) -> str:
    client = Client()
    client.force_login(make_user(username=username), backend=BACKEND)
    html = client.get(reverse(name, args=["books", "main", *arguments])).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_the_pages_of_a_version_and_of_a_difference_show_the_traits(world):
    load(world, q1=Traits("new", 2.5))
    for page in (text_of("dora", "version", 3), text_of("dora", "diff", 1, 3)):
        assert "1 query with a different segment or weight" in page
        assert "head → new" in page
        assert "1.0 → 2.5" in page
    assert "new → head" in text_of("dora", "diff", 3, 1)
    assert "another segment" not in text_of("dora", "version", 2)
    assert "1 query has a different segment or weight" in text_of("ada", "list")
    assert " queries " in text_of("dora", "list")
    assert "same grades" in text_of("dora", "version", 3)
