"""What becomes of judgments on changed documents."""

from django import forms

from judgments.models import JudgmentList


class ChoiceForm(forms.Form):
    """A choice of the list."""

    changed_documents = forms.ChoiceField(choices=JudgmentList.ChangedDocuments.choices)
