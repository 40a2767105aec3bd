"""What a bulk evaluation is asked: which columns, which measures, by which segments."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from touchstone.bulk.errors import BulkRefused
from touchstone.files.signals import Signals
from touchstone.measures.asking import Asked, ask_all
from touchstone.measures.definition import Measure
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import Grades
from touchstone.measures.presets import preset
from touchstone.scales import GREATEST_CODE, LEAST_CODE, Scale


@dataclass(frozen=True)
class Plan:
    """Columns and measures of one evaluation; make it with `Plan.of`.

    query: one or more columns, which together say whose ranking a row is of. by: those that
    together say which segment a query is in; none: there are no segments.
    signals: what a value of the grade column means as a grade; None: it is one.
    """

    query: tuple[str, ...]
    document: str
    score: str
    grade: str
    by: tuple[str, ...]
    asked: tuple[Asked, ...]
    signals: Signals | None

    @classmethod
    def of(
        cls,
        *,
        query: str | Sequence[str],
        document: str,
        score: str,
        grade: str,
        measures: str,
        by: str | Sequence[str] = (),
        preset_name: str | None = None,
        signals: str = "",
    ) -> Self:
        """The plan for these names.

        measures: names as `touchstone evaluate` takes them. signals: as `Signals.parse` reads it.
        Raises MeasureError for a measure that rows of Parquet do not allow, SignalsRefused, and
        BulkRefused where a column is named twice.
        """
        queries, segments = _names(query), _names(by)
        named = [*queries, document, score, grade]
        for name in named:
            if named.count(name) > 1:
                raise BulkRefused(f"column {name!r} is used twice")
        usual = None if preset_name is None else preset(preset_name)
        asked = ask_all(measures, usual)
        means = Signals.parse(signals, scale=_EVERY_CODE)
        for one in asked:
            _check(one, is_top_known=means is not None)
        return cls(queries, document, score, grade, segments, asked, means)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is computed, in the order in which it was asked for."""
        return tuple(one.measure for one in self.asked)

    @cached_property
    def grades(self) -> Grades | None:
        """The scale that signals give; None: the grades are those that the data has."""
        if self.signals is None:
            return None
        return Grades.integers({grade for _, grade in self.signals.steps()})


_EVERY_CODE: Final = Scale.parse(f"{LEAST_CODE}..{GREATEST_CODE}")


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))


def _check(asked: Asked, *, is_top_known: bool) -> None:
    """Raises MeasureError for what a sum over queries, bucket by bucket, cannot be."""
    measure = asked.measure
    if not measure.is_mean or measure.average != "macro":
        raise MeasureError(f"{asked.name}: bulk only supports plain means over queries")
    reads_top = measure.family == "ERR" or measure.ideal == "max"
    if reads_top and measure.top is None and not is_top_known:
        raise MeasureError(
            f"{asked.name}: the scale's top grade is unknown until all rows are read; "
            f"set it, as in {measure.family}(…,top=4)"
        )
