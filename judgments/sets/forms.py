"""The form of a saved set."""

import io
from collections.abc import Sequence
from typing import Any, Final

from django import forms

from judgments.collections.naming_forms import DescriptionField, NameField, ShortNameField
from judgments.content.queries import list_segment_names
from judgments.jobs.queries import Problem, gathered
from judgments.permissions import Access
from judgments.sets.queries import get_segment_ids
from touchstone.files.errors import FileProblem, FileRefused
from touchstone.files.query_ids import QueryIds, read_query_ids

TYPED: Final = "what was typed"


class SetForm(forms.Form):
    """A saved set; its queries are typed, in a file, or those of a segment.

    known: the ids that a set has already, to be changed. problems: what is wrong, line by line;
    more: how many more there are.
    """

    name = NameField()
    slug = ShortNameField(example="canaries", used_in="addresses")
    description = DescriptionField(help_text="What these queries have in common.")
    typed = forms.CharField(
        label="Ids of the queries",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
        help_text="One per line.",
    )
    file = forms.FileField(
        label="Or a file with one id per line",
        max_length=255,
        required=False,
        help_text="At most 100,000 ids; may be gzipped.",
    )
    segment = forms.ChoiceField(
        label="Or all queries of a segment",
        required=False,
        help_text="As of now: the set does not follow later changes of segments.",
    )
    is_held_out = forms.BooleanField(
        label="Held out: log every look at its results",
        required=False,
        help_text="For the final evaluation of runs tuned on other queries.",
    )

    def __init__(
        self, *args: Any, access: Access, known: Sequence[str] = (), is_new: bool, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.access, self.is_new = access, is_new
        self.problems: tuple[FileProblem, ...] = ()
        self.more = 0
        names = list_segment_names(access=access)
        self._field("segment").choices = [("", "none"), *((name, name) for name in names)]
        if not names:
            del self.fields["segment"]
        if not access.is_lead:
            del self.fields["is_held_out"]
        if not is_new:
            del self.fields["slug"]
            self.initial["typed"] = "\n".join(known)
            self.fields["typed"].help_text = "One per line. Leave empty to keep the queries."

    def clean(self) -> dict[str, Any]:
        """Turn the one way in which queries are given into `ids`."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        data.setdefault("is_held_out", False)
        typed, file, segment = (data.pop(name, "") for name in ("typed", "file", "segment"))
        typed = typed if typed.strip() and "typed" in self.changed_data else ""
        if sum(map(bool, (typed, file, segment))) > 1:
            raise forms.ValidationError("Choose one source only: typed ids, a file, or a segment.")
        try:
            data["ids"] = self._ids(typed, file, segment)
        except FileRefused as refused:
            self.refuse(refused)
        else:
            if data["ids"] is None and self.is_new:
                self.add_error("typed", "Enter query ids, or choose a file or a segment.")
        return data

    def refuse(self, refused: FileRefused) -> None:
        """Say which lines are wrong, beside where they come from."""
        self.problems, self.more = refused.problems, refused.total - len(refused.problems)
        place = "file" if self.files.get("file") else "typed"
        self.add_error(place, "Nothing was saved. Fix these lines and try again.")

    @property
    def shown_problems(self) -> list[Problem]:
        """The problems as components/problems.html shows them."""
        return gathered((one.line, one.message) for one in self.problems)

    def _ids(self, typed: str, file: Any, segment: str) -> QueryIds | None:
        if file:
            return read_query_ids(file, name=file.name)
        if segment:
            return get_segment_ids(access=self.access, segment=segment)
        return read_query_ids(io.BytesIO(typed.encode()), name=TYPED) if typed else None

    def _field(self, name: str) -> Any:
        return self.fields[name]
