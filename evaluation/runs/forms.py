"""Forms about rankers and runs."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from django import forms

from evaluation.permissions import RunRefused
from evaluation.runs.details import Scalar, parse_commit, parse_parameters
from evaluation.runs.services import LONGEST_NAME, check_run_name, run_name_of
from evaluation.runs.tags import parse_tags
from judgments.collections.naming_forms import DescriptionField, NameField, ShortNameField
from touchstone.errors import DomainError

Parsed = TypeVar("Parsed")
ACCEPTED = ".run,.txt,.trec,.res,.gz"


class TagsField(forms.CharField):
    """Tags, as a list of words."""

    def clean(self, value: object) -> list[str]:
        """The words."""
        return _read(parse_tags, super().clean(value))


def _ranker_tags() -> TagsField:
    return TagsField(
        label="Tags",
        max_length=500,
        required=False,
        help_text="For example “dense” or “baseline”, separated by commas or spaces. A "
        "leaderboard shows those with one tag, or groups by the first.",
    )


class TagsForm(forms.Form):
    """Other tags for a ranker."""

    tags = _ranker_tags()


class RankerForm(forms.Form):
    """A ranker to be registered."""

    name = NameField()
    slug = ShortNameField(example="bm25-title")
    description = DescriptionField(
        help_text="Model, parameters, index: what readers of the results need to know."
    )
    tags = _ranker_tags()


class ParametersField(forms.CharField):
    """Parameters of a run: a JSON object of scalars."""

    def clean(self, value: object) -> dict[str, Scalar]:
        """The parameters."""
        return _read(parse_parameters, super().clean(value))


class CommitField(forms.CharField):
    """The commit of the code that made a run."""

    def clean(self, value: object) -> str:
        """The commit."""
        return _read(parse_commit, super().clean(value))


def _read(parse: Callable[[str], Parsed], text: str | None) -> Parsed:
    try:
        return parse(text or "")
    except DomainError as error:
        raise forms.ValidationError(error.message) from error


class RunForm(forms.Form):
    """A run file of one of the rankers."""

    ranker = forms.ChoiceField(label="Ranker")
    file = forms.FileField(
        label="Run file",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
        help_text="TREC format: query, Q0, document, rank, score, tag; or without scores: query, "
        "document, rank. At most 200 MB; may be gzipped. Drop a file here or choose one.",
    )
    name = forms.CharField(
        label="Run name",
        max_length=LONGEST_NAME,
        required=False,
        help_text="Defaults to the file’s name.",
    )
    create = forms.BooleanField(
        label="Create unknown queries and documents as stubs",
        required=False,
        help_text="A stub is an id without text. Select this only if your texts are stored "
        "elsewhere. Otherwise unknown ids are errors, which also reveals a run for another "
        "collection.",
    )
    by_rank = forms.BooleanField(
        label="Trust the rank column",
        required=False,
        help_text="Orders documents by rank instead of score, for files whose rounded scores tie. "
        "Files with three columns (query, document, rank) are always ordered by rank.",
    )
    tags = TagsField(
        label="Run tags",
        max_length=500,
        required=False,
        help_text="For example “v2.1” or “nightly”, separated by commas or spaces.",
    )
    commit = CommitField(
        label="Commit",
        required=False,
        help_text="The commit of the code that produced the run.",
    )
    parameters = ParametersField(
        label="Parameters",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text='A JSON object, for example {"k1": 0.9, "b": 0.4}.',
    )

    def __init__(self, *args: object, rankers: Sequence[tuple[str, str]], **kwargs: object) -> None:
        """rankers: slug and name of each that may be chosen."""
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        field = self.fields["ranker"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(rankers)

    def clean(self) -> dict[str, object]:
        """Name the run after its file where no name was typed."""
        data: dict[str, object] = super().clean() or self.cleaned_data
        file = data.get("file")
        if file is None or "name" not in data:
            return data
        data["name"] = data["name"] or run_name_of(str(getattr(file, "name", "")))
        try:
            check_run_name(str(data["name"]))
        except RunRefused as error:
            self.add_error("name", error.message)
        return data
