"""The form of how a machine judge is asked."""

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.conf import settings

from annotation.machine_judges.campaign_queries import Gradable
from annotation.machine_judges.configuration import (
    FORMATS,
    LONGEST_DOCUMENT,
    LONGEST_MODEL,
    LONGEST_PARAMETERS,
    LONGEST_TIMEOUT,
    LONGEST_URL,
    MOST_AT_ONCE,
    MOST_ATTEMPTS,
    MOST_PRICE,
    Configuration,
    usual_parameters,
)
from annotation.machine_judges.list_takes import MachineOption
from annotation.machine_judges.prompts import DEFAULT_TEMPLATE, LONGEST_TEMPLATE
from annotation.machine_judges.services import MAX_NAME_CHARACTERS
from annotation.models import Campaign, GuidelineRevision
from annotation.pages.money import Money
from judgments.budgets.rules import HUNDREDTHS
from judgments.budgets.services import Limits
from judgments.models import Budget, JudgmentList, SamplePlan, SavedSet
from judgments.models.lists import Takes
from touchstone.files.json_lines import Json, JsonRefusedError, json_object

CODE: Final = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}
PRICE_STEP: Final = 10_000  # a price is stored in ten-thousandths


def _price(label: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=f"{label}, in {settings.CURRENCY}",
        min_value=0,
        max_value=MOST_PRICE // PRICE_STEP,
        decimal_places=4,
        initial=0,
        help_text="Per million tokens. 0: not known, so no budget in money stops it.",
    )


