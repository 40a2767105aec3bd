"""Which lists have not seen the newest labels of their machine judge; for the sweep."""

from typing import Final

from django.db.models import Exists, Max, OuterRef, Q

from annotation.machine_judges.sources import find_revision
from annotation.models import JudgeCampaign, JudgeRevision, MachineCheck, MachineLabel, Pair
from judgments.models import JudgmentList, JudgmentVersion
from judgments.models.lists import Takes
from judgments.versions.takes import read_machine

# after these a pair may be without a grade of people again
LOSES: Final = Q(removed__gt=0) | Q(source=JudgmentVersion.Source.REVERT)


def find_chosen(judgment_list: JudgmentList) -> tuple[JudgeRevision, JudgmentList] | None:
    """The revision that a list takes grades of, and the list whose campaigns' pairs count."""
    machine = read_machine(judgment_list.takes_from)
    if judgment_list.takes == Takes.PEOPLE or machine is None:
        return None
    revision = find_revision(machine.key)
    own_qs = JudgmentList.objects.filter(collection=judgment_list.collection_id)
    source = own_qs.filter(slug=machine.list).first()
    return None if revision is None or source is None else (revision, source)


def note_followed(
    judgment_list: JudgmentList, revision: JudgeRevision, source: JudgmentList
) -> None:
    """The list has seen these labels. The caller holds the list's lock."""
    state = {"head": judgment_list.head} | _state_of(revision, source)
    MachineCheck.objects.update_or_create(list=judgment_list, defaults=state)


def list_due_lists() -> list[int]:
    """Those whose machine judge has labels, or whose campaigns have pairs, that the list has not
    seen, or that lost a grade since; not while the judge is at work with this revision.
    """
    checked = MachineCheck.objects.filter(list=OuterRef("pk"))
    own_qs = JudgmentList.objects.exclude(takes=Takes.PEOPLE).filter(
        takes_from__isnull=False, archived_at=None
    )
    return [one.pk for one in own_qs.filter(Exists(checked)).order_by("pk") if _is_due(one)]


def _is_due(judgment_list: JudgmentList) -> bool:
    chosen = find_chosen(judgment_list)
    if chosen is None:
        return False
    revision, source = chosen
    running = JudgeCampaign.objects.filter(revision=revision, state=JudgeCampaign.State.RUNNING)
    if running.exists():
        return False
    check = MachineCheck.objects.get(list=judgment_list)
    state = _state_of(revision, source)
    if (check.newest_label, check.newest_pair) != (state["newest_label"], state["newest_pair"]):
        return True
    later_qs = JudgmentVersion.objects.filter(list=judgment_list, number__gt=check.head)
    return later_qs.filter(LOSES).exists()


def _state_of(revision: JudgeRevision, source: JudgmentList) -> dict[str, int]:
    labels_qs = MachineLabel.objects.filter(revision=revision)
    pairs_qs = Pair.objects.filter(list=source)
    return {
        "newest_label": labels_qs.aggregate(pk=Max("pk"))["pk"] or 0,
        "newest_pair": pairs_qs.aggregate(pk=Max("pk"))["pk"] or 0,
    }
