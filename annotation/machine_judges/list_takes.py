"""What a list takes, and the machine judges that it can take grades of."""

from dataclasses import dataclass
from typing import Final

from annotation.machine_judges.sources import key_of
from annotation.models import JudgeCampaign, JudgeRevision
from judgments.lists.queries import get_list
from judgments.models import JudgmentList, JudgmentVersion
from judgments.permissions import Access, check_may_see_people
from judgments.versions.machine_grades import count_machine_grades
from judgments.versions.takes import read_machine, takes_words
from touchstone.scales import Scale

SHOWN: Final = 20  # versions


@dataclass(frozen=True)
class MachineOption:
    """A revision with labels on the pairs of a list's campaigns."""

    revision: JudgeRevision
    source: JudgmentList

    @property
    def value(self) -> str:
        return f"{self.revision.pk}:{self.source.slug}"

    @property
    def label(self) -> str:
        name = f"{self.revision.judge.name}, revision {self.revision.number}"
        return f"{name}, on pairs of {self.source.name}"


@dataclass(frozen=True)
class TakesPage:
    """What a list takes. from_machines: grades of its newest version. choices: the versions at
    which the choice changed, the newest first: their number and the choice in words.
    """

    judgment_list: JudgmentList
    words: str
    from_machines: int
    current: str
    options: tuple[MachineOption, ...]
    choices: tuple[tuple[int, str], ...]
    may_change: bool


def get_takes_page(*, access: Access, slug: str) -> TakesPage:
    """For leads and admins."""
    check_may_see_people(access)
    one = get_list(access=access, slug=slug)
    options = list_options(access=access, judgment_list=one)
    machine = read_machine(one.takes_from)
    current = [
        option.value
        for option in options
        if machine is not None
        and (machine.key, machine.list) == (key_of(option.revision), option.source.slug)
    ]
    return TakesPage(
        judgment_list=one,
        words=takes_words(one.takes, one.takes_from),
        from_machines=count_machine_grades(list_id=one.pk, version=one.head),
        current=next(iter(current), ""),
        options=options,
        choices=_list_choices(one),
        may_change=access.is_lead and one.archived_at is None,
    )


def list_options(*, access: Access, judgment_list: JudgmentList) -> tuple[MachineOption, ...]:
    """Revisions with labels and the grades of the list's scale, the newest first; those on pairs of
    the list's own campaigns before others."""
    check_may_see_people(access)
    codes = Scale.from_json(judgment_list.scale).codes
    own_qs = JudgeCampaign.objects.filter(
        judge__collection=access.collection, campaign__list__archived_at=None
    )
    related = ("revision__judge", "revision__guideline_revision", "campaign__list")
    found = {
        (own.revision_id, own.campaign.list_id): MachineOption(own.revision, own.campaign.list)
        for own in own_qs.filter(revision__labels__isnull=False)
        .distinct()
        .select_related(*related)
        .order_by("-revision", "campaign__list")
    }
    fitting = [
        option
        for option in found.values()
        if tuple(grade["code"] for grade in option.revision.guideline_revision.grades) == codes
    ]
    return tuple(sorted(fitting, key=lambda option: option.source.pk != judgment_list.pk))


def _list_choices(judgment_list: JudgmentList) -> tuple[tuple[int, str], ...]:
    versions_qs = JudgmentVersion.objects.filter(list=judgment_list).order_by("number")
    result: list[tuple[int, str]] = []
    for number, takes, takes_from in versions_qs.values_list("number", "takes", "takes_from"):
        words = takes_words(takes, takes_from)
        if not result or result[-1][1] != words:
            result.append((number, words))
    return tuple(result[::-1][:SHOWN])
