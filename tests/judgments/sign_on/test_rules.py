"""Claims and grants."""

from itertools import islice

import pytest

from judgments.sign_on.rules import (
    Claims,
    SignOnRefused,
    is_administrator,
    is_admitted,
    list_usernames,
    provider_id,
    read_claims,
    read_grants,
    roles_of,
)

GRANTS = read_grants(["raters=annotator@books", "leads=lead@books", " x=y=administrator"])


def test_the_highest_role_of_the_groups_counts() -> None:
    assert roles_of(GRANTS, ["raters", "leads"]) == {"books": "lead"}
    assert roles_of(GRANTS, ["leads", "raters"]) == {"books": "lead"}
    assert roles_of(GRANTS, ["other"]) == {"books": None}


def test_administrators_follow_from_groups_only_where_a_grant_says_so() -> None:
    assert is_administrator(GRANTS, ["x=y"]) is True
    assert is_administrator(GRANTS, ["leads"]) is False
    assert is_administrator(GRANTS[:2], ["leads"]) is None


def test_without_grants_everybody_is_admitted() -> None:
    assert is_admitted((), ())
    assert not is_admitted(GRANTS, ["other"])


@pytest.mark.parametrize("entry", ["raters", "=lead@books", "a=owner@books", "a=lead", "a=lead@"])
def test_other_entries_are_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="must be group=role@collection"):
        read_grants([entry])


@pytest.mark.parametrize(
    ("token", "info", "code"),
    [
        (None, {"sub": "1"}, "no_id_token"),
        ({"iss": "https://b", "sub": "1"}, {}, "wrong_issuer"),
        ({"iss": "https://a"}, {}, "no_subject"),
        ({"iss": "https://a", "sub": 7}, {}, "no_subject"),
        ({"iss": "https://a", "sub": "1"}, {"sub": "2"}, "other_subject"),
        ({"iss": "https://a", "sub": "1"}, {"name": "x"}, "other_subject"),
    ],
)
def test_what_names_nobody_for_certain_is_refused(token: object, info: object, code: str) -> None:
    data = {"id_token": token, "userinfo": info}
    with pytest.raises(SignOnRefused) as refused:
        read_claims(data, issuer="https://a", groups_claim="groups")
    assert refused.value.code == code


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_counts_only_where_it_is_verified(verified: object) -> None:
    token = {"iss": "i", "sub": "1", "email": "a@b.example", "email_verified": verified}
    assert not read_claims({"id_token": token}, issuer="i", groups_claim="groups").email
    token["email_verified"] = True
    assert read_claims({"id_token": token}, issuer="i", groups_claim="groups").email
    token["email"] = "a" * 250 + "@x.example"
    assert not read_claims({"id_token": token}, issuer="i", groups_claim="groups").email


def test_user_names_can_be_used_and_do_not_end() -> None:
    claims = Claims("i", "1", username="Ann O’Neill/x")
    assert list(islice(list_usernames(claims), 2)) == ["Ann-O-Neill-x", "Ann-O-Neill-x-2"]
    assert next(list_usernames(Claims("i", "1", email="ann@b.example"))) == "ann"
    assert next(list_usernames(Claims("i", "1", username="..."))) == "user"


def test_another_issuer_links_other_people() -> None:
    assert provider_id("https://a") != provider_id("https://b")
