"""Forms of a campaign: its design, its people, and what is said when it is approved."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from annotation.models import Campaign, Guideline
from annotation.models.campaigns import LEASE_MINUTES, LONGEST_LEASE, SHORTEST_LEASE
from judgments.models import JudgmentList, User

RULE_WORDS = {
    Campaign.Rule.MAJORITY: "Majority: the most frequent grade. Ties go to adjudication.",
    Campaign.Rule.MEDIAN: "Median: the middle grade; with two middle grades their midpoint, "
    "half a step rounded up.",
    Campaign.Rule.MEAN: "Mean: the average, rounded to the nearest grade, half a step rounded up.",
    Campaign.Rule.DAWID_SKENE: "Dawid-Skene: the most probable grade, given each annotator’s "
    "confusion matrix. Needs a few hundred labels per annotator.",
    Campaign.Rule.RELIABILITY: "Weighted vote: annotators who are right more often count more.",
}
COMMIT_WORDS = {
    Campaign.Commit.LIVE: "Immediately: a pair’s grade enters the list as soon as it has enough "
    "labels, and leaderboards follow within seconds.",
    Campaign.Commit.APPROVAL: "After approval: grades wait for your review and enter the list "
    "together.",
}
ORDER_WORDS = {
    Campaign.Order.BY_QUERY: "Query by query: all documents of a query in a row. Faster, and "
    "grades within a query are more consistent.",
    Campaign.Order.SHUFFLED: "Shuffled: a different query each time. Slower, but documents are not "
    "judged against the previous one.",
}


class ListField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """The list that grades go to, by its name."""

    def __init__(self) -> None:
        super().__init__(
            JudgmentList.objects.none(),
            label="List",
            to_field_name="slug",
            empty_label=None,
            help_text="The grades go into this list.",
        )

    def offer(self, lists: Iterable[JudgmentList]) -> None:
        """Let these be chosen from, in the order in which they were made."""
        offered_qs = JudgmentList.objects.filter(pk__in=[one.pk for one in lists])
        # of several lists none is chosen by itself: labels would go there, and at once
        self.empty_label = "Choose a list" if offered_qs.count() > 1 else None
        self.queryset = offered_qs.order_by("pk")

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.name)


class CampaignForm(forms.Form):
    """The design of a campaign; each choice says what follows from it."""

    name = forms.CharField(
        label="Name",
        max_length=200,
        help_text="Visible to annotators: do not mention rankers.",
        widget=forms.TextInput(attrs={"autofocus": True, "dir": "auto"}),
    )
    judgment_list = ListField()
    guideline = forms.ModelChoiceField(
        label="Guideline",
        queryset=Guideline.objects.none(),
        empty_label=None,
        help_text="Instructions for annotators. Must match the list’s grades.",
    )
    overlap = forms.IntegerField(
        label="Labels per pair",
        min_value=1,
        max_value=20,
        initial=2,
        help_text="How many annotators label each pair independently. With two or more, agreement "
        "can be measured.",
    )
    depth = forms.IntegerField(
        label="Depth",
        min_value=1,
        max_value=10_000,
        initial=10,
        help_text="How many of each run’s top results to judge. Use the cutoff of your main "
        "measure: 10 for nDCG@10.",
    )
    rule = forms.ChoiceField(
        label="How labels become a grade",
        choices=RULE_WORDS,
        initial=Campaign.Rule.MAJORITY,
        widget=forms.RadioSelect,
    )
    commit = forms.ChoiceField(
        label="When a grade enters the list",
        choices=COMMIT_WORDS,
        initial=Campaign.Commit.LIVE,
        widget=forms.RadioSelect,
    )
    order = forms.ChoiceField(
        label="Order of pairs",
        choices=ORDER_WORDS,
        initial=Campaign.Order.BY_QUERY,
        widget=forms.RadioSelect,
    )
    lease_minutes = forms.IntegerField(
        label="Lease, in minutes",
        min_value=SHORTEST_LEASE,
        max_value=LONGEST_LEASE,
        initial=LEASE_MINUTES,
        help_text="How long pairs stay reserved for an annotator who goes offline. An open page "
        "renews the lease; closing the page releases it.",
    )
    shows_images = forms.BooleanField(
        label="Show images",
        required=False,
        help_text="Only images embedded in a document’s HTML. Nothing is fetched from other sites.",
    )

    def __init__(
        self,
        *args: Any,
        lists: list[JudgmentList],
        guidelines: list[Guideline],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        list_field, guideline_field = self.fields["judgment_list"], self.fields["guideline"]
        assert isinstance(list_field, ListField)
        assert isinstance(guideline_field, forms.ModelChoiceField)
        own_guidelines = Guideline.objects.filter(pk__in=[one.pk for one in guidelines])
        list_field.offer(lists)
        guideline_field.queryset = own_guidelines.order_by("name", "pk")

    def keep(self, names: Sequence[str]) -> None:
        """Ask for these alone: of an open campaign not everything can be changed."""
        for name in set(self.fields) - set(names):
            del self.fields[name]


class PeopleForm(forms.Form):
    """Members to add to a campaign as annotators."""

    people = forms.ModelMultipleChoiceField(
        label="Members",
        queryset=User.objects.none(),
        to_field_name="username",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Select at least one person."},
    )

    def __init__(self, *args: Any, candidates: list[User], **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["people"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = User.objects.filter(pk__in=[one.pk for one in candidates])


class ApprovalForm(forms.Form):
    """Why the grades that wait are good."""

    reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=1000,
        help_text="Stored with the version.",
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )


class RuleForm(forms.Form):
    """Which rule to look at, for a campaign that has labels."""

    rule = forms.ChoiceField(label="Rule", choices=RULE_WORDS, widget=forms.RadioSelect)
