"""What a process remembers of a version is what the database says of it."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from judgments.versions import judgment_cache as whole
from judgments.versions.judgment_cache import count_all_grades, get_all_judged, moved
from judgments.versions.queries import Judged, count_grades, get_judged
from judgments.versions.temporal import Difference
from tests.builders import NOW, commit, make_world

PAIRS = st.dictionaries(st.tuples(st.integers(1, 5), st.integers(1, 9)), st.integers(-2, 4))


def judged_of(pairs: dict[tuple[int, int], int]) -> Judged:
    ordered = sorted(pairs.items())
    return Judged(
        np.array([query for (query, _), _ in ordered], np.int64),
        np.array([document for (_, document), _ in ordered], np.int32),
        np.array([grade for _, grade in ordered], np.int8),
    )


def content(judged: Judged) -> list[tuple[bytes, np.dtype]]:
    arrays = (judged.query_ids, judged.document_ids, judged.grades)
    return [(own.tobytes(), own.dtype) for own in arrays]


def read_rows(list_id: int, version: int) -> tuple[Judged, bool]:
    """What is found, and whether judgments were read one by one."""
    with CaptureQueriesContext(connection) as asked:
        found = get_all_judged(list_id=list_id, version=version)
    return found, any("j.grade" in query["sql"] for query in asked.captured_queries)


@given(PAIRS, PAIRS)
def test_what_differs_leads_from_one_version_to_the_other(
    old: dict[tuple[int, int], int], new: dict[tuple[int, int], int]
) -> None:
    differences = [
        Difference(*pair, old.get(pair), new.get(pair))
        for pair in sorted(old.keys() | new.keys())
        if old.get(pair) != new.get(pair)
    ]
    assert content(moved(judged_of(old), differences)) == content(judged_of(new))


@pytest.mark.django_db(transaction=True)
def test_any_version_is_as_the_database_has_it_and_read_once() -> None:
    world = make_world(queries=10, documents=20)
    every = [(query, document) for query in world.queries for document in world.documents]
    commit(judgment_list=world.judgments, grades=dict.fromkeys(every, 1))
    for number, pair in enumerate(every[:5]):
        grades = {pair: None if number % 2 else 3, every[-1 - number]: 2}
        commit(judgment_list=world.judgments, grades=grades, at=NOW + timedelta(seconds=number))
    pk, times_read = world.judgments.pk, 0
    for version in (1, 6, 6, 3, 4, 2, 6, 1):
        found, is_read = read_rows(pk, version)
        times_read += is_read
        assert content(found) == content(get_judged(list_id=pk, version=version))
        for counted in (version, 1):  # one that is remembered, and one that mostly is not
            known = count_all_grades(list_id=pk, version=counted, codes=(0, 1, 2, 3))
            assert known == count_grades(list_id=pk, version=counted, codes=(0, 1, 2, 3))
    assert times_read == 1
    assert not read_rows(pk, 1)[1]


@pytest.mark.django_db(transaction=True)
def test_a_version_that_is_another_one_now_is_read_anew() -> None:
    world = make_world()
    pair = (world.queries[0], world.documents[0])
    commit(judgment_list=world.judgments, grades={pair: 1})
    pk = world.judgments.pk
    before = get_all_judged(list_id=pk, version=1)
    known = whole._remembered[pk]
    whole._remembered[pk] = known._replace(row=(known.row[0], "2020"), judged=judged_of({}))
    found, is_read = read_rows(pk, 1)
    assert is_read
    assert content(found) == content(before)
    assert not read_rows(pk, 1)[1]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_remembered_of_what_may_be_rolled_back_or_is_not_there() -> None:
    world = make_world()
    pk = world.judgments.pk
    with transaction.atomic():
        commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
        assert len(get_all_judged(list_id=pk, version=1)) == 1
        transaction.set_rollback(True)
    assert len(get_all_judged(list_id=pk, version=1)) == 0
    assert len(get_all_judged(list_id=pk, version=0)) == 0
    assert pk not in whole._remembered


@pytest.mark.django_db(transaction=True)
def test_the_list_that_nobody_asked_for_longest_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(whole, "MOST", 5)
    worlds = [make_world(slug=slug) for slug in ("books", "films", "songs", "plays")]
    for world, n in zip(worlds, (2, 3, 2, 6), strict=True):
        pairs = [(query, document) for query in world.queries for document in world.documents]
        commit(judgment_list=world.judgments, grades=dict.fromkeys(pairs[:n], 1))
    books, films, songs, plays = (world.judgments.pk for world in worlds)
    for pk in (books, films, books):
        get_all_judged(list_id=pk, version=1)
    assert list(whole._remembered) == [films, books]
    get_all_judged(list_id=songs, version=1)
    assert list(whole._remembered) == [books, songs]
    get_all_judged(list_id=plays, version=1)
    assert list(whole._remembered) == [books, songs]
