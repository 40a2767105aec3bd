"""A rule of who labels which queries."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.models import AssignmentRule
from judgments.models import User


class RuleForm(forms.Form):
    """Some queries, and the people or tags that they need."""

    scope = forms.ChoiceField(label="Queries", choices=AssignmentRule.Scope.choices)
    segment = forms.ChoiceField(label="Segment", required=False)
    queries = forms.CharField(
        label="Query ids",
        required=False,
        max_length=1_000_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Separated by spaces, commas or lines.",
    )
    people = forms.MultipleChoiceField(
        label="Labelled only by", required=False, widget=forms.CheckboxSelectMultiple
    )
    tags = forms.CharField(
        label="Or by people with these languages and skills",
        required=False,
        max_length=1_000,
        help_text="Separated by commas, e.g. de, medicine. Someone needs all of them. Set them "
        "under Members.",
    )

    def __init__(
        self, *args: Any, people: Sequence[User], segments: Sequence[str], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        scope, segment, named = (self.fields[name] for name in ("scope", "segment", "people"))
        assert isinstance(scope, forms.ChoiceField)
        assert isinstance(segment, forms.ChoiceField)
        assert isinstance(named, forms.MultipleChoiceField)
        segment.choices = [(one, one) for one in segments]
        named.choices = [(one.username, str(one)) for one in people]
        if not segments:
            del self.fields["segment"]
            scopes = AssignmentRule.Scope.choices
            scope.choices = [one for one in scopes if one[0] != AssignmentRule.Scope.SEGMENT]

    def values(self) -> dict[str, Any]:
        """What `add_rule` takes."""
        data = self.cleaned_data
        return {
            "scope": data["scope"],
            "segment": data.get("segment", ""),
            "queries": re.split(r"[\s,]+", data["queries"].strip()) if data["queries"] else [],
            "people": data["people"],
            "tags": data["tags"].split(","),
        }
