"""What is refused before anyone reads it, and who is locked out."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.hashers import make_password
from django.core.files import uploadhandler
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from evaluation.runs.rankers import RankerRefused, create_ranker
from judgments.lists.services import ListRefused
from judgments.members.services import MemberRefused, create_first_user, setup_code
from judgments.middleware import MOST_OF_OTHERS
from judgments.rest.uploads import MOST_BYTES, MOST_OF_A_FORM
from tests.builders import World, make_access, make_list, make_user
from touchstone.files.ids import id_problem, query_id_problem

FORM = "multipart/form-data; boundary=x"
BACKEND = "django.contrib.auth.backends.ModelBackend"
PASSWORD = "a long enough password"
FORMS_OF_SEVERAL = {"set_form.html": 2}  # a saved set is made and changed by one


@pytest.fixture(autouse=True)
def nobody_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """No upload handler is ever asked."""

    def refuse(*_: object) -> None:
        raise AssertionError("the body was read")

    monkeypatch.setattr(uploadhandler.TemporaryFileUploadHandler, "new_file", refuse)
    monkeypatch.setattr(uploadhandler.MemoryFileUploadHandler, "new_file", refuse)


@pytest.fixture(autouse=True)
def passwords_are_quick(settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def post_announcing(client: Client, path: str, length: int) -> int:
    """The status of a form that says it is so long, with a file in it."""
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nq\r\n--x--\r\n'
    return client.generic("POST", path, body, FORM, CONTENT_LENGTH=str(length)).status_code


def client_of(world: World, username: str, *, checks: bool = True) -> Client:
    client = Client(enforce_csrf_checks=checks)
    client.cookies["csrftoken"] = "a" * 32  # with it the token is looked for in the body
    if username:
        client.force_login(getattr(world, username), backend=BACKEND)
    return client


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["login", "collection-create", "password", "api-collections"])
@pytest.mark.parametrize("username", ["", "ada"])
def test_a_large_form_is_refused_where_no_file_is_taken(
    world: World, name: str, username: str
) -> None:
    client = client_of(world, username)
    assert post_announcing(client, reverse(name), MOST_OF_OTHERS + 1) == 413


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["queries-upload", "documents-upload"])
def test_a_file_may_be_large_where_one_is_taken_from_who_is_signed_in(
    world: World, name: str
) -> None:
    path = reverse(name, args=["books"])
    ada, nobody = client_of(world, "ada"), client_of(world, "")
    assert post_announcing(ada, path, MOST_OF_A_FORM + 1) == 413
    assert post_announcing(nobody, path, MOST_OF_OTHERS + 1) == 413
    with pytest.raises(AssertionError, match=r"was read|Cannot read more"):
        post_announcing(ada, path, MOST_OF_OTHERS + 1)


def test_every_page_with_a_file_in_its_form_takes_one() -> None:
    templates = Path(__file__).resolve().parents[3] / "templates"
    pages = [one for one in templates.rglob("*.html") if "multipart/form-data" in one.read_text()]
    views = [
        view
        for view in _views(get_resolver().url_patterns)
        if getattr(view, MOST_BYTES, 0) and not hasattr(view, "cls")
    ]
    assert len(views) == sum(FORMS_OF_SEVERAL.get(page.name, 1) for page in pages) > 0


def _views(patterns: list[URLPattern | URLResolver]) -> Iterator[object]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from _views(pattern.url_patterns)
        else:
            yield pattern.callback


@pytest.mark.django_db
def test_a_refusal_over_rest_is_a_problem(world: World) -> None:
    client = client_of(world, "ada")
    answer = client.generic(
        "POST",
        reverse("api-collections"),
        b"{}",
        content_type="application/json",
        headers={"content-length": str(MOST_OF_OTHERS + 1)},
    )
    assert answer.status_code == 413
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "too_large"


@pytest.mark.parametrize("text", [".", ".."])
def test_an_id_that_no_address_can_hold_is_refused(text: str) -> None:
    assert "no address can hold" in str(id_problem(text))
    assert "no address can hold" in str(query_id_problem(text))
    assert id_problem(f"{text}.") is None or text == "."


@pytest.mark.django_db
@pytest.mark.parametrize("name", [".", ".."])
def test_a_user_name_that_no_address_can_hold_is_refused(name: str) -> None:
    with pytest.raises(MemberRefused, match="only dots"):
        create_first_user(
            code=setup_code(), username=name, name="", password=PASSWORD, at=timezone.now()
        )


@pytest.mark.django_db
def test_no_list_and_no_ranker_stands_where_new_ones_are_made(world: World) -> None:
    access = make_access(collection=world.collection)
    with pytest.raises(ListRefused, match="is reserved"):
        make_list(collection=world.collection, slug="new")
    with pytest.raises(RankerRefused, match="is reserved"):
        create_ranker(access=access, at=timezone.now(), slug="new")


@pytest.mark.django_db
def test_what_one_person_sees_is_kept_by_nobody_between(world: World) -> None:
    client = client_of(world, "ada")
    for path in (reverse("collection", args=["books"]), reverse("api-collections"), "/nothing"):
        assert "private" in client.get(path)["Cache-Control"]


def sign_in(client: Client, username: str, password: str, address: str = "192.0.2.1") -> int:
    form = {"username": username, "password": password}
    return client.post(reverse("login"), form, REMOTE_ADDR=address).status_code


@pytest.mark.django_db
def test_an_address_that_tries_many_accounts_is_locked_out_as_a_whole(
    client: Client, settings
) -> None:
    settings.LOCKOUT_ADDRESS_LIMIT = 4
    make_user(username="ada")
    type(make_user(username="ada")).objects.update(password=make_password(PASSWORD))
    assert [sign_in(client, f"guess{n}", "wrong") for n in range(4)] == [200] * 4
    assert sign_in(client, "ada", PASSWORD) == 429
    assert sign_in(client, "ada", PASSWORD, "192.0.2.2") == 302


@pytest.mark.django_db
def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_names(
    client: Client, settings
) -> None:
    settings.BEHIND_PROXY = True
    settings.LOCKOUT_ADDRESS_LIMIT = 2
    form = {"username": "ada", "password": "wrong"}
    statuses = [
        client.post(
            reverse("login"), form, headers={"X-Forwarded-For": f"10.0.0.{n}, 192.0.2.9"}
        ).status_code
        for n in range(3)
    ]
    assert statuses == [200, 200, 429]
    other = client.post(
        reverse("login"), form, headers={"X-Forwarded-For": "192.0.2.9, 192.0.2.10"}
    )
    assert other.status_code == 200
