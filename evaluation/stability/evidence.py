"""What lies behind a list's grades: the votes or the posterior that campaigns kept beside them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import Q

from judgments.models import Judgment
from touchstone.measures.grades import Grades
from touchstone.measures.scoring import StoredJudgments
from touchstone.statistics.resampling import FloatArray


def get_evidence(*, list_id: int, version: int) -> dict[tuple[int, int], dict[str, Any]]:
    """What is kept beside each grade that holds at a version, by query and document (pks).

    Grades with nothing beside them, as imported ones, are left out.
    """
    holding = Judgment.objects.filter(list=list_id, since__lte=version).filter(
        Q(until__isnull=True) | Q(until__gt=version)
    )
    kept = holding.order_by().exclude(evidence={}).values_list("query", "document", "evidence")
    return {(query_id, document_id): evidence for query_id, document_id, evidence in kept}


def get_grade_chances(
    *, list_id: int, version: int, judged: StoredJudgments, grades: Grades
) -> FloatArray:
    """How likely each level of each judgment is, (n_judgments, n_levels); zeros: as it stands.

    From the posterior that the campaign kept beside the judgment, else from its votes; a grade
    that someone decided, or that has neither, stands.
    """
    result = get_evidence(list_id=list_id, version=version)
    owners = np.repeat(judged.query_ids, judged.judgments.lengths).tolist()
    pairs = zip(owners, judged.judgments.documents.tolist(), strict=True)
    chances = np.zeros((len(owners), len(grades.codes)))
    for place, pair in enumerate(pairs) if result else ():
        shares = _shares(result[pair]) if pair in result else {}
        if shares:
            codes = np.array(list(shares), np.int64)
            chances[place, grades.levels(codes) - 1] = list(shares.values())
    return chances


def _shares(evidence: Mapping[str, Any]) -> dict[int, float]:
    """What the evidence says of each grade; empty for one that a person decided."""
    if evidence.get("adjudicated"):
        return {}
    said = evidence.get("posterior") or evidence.get("votes") or {}
    return {int(code): float(share) for code, share in said.items() if share > 0}