class JudgeForm(forms.Form):
    """A revision of a machine judge. guidelines: the newest revision of each."""

    name = forms.CharField(label="Name", max_length=MAX_NAME_CHARACTERS)
    url = forms.CharField(
        label="URL",
        max_length=LONGEST_URL,
        widget=forms.TextInput(
            attrs={**CODE, "placeholder": "https://api.example/v1/chat/completions"}
        ),
        help_text="Of chat completions, as OpenAI, vLLM, llama.cpp and Ollama offer them.",
    )
    model = forms.CharField(
        label="Model", max_length=LONGEST_MODEL, widget=forms.TextInput(attrs=CODE)
    )
    secret_header = forms.CharField(
        label="Secret header",
        required=False,
        max_length=100,
        initial="Authorization",
        widget=forms.TextInput(attrs=CODE),
        help_text="The header that carries an API key. Empty: none is sent.",
    )
    secret = forms.CharField(
        label="Secret",
        required=False,
        max_length=4_000,
        widget=forms.PasswordInput(attrs={**CODE, "autocomplete": "new-password"}),
        help_text="The header’s whole value, such as “Bearer sk-…”. Stored encrypted for this "
        "server, and never shown again. Leave empty to keep the stored one.",
    )
    guideline = forms.ChoiceField(label="Guideline")
    template = forms.CharField(
        label="Prompt",
        max_length=LONGEST_TEMPLATE,
        initial=DEFAULT_TEMPLATE,
        widget=forms.Textarea(attrs={**CODE, "rows": 10}),
        help_text="{{guideline}} becomes the guideline’s text, {{grades}} its definitions and "
        "examples. How to answer, and that documents are data, is added.",
    )
    gives_reason = forms.BooleanField(
        label="Ask for a reason",
        required=False,
        initial=True,
        help_text="One sentence before the grade. Better grades, more tokens.",
    )
    answer_format = forms.ChoiceField(label="Answer format", choices=FORMATS)
    parameters = forms.CharField(
        label="Parameters",
        required=False,
        max_length=LONGEST_PARAMETERS,
        initial=json.dumps(usual_parameters()),
        widget=forms.Textarea(attrs={**CODE, "rows": 2}),
        help_text="JSON, sent as it is: temperature, max_tokens, seed, …",
    )
    document_characters = forms.IntegerField(
        label="Characters per document", min_value=100, max_value=LONGEST_DOCUMENT, initial=8_000
    )
    at_once = forms.IntegerField(
        label="Requests at once", min_value=1, max_value=MOST_AT_ONCE, initial=8
    )
    rate = forms.FloatField(
        label="Requests per second",
        min_value=0,
        max_value=1_000,
        initial=0,
        help_text="0: no limit.",
    )
    timeout = forms.FloatField(
        label="Timeout in seconds", min_value=0.1, max_value=LONGEST_TIMEOUT, initial=60
    )
    attempts = forms.IntegerField(
        label="Attempts",
        min_value=1,
        max_value=MOST_ATTEMPTS,
        initial=3,
        help_text="For busy servers (408, 429, 5xx) and failed connections.",
    )
    batches = forms.BooleanField(
        label="Send in batches",
        required=False,
        help_text="For endpoints with OpenAI’s /files and /batches: often at half the price, "
        "answered within 24 hours. Enter the price of batches below.",
    )
    prompt_price = _price("Price of input")
    completion_price = _price("Price of output")

    def __init__(
        self, *args: Any, guidelines: Sequence[GuidelineRevision], has_name: bool, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self._guidelines = {str(one.pk): one for one in guidelines}
        guideline: Any = self.fields["guideline"]
        guideline.choices = [
            (pk, f"{one.guideline.name}, revision {one.number}")
            for pk, one in self._guidelines.items()
        ]
        if not has_name:
            del self.fields["name"]

    def clean_parameters(self) -> dict[str, Json]:
        """The parsed JSON object; empty where there is none."""
        text = self.cleaned_data["parameters"].strip()
        try:
            return json_object(text) if text else {}
        except JsonRefusedError as error:
            raise forms.ValidationError(f"Not accepted: {error.message}") from error

    def to_configuration(self) -> Configuration:
        """What was entered; not checked yet. The form is valid."""
        data: dict[str, Any] = dict(self.cleaned_data)
        for name in ("secret", "guideline", "name"):
            data.pop(name, None)
        for name in ("prompt_price", "completion_price"):
            data[name] = int(data[name] * PRICE_STEP)
        return Configuration(**data)

    def to_guideline(self) -> GuidelineRevision:
        """The chosen guideline's revision. The form is valid."""
        return self._guidelines[self.cleaned_data["guideline"]]


def initial_of(configuration: Configuration, revision: GuidelineRevision) -> dict[str, Any]:
    """What the form shows of a configuration."""
    own = configuration.to_json()
    return own | {
        "guideline": str(revision.pk),
        "parameters": json.dumps(own["parameters"], ensure_ascii=False),
        "rate": f"{configuration.rate:g}",
        "timeout": f"{configuration.timeout:g}",
        "prompt_price": Decimal(configuration.prompt_price) / PRICE_STEP,
        "completion_price": Decimal(configuration.completion_price) / PRICE_STEP,
    }


SET: Final = "set:"
SAMPLE: Final = "sample:"


class ScopeForm(forms.Form):
    """What a judge is to label: a campaign's pairs, of all queries or of a set's or a sample's."""

    campaign = forms.ChoiceField(label="Pairs of")
    queries = forms.ChoiceField(label="Queries", required=False)

    def __init__(
        self,
        *args: Any,
        campaigns: Iterable[Campaign],
        sets: Iterable[SavedSet],
        plans: Iterable[SamplePlan],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._campaigns = {str(one.public_id): one for one in campaigns}
        self._sets = {f"{SET}{one.pk}": one for one in sets}
        self._plans = {f"{SAMPLE}{one.pk}": one for one in plans}
        campaign: Any = self.fields["campaign"]
        campaign.choices = [(key, one.name) for key, one in self._campaigns.items()]
        queries: Any = self.fields["queries"]
        queries.choices = [
            ("", "all"),
            *((key, f"set {one.name}") for key, one in self._sets.items()),
            *((key, f"sample {one.name}") for key, one in self._plans.items()),
        ]

    def chosen(self) -> tuple[Campaign, SavedSet | None, SamplePlan | None]:
        """What was chosen. The form is valid."""
        queries = self.cleaned_data["queries"]
        campaign = self._campaigns[self.cleaned_data["campaign"]]
        return campaign, self._sets.get(queries), self._plans.get(queries)


BUDGETS: Final = {
    "tokens_total": (Budget.Unit.TOKENS, Budget.Period.TOTAL),
    "tokens_month": (Budget.Unit.TOKENS, Budget.Period.MONTH),
    "money_total": (Budget.Unit.MONEY, Budget.Period.TOTAL),
    "money_month": (Budget.Unit.MONEY, Budget.Period.MONTH),
}


def _tokens(label: str) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=10**12)


class JudgeBudgetForm(forms.Form):
    """The budgets of a machine judge. has_prices: its newest revision says what tokens cost."""

    tokens_total = _tokens("Total limit, in tokens")
    tokens_month = _tokens("Monthly limit, in tokens")
    warn_percent = forms.IntegerField(
        label="Warn at, in percent",
        min_value=1,
        max_value=100,
        help_text="Leads are notified when this share is used, and again at 100 %.",
    )
    stops = forms.BooleanField(
        label="Stop when a limit is reached",
        required=False,
        help_text="Requests already in flight are still charged.",
    )

    def __init__(
        self, *args: Any, budgets: Iterable[Budget], has_prices: bool, **options: Any
    ) -> None:
        known = {(one.unit, one.period): one for one in budgets}
        first = next(iter(known.values()), None)
        initial: dict[str, Any] = {
            "warn_percent": first.warn_percent if first else 80,
            "stops": first.stops if first else True,
        }
        for name, key in BUDGETS.items():
            if key in known:
                limit = known[key].limit
                is_money = key[0] == Budget.Unit.MONEY
                initial[name] = Decimal(limit).scaleb(-2) if is_money else limit
        options["initial"] = initial
        super().__init__(*args, **options)
        self._has_prices = has_prices
        self.fields["money_total"] = Money(label="Total limit")
        self.fields["money_month"] = Money(
            label="Monthly limit", help_text="Months are in UTC. Leave a limit empty for none."
        )
        self.order_fields((*BUDGETS, "warn_percent", "stops"))

    def clean(self) -> dict[str, Any]:
        """Money is counted by the prices of tokens."""
        cleaned = super().clean() or {}
        for name in ("money_total", "money_month"):
            if cleaned.get(name) and not self._has_prices:
                self.add_error(name, "Enter the prices of tokens in a revision first.")
        return cleaned

    def limits(self) -> Limits:
        """What was entered, in tokens and hundredths of the currency."""
        entered = {key: self.cleaned_data[name] for name, key in BUDGETS.items()}
        return {
            key: int(value * HUNDREDTHS) if value and key[0] == Budget.Unit.MONEY else value
            for key, value in entered.items()
        }


class GradeForm(forms.Form):
    """Which labels of a judge become grades of which list."""

    revision = forms.TypedChoiceField(label="Revision", coerce=int)
    source = forms.ChoiceField(label="Pairs of campaigns on")
    target = forms.ChoiceField(
        label="Into the list",
        help_text="The same list: where people have no grade. Another, empty one: a leaderboard by "
        "the machine only.",
    )

    def __init__(self, *args: Any, offer: Gradable, **options: Any) -> None:
        super().__init__(*args, **options)
        self._sources = {one.slug: one for one in offer.sources}
        self._targets = {one.slug: one for one in offer.targets}
        fields: Any = self.fields
        fields["revision"].choices = [(number, number) for number in offer.revisions]
        fields["source"].choices = [(slug, one.name) for slug, one in self._sources.items()]
        fields["target"].choices = [(slug, one.name) for slug, one in self._targets.items()]

    def chosen(self) -> tuple[int, JudgmentList, JudgmentList]:
        """What was chosen: the revision, the source and the target. The form is valid."""
        data = self.cleaned_data
        return data["revision"], self._sources[data["source"]], self._targets[data["target"]]


class TakesForm(forms.Form):
    """Where a list's grades come from. options: the machine judges to choose from."""

    takes = forms.ChoiceField(
        label="Use grades from", choices=Takes.choices, widget=forms.RadioSelect
    )
    machine = forms.ChoiceField(label="Machine judge", required=False)

    def __init__(self, *args: Any, options: Iterable[MachineOption], **more: Any) -> None:
        super().__init__(*args, **more)
        self._options = {one.value: one for one in options}
        fields: Any = self.fields
        named = [(value, one.label) for value, one in self._options.items()]
        fields["machine"].choices = named or [("", "none has labels with these grades")]

    def clean(self) -> dict[str, Any]:
        """A machine judge is chosen where one is taken."""
        cleaned = super().clean() or {}
        is_machine = cleaned.get("takes", Takes.PEOPLE) != Takes.PEOPLE
        if is_machine and cleaned.get("machine") not in self._options:
            self.add_error("machine", "Choose a machine judge with labels.")
        return cleaned

    def chosen(self) -> MachineOption | None:
        """The machine judge; None for people only. The form is valid."""
        if self.cleaned_data["takes"] == Takes.PEOPLE:
            return None
        return self._options[self.cleaned_data["machine"]]
