"""Comparisons of data sets are started and stopped; workers do them like evaluations."""

from datetime import datetime

from django.db import IntegrityError, transaction

from evaluation.data_sets.definition import columns_of
from evaluation.data_sets.plans import check_comparable
from evaluation.data_sets.services import TASK, DataSetRefused, check_current
from evaluation.models import DataSet, DataSetEvaluation, DataSetPortion
from judgments.audit import services as audit
from judgments.permissions import Access
from judgments.waking import wake


def start_comparison(
    *, access: Access, data_set: DataSet, other: DataSet, at: datetime
) -> DataSetEvaluation:
    """Compare a data set with another in workers, query by query; for researchers and leads.

    Raises DataSetRefused for the same data set and while it is being compared with this one, and
    BulkRefused where their queries or grades differ in kind.
    """
    for own in (data_set, other):
        check_current(access, own)
    if data_set.pk == other.pk:
        raise DataSetRefused("same_data_set", "Choose another data set to compare with.")
    check_comparable(columns_of(data_set), columns_of(other))
    try:
        with transaction.atomic():
            made = DataSetEvaluation.objects.create(
                data_set=data_set, other=other, created_at=at, created_by=access.user
            )
            first = DataSetPortion.objects.create(
                evaluation=made, kind=DataSetPortion.Kind.LIST, number=0, announced_at=at
            )
            audit.record_by(
                access,
                at,
                "data_set.comparison_started",
                data_set.slug,
                after={"other": other.slug, "comparison": str(made.public_id)},
            )
            wake(TASK, first.pk)
    except IntegrityError as error:
        running = DataSetEvaluation.objects.filter(
            data_set=data_set, other=other, state=DataSetEvaluation.State.RUNNING
        )
        if not running.exists():
            raise
        message = "A comparison of these data sets is still running."
        raise DataSetRefused("comparison_running", message) from error
    return made
