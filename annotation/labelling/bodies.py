"""What is asked and answered around labelling."""

from typing import Any

from drf_spectacular.utils import (
    inline_serializer,
)
from rest_framework import serializers

from annotation.labelling.leasing import MOST
from annotation.labelling.own_labels import MOST_SEARCHED
from annotation.labelling.skipping import MAX_NOTE_CHARACTERS as MAX_SKIP_CHARACTERS
from annotation.labelling.submissions import MAX_NOTE_CHARACTERS, MAX_REASON_CHARACTERS
from annotation.models import Label, QuerySkip
from judgments.pictures.rules import SIZES

MOST_LABELS = 200


class ShownQuery(serializers.Serializer[Any]):
    """A query as annotators see it. id: opaque and different for every annotator; two queries with
    the same text have different ids.
    """

    id = serializers.CharField()
    text = serializers.CharField()
    description = serializers.CharField()


class PictureOutput(serializers.Serializer[Any]):
    """A picture of a document. url: of the stored copy, for a signed-in browser; empty if there is
    none, with the reason in `note`."""

    url = serializers.CharField()
    size = serializers.ChoiceField(list(SIZES))
    note = serializers.CharField()


class PairOutput(serializers.Serializer[Any]):
    """A pair as annotators see it, without its origin."""

    assignment = serializers.UUIDField()
    name = serializers.CharField()
    query = ShownQuery()
    document = inline_serializer(
        "ShownDocument",
        {
            "title": serializers.CharField(),
            "text": serializers.CharField(),
            "html": serializers.CharField(),
            "url": serializers.CharField(),
            "fields": serializers.DictField(child=serializers.CharField()),
            "pictures": PictureOutput(many=True),
        },
    )
    content_hash = serializers.CharField()
    is_training = serializers.BooleanField()


class ProgressOutput(serializers.Serializer[Any]):
    """The annotator's own counts of pairs."""

    done = serializers.IntegerField()
    left = serializers.IntegerField()


class PaceOutput(serializers.Serializer[Any]):
    """The annotator's recent labels, and the active seconds they took."""

    labels = serializers.IntegerField()
    seconds = serializers.FloatField()


class TrainingOutput(serializers.Serializer[Any]):
    """The annotator's progress in a training attempt. needed: right answers needed to pass."""

    number = serializers.IntegerField()
    done = serializers.IntegerField()
    pairs = serializers.IntegerField()
    needed = serializers.IntegerField()


class NextOutput(serializers.Serializer[Any]):
    """Pairs leased to the annotator, in labelling order. progress: only with pairs.

    done_in_query: number of pairs of the query that the annotator has done, by assignment.
    """

    is_open = serializers.BooleanField()
    paused = serializers.CharField(help_text="Why the annotator is paused; empty if they are not.")
    training = TrainingOutput(
        allow_null=True, help_text="Progress in training; null if no training is required."
    )
    guideline_revision = serializers.IntegerField()
    news = serializers.IntegerField(help_text="Unread answers and announcements by leads.")
    progress = ProgressOutput(required=False)
    pace = PaceOutput(required=False)
    pairs = PairOutput(many=True)
    rest = serializers.IntegerField(
        required=False, help_text="With `characters`: how many leased pairs were not sent."
    )
    done_in_query = serializers.DictField(child=serializers.IntegerField())


class Count(serializers.Serializer[Any]):
    """How many pairs to lease."""

    count = serializers.IntegerField(min_value=0, max_value=MOST, default=1)


class Wish(Count):
    """How many pairs to hold; `held` are those that need not be sent again.

    characters: of text, to send at most, but at least one document; `rest` says what is left.
    """

    held = serializers.ListField(child=serializers.UUIDField(), max_length=4 * MOST, default=list)
    characters = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, allow_null=True, default=None
    )


class FirstWish(Wish):
    """A request for pairs. begins: the page was just opened, so `pace` is returned too."""

    begins = serializers.BooleanField(default=False)


