"""What a list takes: grades of people, of a machine judge, or of both; a choice of each version."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from judgments.models import JudgmentList, JudgmentVersion
from judgments.models.lists import Takes
from judgments.versions.click_grades import click_grades_qs
from judgments.versions.temporal import Pair, Wanted
from touchstone.errors import DomainError

KEY: Final = "machine"  # of the evidence of a machine judge's grade


class TakesRefused(DomainError):
    """The list does not take grades from there."""


@dataclass(frozen=True)
class MachineChoice:
    """Which machine judge a list takes grades from.

    judge, revision: its name and the revision's number. key: of the revision, as
    `machine_sources` has it. list: the slug of the list whose campaigns' pairs it labelled.
    """

    judge: str
    revision: int
    key: str
    list: str


def admitted(takes: str, wanted: Mapping[Pair, Wanted]) -> dict[Pair, Wanted]:
    """What a list that takes this does with changes.

    People only: instead of a machine judge's grade it has none. A machine judge only: what people
    say of a pair changes nothing; judgments can still be removed.
    """
    if takes == Takes.PEOPLE:
        return {
            pair: Wanted(None, None) if KEY in (want.evidence or {}) else want
            for pair, want in wanted.items()
        }
    if takes == Takes.MACHINE:
        return {
            pair: want
            for pair, want in wanted.items()
            if want.grade is None or KEY in (want.evidence or {})
        }
    return dict(wanted)


def check_takes_people(judgment_list: JudgmentList) -> None:
    """Raises TakesRefused for a list that takes grades of a machine judge only."""
    if judgment_list.takes == Takes.MACHINE:
        message = "This list takes grades of a machine judge only. A lead can change that."
        raise TakesRefused("takes_machine", message)


def read_machine(takes_from: Mapping[str, Any] | None) -> MachineChoice | None:
    """The stored choice of a machine judge."""
    return None if takes_from is None else MachineChoice(**takes_from)


def takes_words(
    takes: str, takes_from: Mapping[str, Any] | None, *, has_clicks: bool = False
) -> str:
    """Where a version's grades come from, in words. has_clicks: some of them come from clicks."""
    machine = read_machine(takes_from)
    name = "machine judges"
    if machine is not None:
        name = f"machine judge {machine.judge}, revision {machine.revision}"
    if takes == Takes.PEOPLE:
        return "people and clicks" if has_clicks else "people only"
    if takes == Takes.MACHINE:
        return f"{name}, only"
    first = "people and clicks" if has_clicks else "people"
    return f"{first} where there are, {name}, elsewhere"


def takes_at(*, list_id: int, version: int | None) -> str:
    """Where the grades of a list's version come from, in words; "" for a list without versions."""
    own_qs = JudgmentVersion.objects.filter(list=list_id, number=version or 0)
    row = own_qs.values_list("takes", "takes_from").first()
    has_clicks = click_grades_qs(list_id=list_id, version=version or 0).exists()
    return takes_words(*row, has_clicks=has_clicks) if row else ""
