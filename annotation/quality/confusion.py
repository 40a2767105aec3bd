"""Which pairs are behind a cell of someone's confusion matrix; for leads, by the pairs' pages."""

import numpy as np

from annotation.consolidation.overlap import overlap_grades
from annotation.models import Campaign, QualityReport
from annotation.quality.queries import figures_of
from judgments.models import User
from touchstone.agreement.dawid_skene import apply_model, without_own
from touchstone.scales import Scale


def list_confused(*, campaign: Campaign, username: str, grade: int, likely: int) -> list[int]:
    """The pairs to which someone gave a grade where the others make another most probable.

    By the error model of the stored report: as many as it counts, until someone labels one of
    them. None without a report. grade, likely: codes of the scale.
    """
    codes = Scale.from_json(campaign.list.scale).codes
    figures = figures_of(QualityReport.objects.filter(campaign=campaign).first())
    own = User.objects.filter(username=username).values_list("pk", flat=True).first()
    people = figures.get("people", [])
    if own not in people or grade not in codes or likely not in codes:
        return []
    given_qs = overlap_grades().filter(pair__campaign=campaign, annotator=own, grade=grade)
    labels_qs = overlap_grades().filter(pair__in=given_qs.values("pair"), annotator__in=people)
    rows = list(labels_qs.order_by("pair_id").values_list("pair_id", "annotator_id", "grade"))
    if not rows:
        return []
    place = {pk: number for number, pk in enumerate(people)}
    pairs, units, counts = np.unique(
        [pair for pair, _, _ in rows], return_inverse=True, return_counts=True
    )
    annotators = np.array([place[pk] for _, pk, _ in rows])
    steps = np.array([codes.index(code) for _, _, code in rows])
    prevalence, matrices = (np.array(figures["model"][name]) for name in ("prevalence", "matrices"))
    model = apply_model(prevalence, matrices, units, annotators, steps)
    others = without_own(model, units, annotators, steps).argmax(axis=1)
    meant = (annotators == place[own]) & (counts[units] > 1) & (others == codes.index(likely))
    return [int(pk) for pk in pairs[units[meant]]]
