"""Holding what is stored of tools' values against a computation from scratch; reads only."""

from django.db.models import Q

from evaluation.evaluations.verifying import Verified
from evaluation.models import ToolValues
from evaluation.tool_differences.tool_values import (
    definitions_digest,
    from_json,
    judged_at,
    run_file,
)
from judgments.models import JudgmentList, Release
from touchstone.measures.tool_differences import preset_means


def verify_tool_values(*, judgment_list: JudgmentList, every_step: bool = False) -> Verified:
    """Recompute a list's tool values at the head and at every release, or at every version."""
    released = Release.objects.filter(list=judgment_list).values("version")
    wanted = Q() if every_step else Q(version__in=released) | Q(version__number=judgment_list.head)
    rows = ToolValues.objects.filter(wanted, version__list=judgment_list)
    result, judged, number = Verified(), None, 0
    for row in rows.select_related("run__ranker__collection", "version").order_by("version", "pk"):
        if row.definitions != definitions_digest(judgment_list, row.cutoff):
            result += Verified(outdated=1)
            continue
        if row.version.number != number:
            number = row.version.number
            judged = judged_at(judgment_list, number)
        problem = (
            f"{judgment_list} version {number}: {row.run.ranker.slug}/{row.run.name}: "
            f"the tools' nDCG@{row.cutoff} is not what is computed"
        )
        right = judged and preset_means(judged, run_file(row.run), row.cutoff)
        problems = () if right == from_json(row.means) else (problem,)
        result += Verified(tool_values=1, problems=problems)
    return result
