"""What machine judges labelled on a list, for the app that evaluates."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from django.db.models import Exists, Max, OuterRef

from annotation.models import GoldItem, JudgeCampaign, JudgeRevision, MachineLabel, Pair
from judgments.models import Judgment
from judgments.versions.machine_sources import MachineSource
from judgments.versions.machine_sources import Pair as PairKey
from judgments.versions.queries import at_head


class MachineLabels:
    """The provider for `judgments.versions.machine_sources`."""

    def list_sources(self, list_id: int) -> Sequence[MachineSource]:
        """The newest revision of each judge that has labels.

        The state names the newest label and the newest pair: labels are never changed, and a pair
        may come into the list that the revision has labelled for another. And the gold that does
        not count.
        """
        own_qs = JudgeCampaign.objects.filter(campaign__list=list_id).order_by()
        revision_ids = own_qs.values_list("revision", flat=True).distinct()
        revisions_qs = JudgeRevision.objects.filter(pk__in=list(revision_ids))
        newest_pair = Pair.objects.filter(list=list_id).aggregate(pk=Max("pk"))["pk"]
        gold = sorted(_list_gold(list_id))
        left_out = f"/{sha256(str(gold).encode()).hexdigest()[:16]}" if gold else ""
        at_work_qs = own_qs.filter(state=JudgeCampaign.State.RUNNING)
        at_work = set(at_work_qs.values_list("judge", flat=True))
        result: dict[int, MachineSource] = {}
        for revision in revisions_qs.select_related("judge").order_by("judge", "-number"):
            if revision.judge_id in result:
                continue
            labels_qs = MachineLabel.objects.filter(revision=revision)
            newest = labels_qs.aggregate(pk=Max("pk"))["pk"]
            if newest is not None:
                result[revision.judge_id] = MachineSource(
                    key=key_of(revision),
                    judge=revision.judge.name,
                    revision=revision.number,
                    state=f"{newest}/{newest_pair}{left_out}",
                    is_labelling=revision.judge_id in at_work,
                )
        return list(result.values())

    def get_grades(self, list_id: int, key: str) -> Mapping[PairKey, int]:
        """By pair, without gold that is no judgment of the list; of no revision, nothing."""
        labels_qs = MachineLabel.objects.filter(revision=find_revision(key))
        rows = labels_qs.order_by("pk").values_list("query", "document", "grade")
        grades = {(query, document): grade for query, document, grade in rows}
        pairs_qs = Pair.objects.filter(list=list_id).order_by()
        pairs = set(pairs_qs.values_list("query", "document").distinct()) - _list_gold(list_id)
        return {pair: grade for pair, grade in grades.items() if pair in pairs}


def _list_gold(list_id: int) -> set[PairKey]:
    """The gold pairs without a judgment: people have no grade there that could be compared."""
    judged = Judgment.objects.filter(
        at_head(),
        list=list_id,
        query=OuterRef("pair__query"),
        document=OuterRef("pair__document"),
    )
    gold_qs = GoldItem.objects.filter(~Exists(judged), pair__list=list_id, retired_at=None)
    return set(gold_qs.order_by().values_list("pair__query", "pair__document"))


def key_of(revision: JudgeRevision) -> str:
    """What the app that evaluates calls a revision."""
    return f"{revision.judge_id}.{revision.number}"


def find_revision(key: str) -> JudgeRevision | None:
    """The revision with this key."""
    judge, number = map(int, key.split("."))
    own_qs = JudgeRevision.objects.filter(judge=judge, number=number)
    return own_qs.select_related("judge").first()


MACHINE_LABELS = MachineLabels()
