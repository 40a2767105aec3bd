"""The form of how long records are kept."""

from django import forms

from annotation.models.retention import LONGEST


class RetentionForm(forms.Form):
    """Days, or nothing for no limit."""

    timing_days = forms.IntegerField(
        label="Times of labels, in days",
        required=False,
        min_value=1,
        max_value=LONGEST,
        help_text="When and how fast each label was made. Empty: until the annotator is erased. "
        "Number and seconds of each day, of all annotators together, are kept.",
    )
    answer_days = forms.IntegerField(
        label="Answers of machine judges, in days",
        required=False,
        min_value=1,
        max_value=LONGEST,
        help_text="What each request was answered, and its reason. Empty: for good. Grades, "
        "tokens and cost are kept.",
    )
