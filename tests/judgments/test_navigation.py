import pytest

from judgments.navigation import SECTIONS, navigation


def tabs(role: str) -> list[str]:
    return [s.key for s in navigation(slug="demo", name="Demo", role=role).sections]


def test_an_annotator_sees_the_overview_and_campaigns_only() -> None:
    assert tabs("annotator") == ["overview", "campaigns"]


def test_a_researcher_sees_what_can_be_measured_but_neither_campaigns_nor_members() -> None:
    assert tabs("researcher") == [
        "overview",
        "lists",
        "leaderboard",
        "rankers",
        "queries",
        "documents",
    ]


@pytest.mark.parametrize("role", ["lead", "admin"])
def test_leads_and_admins_see_every_section(role: str) -> None:
    assert tabs(role) == [section.key for section in SECTIONS]


def test_an_unknown_role_sees_no_section() -> None:
    assert tabs("stranger") == []


def test_a_misspelt_section_is_a_mistake_of_the_page() -> None:
    with pytest.raises(ValueError, match="campains"):
        navigation(slug="demo", name="Demo", role="lead", current="campains")
