"""The form of two statements, from which PostgreSQL guesses well where it has no statistics.

So it is in the minute after much was stored, and for as long as it crashes every minute. With
88,000 labels the other form read them all, each time that a label had come.
"""

from annotation.consolidation.overlap import overlap_labels
from annotation.gold.queries import list_unchecked
from annotation.models import Assignment


def test_that_a_seat_is_done_is_not_taken_for_rare() -> None:
    asked = str(overlap_labels().query)
    assert f'"state" = {Assignment.State.DONE}' not in asked
    assert "free, leased, voided, aside" in asked, "every other state is left out by its name"


def test_that_a_label_is_unchecked_is_not_taken_for_rare() -> None:
    asked = str(list_unchecked().query)
    assert "NOT EXISTS" in asked.replace("NOT (EXISTS", "NOT EXISTS")
    assert "JOIN" not in asked.replace('INNER JOIN "annotation_assignment"', "")
