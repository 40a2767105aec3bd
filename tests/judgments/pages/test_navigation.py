import pytest

from judgments.models import Collection, Role, User
from judgments.pages.navigation import SECTIONS, navigation
from judgments.permissions import ADMIN, Access

EVERYTHING = [section.key for section in SECTIONS]
MEASURING = ["lists", "leaderboard", "rankers"]
CONTENT = ["queries", "documents"]


def access(role: str, *, is_annotating: bool = False) -> Access:
    return Access(User(username="ada"), Collection(slug="demo", name="Demo"), role, is_annotating)


def tabs(role: str, *, is_annotating: bool = False) -> list[str]:
    shown = navigation(access(role, is_annotating=is_annotating))
    return [section.key for section in shown.sections]


def test_an_annotator_sees_the_overview_and_campaigns_only() -> None:
    assert tabs(Role.ANNOTATOR) == ["overview", "campaigns"]


def test_a_researcher_sees_what_can_be_measured_and_what_was_labelled_but_no_people() -> None:
    assert tabs(Role.RESEARCHER) == ["overview", "campaigns", *MEASURING, *CONTENT]


def test_a_researcher_who_annotates_sees_the_campaign_instead_of_the_numbers() -> None:
    shown = tabs(Role.RESEARCHER, is_annotating=True)
    assert "campaigns" in shown
    assert not set(MEASURING) & set(shown)


@pytest.mark.parametrize("role", [Role.LEAD, ADMIN])
def test_leads_and_admins_see_every_section(role: str) -> None:
    assert tabs(role) == EVERYTHING


def test_the_tabs_name_their_collection_and_the_current_section() -> None:
    shown = navigation(access(Role.LEAD), section="members")
    assert (shown.slug, shown.name, shown.current) == ("demo", "Demo", "members")


def test_a_misspelt_section_is_a_mistake_of_the_page() -> None:
    with pytest.raises(ValueError, match="campains"):
        navigation(access(Role.LEAD), section="campains")
