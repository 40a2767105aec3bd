"""Tokens and sessions: who one is, and what that lets one do."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from judgments.models import ApiToken, Collection, Membership
from judgments.rest.authentication import LAST_USE_PRECISION
from tests.api.callers import (
    BOOKS,
    ROOT,
    SCOPES,
    by_session,
    by_token,
    is_problem,
    make_token,
    post_file,
    post_json,
)


def with_header(value: str | bytes) -> Client:
    return Client(HTTP_AUTHORIZATION=value)


def test_a_token_opens_what_is_open_to_its_owner(world):
    assert by_token("dora").get(f"{BOOKS}queries/").status_code == 200
    is_problem(by_token("ben").get(f"{BOOKS}queries/"), 404, "not_found")
    is_problem(by_token("eve").get(f"{BOOKS}queries/"), 404, "not_found")


def test_without_a_token_one_is_told_how_to_send_one(world):
    response = Client().get(f"{BOOKS}queries/")
    body = is_problem(response, 401, "not_authenticated")
    assert "`Authorization: Bearer …`" in body["detail"]
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer one two",
        "Bearer nonsense",
        "Bearer " + "a" * 64,
        "Bearer " + "a" * 100_000,
        "Bearer naïve",
        "Bearer \x00",
        "Bearer ab\x00cd",
        "Bearer \ud800",
        "Bearer %00",
        "Bearer ''--",
        b"Bearer \xff\xfe".decode("latin-1"),
        "Bearer ٣٤٥",
    ],
    ids=range(13),
)
def test_what_is_no_token_is_refused_whatever_its_bytes(world, header):
    header = header.encode("utf-8", "surrogatepass").decode("latin-1")
    is_problem(with_header(header).get(f"{BOOKS}queries/"), 401, "authentication_failed")


@pytest.mark.parametrize("header", ["Basic YWRhOmFkYQ==", "Token abc", "", "bearer"])
def test_another_kind_of_credentials_is_none(world, header):
    assert with_header(header).get(f"{BOOKS}queries/").status_code == 401


def test_the_word_bearer_may_be_written_in_any_case(world):
    token = make_token(username="dora")
    assert with_header(f"bearer {token}").get(f"{BOOKS}queries/").status_code == 200


def test_a_token_with_one_character_changed_is_refused(world):
    token = make_token(username="ada")
    other = token[:-1] + ("0" if token[-1] != "0" else "1")
    is_problem(with_header(f"Bearer {other}").get(ROOT), 401, "authentication_failed")


def test_an_expired_token_is_refused_and_forgotten(world):
    token = make_token(username="ada", life=timedelta(seconds=-1))
    is_problem(with_header(f"Bearer {token}").get(ROOT), 401, "authentication_failed")
    assert not ApiToken.objects.exists()


def test_a_token_of_somebody_who_was_deactivated_is_refused(world):
    client = by_token("ada")
    world.ada.is_active = False
    world.ada.save(update_fields=["is_active"])
    is_problem(client.get(ROOT), 401, "authentication_failed")


def test_a_token_follows_its_owner_out_of_the_collection(world):
    client = by_token("dora")
    Membership.objects.filter(user=world.dora).update(ended_at=timezone.now())
    is_problem(client.get(f"{BOOKS}queries/"), 404, "not_found")


def test_a_deleted_token_is_refused(world):
    client = by_token("ada")
    ApiToken.objects.all().delete()
    is_problem(client.get(ROOT), 401, "authentication_failed")


def test_a_bad_token_is_not_forgiven_for_a_good_session(world):
    client = by_session("ada")
    response = client.get(ROOT, headers={"Authorization": "Bearer nonsense"})
    is_problem(response, 401, "authentication_failed")


def test_a_token_to_read_writes_nothing(world):
    reader = by_token("ada", scope=SCOPES.READ)
    assert reader.get(f"{BOOKS}queries/").status_code == 200
    is_problem(post_file(reader, f"{BOOKS}queries/", "n\tnew"), 403, "permission_denied")
    is_problem(post_json(reader, f"{ROOT}collections/", {"slug": "x"}), 403, "permission_denied")
    assert world.collection.queries.count() == 3
    assert not Collection.objects.filter(slug="x").exists()


def test_a_token_to_read_can_not_tell_what_exists_by_writing(world):
    reader = by_token("eve", scope=SCOPES.READ)
    there = post_json(reader, f"{BOOKS}lists/", {"slug": "x"})
    nowhere = post_json(reader, f"{ROOT}collections/nowhere/lists/", {"slug": "x"})
    assert there.status_code == nowhere.status_code == 403
    assert there.content == nowhere.content


def test_the_last_use_of_a_token_is_noted_once_a_minute(world):
    client = by_token("ada")
    client.get(ROOT)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    client.get(ROOT)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - 2 * LAST_USE_PRECISION)
    client.get(ROOT)
    assert ApiToken.objects.get().last_used_at >= first


def test_a_session_reads_and_writes_with_its_csrf_token(world):
    client = by_session("ada", checks_csrf=True)
    assert client.get(f"{BOOKS}queries/").status_code == 200
    is_problem(post_json(client, f"{BOOKS}lists/", {"slug": "x"}), 403, "permission_denied")
    client.get("/api/v1/docs")
    csrf = client.cookies["csrftoken"].value
    made = post_json(client, f"{BOOKS}lists/", {"slug": "x"}, **{"X-CSRFToken": csrf})
    assert made.status_code == 201


def test_a_token_needs_no_csrf_token(world):
    client = by_token("ada")
    client.handler.enforce_csrf_checks = True
    assert post_json(client, f"{BOOKS}lists/", {"slug": "x"}).status_code == 201


def test_a_token_opens_no_page(world):
    response = by_token("ada").get("/tokens")
    assert response.status_code == 302
    assert response["Location"].startswith("/login")


def test_forbidden_and_missing_answer_alike(world):
    stranger = by_token("eve")
    there = stranger.get(f"{BOOKS}lists/main")
    nowhere = stranger.get(f"{ROOT}collections/nowhere/lists/main")
    assert there.content == nowhere.content
    assert there.headers.keys() == nowhere.headers.keys()