class LabelInput(serializers.Serializer[Any]):
    """One label. Sending the same `id` again has no further effect."""

    id = serializers.UUIDField()
    assignment = serializers.UUIDField()
    outcome = serializers.ChoiceField(Label.Outcome.choices, default=Label.Outcome.GRADED)
    grade = serializers.IntegerField(min_value=-128, max_value=127, allow_null=True, default=None)
    reason = serializers.CharField(
        max_length=MAX_REASON_CHARACTERS, allow_blank=True, default="", trim_whitespace=False
    )
    note = serializers.CharField(
        max_length=MAX_NOTE_CHARACTERS, allow_blank=True, default="", trim_whitespace=False
    )
    spans = serializers.ListField(child=serializers.DictField(), max_length=200, default=list)
    guideline_revision = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = serializers.CharField(max_length=64, allow_blank=True, default="")
    seconds = serializers.FloatField(min_value=0, allow_null=True, default=None)
    made_at = serializers.DateTimeField()
    supersedes = serializers.UUIDField(allow_null=True, default=None)


class LabelsInput(Wish):
    """Labels in the order in which they were made, and a request for the next pairs."""

    labels = serializers.ListField(child=LabelInput(), min_length=1, max_length=MOST_LABELS)


class ToldOutput(serializers.Serializer[Any]):
    """The right answer of a training pair: a grade from low to high, and the reason.

    counts: this label was the first of its pair. right, done, pairs, needed, state: of the attempt
    after this label; state: open, passed or failed.
    """

    low = serializers.IntegerField()
    high = serializers.IntegerField()
    reason = serializers.CharField()
    is_right = serializers.BooleanField()
    counts = serializers.BooleanField()
    right = serializers.IntegerField()
    done = serializers.IntegerField()
    pairs = serializers.IntegerField()
    needed = serializers.IntegerField()
    state = serializers.CharField()


class ReceiptOutput(serializers.Serializer[Any]):
    """A label's status: stored, repeated (it was stored before) or refused, with the reason.

    `surplus`: the pair already had enough labels; the label is kept, outside the overlap.
    `training`: only with labels of training pairs.
    """

    id = serializers.UUIDField()
    status = serializers.ChoiceField(["stored", "repeated", "refused"])
    surplus = serializers.BooleanField(required=False)
    training = ToldOutput(required=False)
    code = serializers.CharField(required=False)
    message = serializers.CharField(required=False)


class LabelsOutput(NextOutput):
    """A receipt for every label, in the same order, and the next pairs."""

    labels = ReceiptOutput(many=True)


class OwnLabelOutput(serializers.Serializer[Any]):
    """One of your current labels."""

    id = serializers.UUIDField()
    outcome = serializers.CharField()
    grade = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    note = serializers.CharField()
    spans = serializers.ListField(child=serializers.DictField())
    guideline_revision = serializers.IntegerField()
    made_at = serializers.DateTimeField()
    pair = PairOutput()


class SkipInput(Wish):
    """A pair whose query to skip, and the number of pairs to lease instead."""

    assignment = serializers.UUIDField()
    reason = serializers.ChoiceField(QuerySkip.Reason.choices)
    note = serializers.CharField(max_length=MAX_SKIP_CHARACTERS, allow_blank=True, default="")


class SkippedOutput(NextOutput):
    """The skip, the released pairs, and the next ones."""

    id = serializers.UUIDField()
    released = serializers.ListField(child=serializers.UUIDField())


class OwnSkipOutput(serializers.Serializer[Any]):
    """A query that you have skipped."""

    id = serializers.UUIDField()
    query = serializers.CharField(help_text="The query’s text.")
    shown_query = ShownQuery()
    reason = serializers.CharField()
    note = serializers.CharField()
    skipped_at = serializers.DateTimeField()


class Page(serializers.Serializer[Any]):
    """Which of the own labels to show. before: an id, for those that are older.

    query_of: an own assignment, for those of its query alone. search: words of the query, the
    title or the note. only: the label with this id.
    """

    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    before = serializers.UUIDField(allow_null=True, default=None)
    grade = serializers.IntegerField(min_value=-128, max_value=127, allow_null=True, default=None)
    cannot_tell = serializers.BooleanField(default=False)
    noted = serializers.BooleanField(default=False)
    query_of = serializers.UUIDField(allow_null=True, default=None)
    search = serializers.CharField(max_length=MOST_SEARCHED, allow_blank=True, default="")
    only = serializers.UUIDField(allow_null=True, default=None)
