"""Queries whose SQL is built once answer as the querysets that they are made of."""

import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, models, transaction
from django.db.models import OuterRef, Subquery
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from judgments.models import Membership, Query, User
from judgments.storage.prepared import (
    OneOf,
    PreparedInsert,
    PreparedObjects,
    PreparedRows,
    PreparedUpdate,
    slot,
)
from tests.builders import NOW, World, make_member

pytestmark = pytest.mark.django_db

people: PreparedRows[Any] = PreparedRows(
    lambda: User.objects.filter(
        public_id=slot("id", models.UUIDField), date_joined__lte=slot("at", models.DateTimeField)
    ).values_list("public_id", "date_joined", "is_active", "username")
)
places: PreparedObjects[Any] = PreparedObjects(
    lambda: (
        Membership.objects.select_related("collection")
        .filter(user=slot("user"))
        .annotate(
            first=Subquery(
                Query.objects.filter(collection=OuterRef("collection"))
                .order_by("qid")
                .values("qid")[:1]
            )
        )
        .order_by("pk")
    )
)
locked: PreparedObjects[Any] = PreparedObjects(
    lambda: User.objects.select_for_update().filter(pk=slot("user"))
)
renamed = PreparedUpdate(
    lambda: User.objects.filter(pk=slot("user"), name=slot("old", models.CharField)),
    name=slot("new", models.CharField),
    is_active=True,
)


def test_rows_have_the_values_that_django_gives(world: World) -> None:
    for user in User.objects.all():
        expected = (user.public_id, user.date_joined, user.is_active, user.username)
        assert people.list(id=user.public_id, at=user.date_joined) == [expected]
        assert people.list(id=user.public_id, at=user.date_joined - timedelta(seconds=1)) == []
    assert people.list(id=uuid.uuid4(), at=NOW) == []


def test_objects_come_with_what_is_selected_and_annotated(world: World) -> None:
    ben = make_member(collection=world.collection, username="gil", role="annotator")
    (place,) = places.list(user=ben.pk)
    with CaptureQueriesContext(connection) as queries:
        assert (place.user_id, place.role) == (ben.pk, "annotator")
        assert place.collection.name == world.collection.name
        assert place.first == min(query.qid for query in world.queries)
        assert not place._state.adding
    assert not queries


def test_the_statement_is_the_same_each_time_and_the_values_are_not(world: World) -> None:
    first, second = User.objects.order_by("pk")[:2]
    with CaptureQueriesContext(connection) as queries:
        found = [locked.list(user=user.pk)[0] for user in (first, second, first)]
    assert found == [first, second, first]
    assert len(queries) == 3


def test_an_update_says_how_many_rows_it_changed(world: World) -> None:
    user = User.objects.order_by("pk")[0]
    old = user.name
    assert renamed.run(user=user.pk, old=old, new="A new name") == 1
    assert renamed.run(user=user.pk, old=old, new="Another") == 0
    user.refresh_from_db()
    assert user.name == "A new name"


def test_a_new_row_holds_what_it_was_given(world: World) -> None:
    collection = world.collection
    values = {
        field.attname: getattr(collection, field.attname)
        for field in collection._meta.concrete_fields
        if field.attname != "id"
    } | {"slug": "another"}
    PreparedInsert(type(collection), *values).run(**values)
    stored = type(collection).objects.get(slug="another")
    assert {name: getattr(stored, name) for name in values} == values


def test_a_slot_without_a_value_is_an_error_not_a_null() -> None:
    with pytest.raises(KeyError):
        locked.list()


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_only_within_a_transaction() -> None:
    if not connection.features.has_select_for_update:
        assert locked.list(user=0) == []
        return
    with pytest.raises(TransactionManagementError):
        locked.list(user=0)


@pytest.mark.django_db(transaction=True)
def test_each_connection_has_statements_of_its_own() -> None:
    user = User.objects.create_user("gil", password="a long enough one")
    found: list[Any] = locked_in_a_transaction(user.pk)

    def look() -> None:
        found.extend(locked_in_a_transaction(user.pk))
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [user, user]


def locked_in_a_transaction(pk: int) -> list[Any]:
    with transaction.atomic():
        return locked.list(user=pk)


def test_many_ids_are_one_value(world: World) -> None:
    numbers: PreparedRows[Any] = PreparedRows(
        lambda: User.objects.filter(OneOf("pk", "ids")).order_by("pk").values_list("pk")
    )
    publics: PreparedRows[Any] = PreparedRows(
        lambda: (
            User.objects.exclude(OneOf("public_id", "ids", models.UUIDField()))
            .order_by("pk")
            .values_list("pk")
        )
    )
    users = list(User.objects.order_by("pk"))
    for some in (users[:2], users[1:2], []):
        assert numbers.list(ids=[user.pk for user in some]) == [(user.pk,) for user in some]
        others = [(user.pk,) for user in users if user not in some]
        assert publics.list(ids=[user.public_id for user in some]) == others


@pytest.mark.postgres
def test_statements_are_planned_once_and_of_no_others_the_text_is_kept(world: World) -> None:
    user = User.objects.order_by("pk")[0]
    for _ in range(4):
        assert places.list(user=user.pk)
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pg_prepared_statements")
        assert cursor.fetchone()[0] >= 1
    assert connection.connection.prepare_threshold is None
