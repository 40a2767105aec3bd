"""Forms around gold: the right answer of a pair, and how much is planted."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.campaigns.forms import ListField
from annotation.gold.action_rules import Rule, check_consistent
from annotation.gold.adding import MOST_DRAWN
from annotation.gold.files import MOST_ANSWERS
from annotation.models import CheckPlan, CheckRule
from judgments.jobs.queries import Problem, gathered
from judgments.models import JudgmentList
from touchstone.files.errors import FileRefused
from touchstone.scales import Scale

# what a rule's threshold begins with: the harder the action, the surer the case
USUAL = {"tell": 75, "warn": 75, "pause": 65, "requeue": 50}
WHY = "Why this is the right grade. Shown to annotators if feedback is on."


def _reason(help_text: str = WHY) -> forms.CharField:
    return forms.CharField(
        label="Reason",
        required=False,
        max_length=4000,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto", "class": "low"}),
    )


class GoldForm(forms.Form):
    """The accepted grades of a pair, from the worst to the best."""

    low = forms.TypedChoiceField(label="From", coerce=int)
    high = forms.TypedChoiceField(label="To", coerce=int, required=False, empty_value=None)
    gold_reason = _reason()

    def __init__(self, *args: Any, scale: Scale, **options: Any) -> None:
        super().__init__(*args, **options)
        choices = [(grade.code, f"{grade.code} {grade.name}") for grade in scale.grades]
        # none is chosen by itself: the worst grade would be called right by a slip
        for name, nothing in {"low": "Choose", "high": "Same grade"}.items():
            field = self.fields[name]
            assert isinstance(field, forms.TypedChoiceField)
            field.choices = [("", nothing), *choices]

    def clean(self) -> dict[str, Any]:
        """Where only one grade is named, it is the right one."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("high") is None:
            data["high"] = data.get("low")
        return data


class GoldFileForm(forms.Form):
    """A file of gold. problems: what is wrong, line by line; more: how many more there are."""

    file = forms.FileField(
        label="File",
        max_length=255,
        help_text=f"CSV or JSONL, as below. At most {MOST_ANSWERS:,} pairs; may be gzipped.",
    )
    adds_pairs = forms.BooleanField(
        label="Add pairs that are not in the campaign",
        required=False,
        help_text="Only for its queries: gold is shown in place of another pair of the same query.",
    )
    problems: tuple[Problem, ...] = ()
    more = 0

    def refuse(self, refused: FileRefused) -> None:
        """Say which lines are wrong."""
        self.problems = tuple(gathered((one.line, one.message) for one in refused.problems))
        self.more = refused.total - len(refused.problems)
        self.add_error("file", "No gold was added. Fix these lines and upload again.")


class GoldListForm(forms.Form):
    """Another list whose grades are right, and how many of them to use."""

    judgment_list = ListField()
    count = forms.IntegerField(
        label="Maximum pairs",
        min_value=1,
        max_value=MOST_DRAWN,
        initial=100,
        help_text="Drawn at random from this campaign’s pairs that have a grade in the list.",
    )

    def __init__(self, *args: Any, lists: Sequence[JudgmentList], **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["judgment_list"]
        assert isinstance(field, ListField)
        field.offer(lists)
        field.help_text = "The grades of its newest version become the right grades."


class ReasonForm(forms.Form):
    """Why something is done."""

    reason = _reason()


class RulesForm(forms.Form):
    """For each action on low accuracy: whether, below which share, after how many checks."""

    def __init__(self, *args: Any, rules: Sequence[Rule] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        known = {rule.action: rule for rule in rules}
        for action, words in CheckRule.Action.choices:
            rule = known.get(action, Rule(action, USUAL[action], 8))
            self.fields[f"{action}_on"] = forms.BooleanField(
                label=words, required=False, initial=action in known
            )
            self.fields[f"{action}_below"] = forms.IntegerField(
                label="Accuracy below, %",
                min_value=1,
                max_value=100,
                initial=rule.below_percent,
            )
            self.fields[f"{action}_after"] = forms.IntegerField(
                label="After checks", min_value=3, max_value=20, initial=rule.at_least
            )

    def groups(self) -> list[tuple[forms.BoundField, ...]]:
        """The three fields of each action."""
        names = CheckRule.Action.values
        return [
            tuple(self[f"{name}_{part}"] for part in ("on", "below", "after")) for name in names
        ]

    def clean(self) -> dict[str, Any]:
        """Labels are set aside only if the annotator is also paused."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                check_consistent(self.rules())
            except ValueError as error:
                raise forms.ValidationError(str(error)) from None
        return data

    def rules(self) -> list[Rule]:
        """The rules of a valid form."""
        said = self.cleaned_data
        return [
            Rule(action, said[f"{action}_below"], said[f"{action}_after"])
            for action in CheckRule.Action.values
            if said[f"{action}_on"]
        ]


class CheckPlanForm(forms.Form):
    """How much is planted, and what follows when there is no more of it."""

    gold_percent = forms.IntegerField(
        label="Gold, %",
        min_value=0,
        max_value=30,
        help_text="Share of an annotator’s pairs that are gold. Each replaces another pair of the "
        "same query. Start with 5; 0 turns gold off.",
    )
    repeat_percent = forms.IntegerField(
        label="Hidden repeats, %",
        min_value=0,
        max_value=30,
        help_text="Pairs shown to the same annotator again later, to measure self-agreement.",
    )
    when_used_up = forms.ChoiceField(
        label="When an annotator runs out of gold",
        choices=CheckPlan.UsedUp.choices,
        widget=forms.RadioSelect,
    )
    feedback_after = forms.TypedChoiceField(
        label="Feedback to annotators",
        coerce=int,
        choices=((0, "never"), *((n, f"after every {n} checks") for n in (5, 10, 20, 50))),
        help_text="Shows your reasons, mixed with as many ordinary pairs that have a grade. "
        "Each annotator sees a gold pair only once, but annotators may talk to each other.",
    )
