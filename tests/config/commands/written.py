"""What people wrote, in the columns that it lay in once, and where it lies since; for SQLite."""

from typing import Final


def reason_of(table: str, column: str = "reason") -> tuple[str, str]:
    """Two statements for the same rows: from the facts as they were, and as they are."""
    return (
        f"SELECT id, {column} FROM {table} ORDER BY id",  # noqa: S608
        f"""
        SELECT f.id, coalesce(t.text, '') FROM {table} f
        LEFT JOIN judgments_sidetext t ON t.digest = f.{column}_text_id ORDER BY f.id
        """,  # noqa: S608
    )


WRITTEN: Final = dict(
    [
        (
            "SELECT id, subject, before, after FROM judgments_auditentry ORDER BY id",
            """
            SELECT e.id, t.text ->> 'subject', nullif(t.text -> 'before', 'null'),
            nullif(t.text -> 'after', 'null') FROM judgments_auditentry e
            JOIN judgments_sidetext t ON t.digest = e.detail_id ORDER BY e.id""",
        ),
        reason_of("judgments_judgmentversion"),
        reason_of("judgments_release", "notes"),
        reason_of("annotation_adjudication"),
        reason_of("annotation_reopening"),
        reason_of("annotation_onemorelabel"),
        reason_of("annotation_label"),
        reason_of("annotation_label", "note"),
        (
            "SELECT id, made_at, seconds FROM annotation_label ORDER BY id",
            "SELECT label_id, made_at, seconds FROM annotation_labeltiming ORDER BY label_id",
        ),
    ]
)
FEEDBACK: Final = "SELECT items FROM annotation_feedback"
# more rows for the installation from before the squash, with texts
MORE: Final = """
INSERT INTO judgments_auditentry (id, at, action, subject, before, after)
VALUES (900, '2026-03-14', 'member.role_changed', 'Ayşe “ben”', '{"role": "lead"}', '[1]');
INSERT INTO judgments_judgmentversion
(number, list_id, created_at, source, reason, added, changed, removed, signals)
VALUES (2, 1, '2026-03-14', 'import', 'Because
of that', 0, 0, 0, '[]');
INSERT INTO judgments_release
SELECT 2, 'noted', sha256, 'For the paper.', created_at, 1, list_id, version_id, '', ''
FROM judgments_release;
INSERT INTO annotation_adjudication
(id, grade, reason, decided_at, pair_seq, decided_by_id, guideline_revision_id, pair_id)
VALUES (1, 2, 'Only a mention.', '2026-03-14', 8, 1, 1, 2), (2, 2, '', '2026-03-14', 8, 1, 1, 3);
INSERT INTO annotation_reopening (reason, reopened_at, adjudication_id, reopened_by_id)
VALUES ('Too quick.', '2026-03-14', 2, 1);
INSERT INTO annotation_onemorelabel (reason, asked_at, asked_by_id, pair_id)
VALUES ('Not clear to me.', '2026-03-14', 1, 3);
INSERT INTO annotation_label
(id, outcome, reason, note, spans, content_hash, seconds, made_at, received_at, pair_seq,
is_blind, annotator_id, guideline_revision_id, pair_id)
VALUES ('00000000000000000000000000000001', 'unsure', 'other', 'In “Dutch”.', '[]', '', NULL,
'2026-03-14 01:02:03.4', '2026-03-15', 8, 1, 2, 1, 1);
INSERT INTO annotation_golditem
(id, low, high, reason, created_at, campaign_id, created_by_id, pair_id)
VALUES (7, 3, 4, 'The title has it.', '2026-03-14', 1, 1, 1);
INSERT INTO annotation_goldcheck (id, error, checked_at, item_id, label_id)
VALUES (5, 0, '2026-03-14', 7, '6c8cab17de5240369767fc51ecfafca2');
INSERT INTO annotation_feedback (given_at, annotator_id, campaign_id, newest_id, items)
VALUES ('2026-03-15', 2, 1, 5, '[
{"label": "6c8cab17-de52-4036-9767-fc51ecfafca2", "low": 3, "high": 4,
"reason": "The title has it."},
{"label": "fd47cb97-7cc7-4729-92bb-dff64e1361ba", "low": 2, "high": 2, "reason": "Only a mention."},
{"label": "e10a87ce-7479-4284-afd5-ef47c5c90848", "low": 3, "high": 3, "reason": ""}]');
"""
TOLD: Final = [{"gold": 7}, {"adjudication": 1}, {}]  # what feedback names instead of words
