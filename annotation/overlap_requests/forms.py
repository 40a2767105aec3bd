"""For how many pairs a second label is requested."""

from django import forms

from annotation.overlap_requests.queries import MOST_AT_ONCE


class OverlapForm(forms.Form):
    """For how many pairs one more label is asked. batch: pressing twice asks once."""

    pairs = forms.IntegerField(label="Pairs", min_value=1, max_value=MOST_AT_ONCE)
    batch = forms.UUIDField(widget=forms.HiddenInput)
