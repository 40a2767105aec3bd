"""Computing in a worker what is known of a campaign's labels, and keeping it."""

from dataclasses import asdict
from functools import partial
from typing import Any

from annotation.models import Campaign, QualityReport
from annotation.quality.assessment import list_found
from annotation.quality.figures import REVISION, fit, quality
from annotation.quality.material import count_given, key_of, list_chances, read_material
from annotation.quality.without import measure_harm
from evaluation.public import get_resolution
from judgments.reports.services import Beat, Clock, bring_up_to_date
from touchstone.agreement.calibration import calibrated_posterior
from touchstone.agreement.dawid_skene import DawidSkene, Floats


def refresh_quality(*, campaign_id: int, clock: Clock) -> bool:
    """Bring the stored figures of a campaign to its labels; whether there was anything to do."""
    campaign = Campaign.objects.select_related("list", "guideline").get(pk=campaign_id)
    report, _ = QualityReport.objects.get_or_create(campaign=campaign)
    return bring_up_to_date(
        report,
        key=key_of(campaign),
        revision=REVISION,
        compute=partial(_compute, campaign),
        clock=clock,
    )


def _posterior(model: DawidSkene, figures: dict[str, Any]) -> Floats:
    """How probable each grade of each pair is, calibrated where enough pairs were checked."""
    result = figures["accuracy"]["calibrated"]
    if result is None:
        return model.posterior
    return calibrated_posterior(model.posterior, result["intercept"], result["slope"])


def _compute(campaign: Campaign, beat: Beat) -> dict[str, Any]:
    read = read_material(campaign)
    model = fit(read.material)
    figures = quality(read.material, beat, model)
    if model is not None:
        chances = list_chances(read, _posterior(model, figures))
        result = get_resolution(judgment_list=campaign.list, chances=chances)
        figures["resolution"] = None if result is None else asdict(result)
    found_places = list_found(figures)
    rows = [figures["annotators"][place] for place in found_places]
    figures["harm"] = measure_harm(
        campaign, [read.people[place] for place in found_places], [row["labels"] for row in rows]
    )
    return figures | {"people": read.people, "given": count_given(campaign)}
