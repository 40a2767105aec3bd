"""The usual label in one statement: somebody's first word on a pair that they hold the lease of.

What labelling.py does with locks and looks in several statements, PostgreSQL does in one, and
commits it with the same round trip. Whatever is not as usual changes nothing here, and takes the
long way. The order of locks is the same: the pair, then the seat.
"""

from contextlib import nullcontext
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, connection, models, transaction

from annotation.permissions import Desk
from annotation.submissions import GRADED, Submission
from judgments.prepared import PreparedText

# Labels of gold and repeats are as usual as any others, for nobody must be able to tell them by
# how long they take; as in labelling.py, they make nothing due.
#
# Each step finds its rows by one key alone and is MATERIALIZED before anything else is asked of
# them. Left to itself, PostgreSQL may go by all labels or seats of the viewer instead, which is
# as good as the key while it believes the tables are empty, and a hundred times slower when they
# are not. IS NOT DISTINCT FROM, which no index answers, is for the same.
_TEXT: Final = """
WITH seat AS MATERIALIZED (
    SELECT id, pair_id, annotator_id, purpose, state, occasion
    FROM annotation_assignment WHERE public_id = %(assignment)s
), said AS MATERIALIZED (
    SELECT annotator_id, assignment_id
    FROM annotation_label WHERE pair_id = (SELECT pair_id FROM seat)
), held AS MATERIALIZED (
    SELECT id, campaign_id, document_id, label_seq, consolidated_seq, committed_seq
    FROM annotation_pair WHERE id = (SELECT pair_id FROM seat) AND is_open
    FOR NO KEY UPDATE
), usual AS MATERIALIZED (
    SELECT held.*, seat.id AS seat_id, seat.purpose IN ('gold', 'repeat') AS is_planted,
           document.content_hash, revision.id AS revision_id
    FROM held
    JOIN seat ON seat.annotator_id = %(viewer)s AND seat.state = 'leased'
        AND seat.purpose <> 'training'
    JOIN judgments_document document ON document.id = held.document_id
    JOIN annotation_guidelinerevision revision
        ON revision.guideline_id = %(guideline)s AND revision.number = %(revision)s
    WHERE held.campaign_id = %(campaign)s AND NOT EXISTS (
        SELECT FROM said LEFT JOIN annotation_assignment own ON own.id = said.assignment_id
        WHERE said.annotator_id = seat.annotator_id AND COALESCE(own.occasion, 0) = seat.occasion
    )
), taken AS (
    UPDATE annotation_assignment own SET state = 'done', leased_until = NULL FROM usual
    WHERE own.id = usual.seat_id AND own.state IS NOT DISTINCT FROM 'leased'
        AND own.annotator_id IS NOT DISTINCT FROM %(viewer)s
    RETURNING usual.*
), counted AS (
    UPDATE annotation_pair pair
    SET label_seq = taken.label_seq + 1,
        consolidated_seq = taken.consolidated_seq
            + (is_planted AND taken.consolidated_seq = taken.label_seq)::int,
        committed_seq = taken.committed_seq
            + (is_planted AND taken.committed_seq = taken.label_seq)::int
    FROM taken WHERE pair.id = taken.id
    RETURNING pair.id
)
INSERT INTO annotation_label (
    id, pair_id, assignment_id, annotator_id, outcome, grade, reason, note, spans,
    guideline_revision_id, content_hash, seconds, made_at, received_at, pair_seq, is_blind
)
SELECT %(id)s::uuid, taken.id, seat_id, %(viewer)s, 'graded', %(grade)s, %(reason)s, %(note)s,
       %(spans)s::jsonb, revision_id, COALESCE(NULLIF(%(shown)s, ''), content_hash),
       %(seconds)s::double precision, %(made_at)s, %(at)s, label_seq + 1, %(is_blind)s
FROM taken JOIN counted USING (id)
RETURNING pair_id
"""
_statement: PreparedText[Any] = PreparedText(
    _TEXT,
    guideline=models.BigIntegerField(),
    revision=models.IntegerField(),
    assignment=models.UUIDField(),
    viewer=models.BigIntegerField(),
    campaign=models.BigIntegerField(),
    id=models.UUIDField(),
    grade=models.SmallIntegerField(),
    reason=models.CharField(),
    note=models.TextField(),
    spans=models.JSONField(),
    shown=models.CharField(),
    seconds=models.FloatField(),
    made_at=models.DateTimeField(),
    at=models.DateTimeField(),
    is_blind=models.BooleanField(),
)


def store_usual(*, desk: Desk, submission: Submission, at: datetime) -> bool:
    """Store a checked label if it is as usual; whether it was.

    What is looked at may be older than what is locked: another label of the viewer for this pair
    can have come between. Then the table's constraints refuse this one, and it was not as usual.
    """
    if connection.vendor != "postgresql":
        return False
    if submission.outcome != GRADED or submission.supersedes is not None:
        return False
    try:
        # by itself it is a transaction; within one, a refusal must not take that with it
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            stored = _statement.list(
                guideline=desk.campaign.guideline_id,
                revision=submission.guideline_revision,
                assignment=submission.assignment,
                viewer=desk.viewer.pk,
                campaign=desk.campaign.pk,
                id=submission.id,
                grade=submission.grade,
                reason=submission.reason,
                note=submission.note,
                spans=list(submission.spans),
                shown=submission.content_hash,
                seconds=submission.seconds,
                made_at=submission.made_at,
                at=at,
                is_blind=desk.is_blind,
            )
    except IntegrityError:
        return False
    return bool(stored)
