"""What a stored data set says of its files."""

from evaluation.data_sets.plans import Columns
from evaluation.models import DataSet


def columns_of(data_set: DataSet) -> Columns:
    """Where it is and what is computed."""
    return Columns(
        rankings=data_set.rankings,
        judgments=data_set.judgments,
        query=tuple(data_set.query),
        document=data_set.document,
        score=data_set.score,
        grade=data_set.grade,
        signals=data_set.signals,
        measures=data_set.measures,
        segments=tuple(data_set.segments),
        day=data_set.day,
    )


def no_common(left: DataSet, right: DataSet) -> str:
    """Why two data sets can't be compared where no query is in both."""
    one, other = (", ".join(own.query) for own in (left, right))
    days = ", on no day," if left.day else ""
    return f"No query{days} is in both: {one} of {left.name}, and {other} of {right.name}."
