"""Forms of deadlines, targets and budgets."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from django import forms

from annotation.models import Campaign
from annotation.pages.money import Money
from judgments.budgets.rules import HUNDREDTHS
from judgments.budgets.services import Limits
from judgments.models import Budget

KEYS: Final = {
    "labels_total": (Budget.Unit.LABELS, Budget.Period.TOTAL),
    "labels_month": (Budget.Unit.LABELS, Budget.Period.MONTH),
    "money_total": (Budget.Unit.MONEY, Budget.Period.TOTAL),
    "money_month": (Budget.Unit.MONEY, Budget.Period.MONTH),
}


def _labels(label: str) -> forms.IntegerField:
    return forms.IntegerField(label=label, required=False, min_value=1, max_value=10**12)


class BudgetForm(forms.Form):
    """The budgets of a collection: of all its campaigns together."""

    def __init__(self, *args: Any, budgets: Iterable[Budget], **options: Any) -> None:
        known = {(one.unit, one.period): one for one in budgets}
        first = next(iter(known.values()), None)
        initial: dict[str, Any] = {
            "warn_percent": first.warn_percent if first else 80,
            "stops": first.stops if first else True,
        }
        for name, key in KEYS.items():
            if key in known:
                limit = known[key].limit
                is_money = key[0] == Budget.Unit.MONEY
                initial[name] = Decimal(limit).scaleb(-2) if is_money else limit
        options["initial"] = initial | options.get("initial", {})
        super().__init__(*args, **options)
        self.fields["labels_total"] = _labels("Total limit, in labels")
        self.fields["labels_month"] = _labels("Monthly limit, in labels")
        self.fields["money_total"] = Money(label="Total limit")
        self.fields["money_month"] = Money(
            label="Monthly limit", help_text="Months are in UTC. Leave a limit empty for none."
        )
        self.fields["warn_percent"] = forms.IntegerField(
            label="Warn at, in percent",
            min_value=1,
            max_value=100,
            help_text="Leads are notified when this share is used, and again at 100 %.",
        )
        self.fields["stops"] = forms.BooleanField(
            label="Stop when a limit is reached",
            required=False,
            help_text="Annotators then get no more pairs. Pairs that they already have can still "
            "be labelled; these are counted as used.",
        )

    def limits(self) -> Limits:
        """What was entered, in labels and hundredths of the currency."""
        entered = {key: self.cleaned_data[name] for name, key in KEYS.items()}
        return {
            key: None
            if value is None
            else int(value * HUNDREDTHS)
            if key[0] == Budget.Unit.MONEY
            else value
            for key, value in entered.items()
        }


class ScheduleForm(BudgetForm):
    """A campaign's deadline, target and budgets."""

    def __init__(self, *args: Any, campaign: Campaign, **options: Any) -> None:
        price = campaign.label_price
        initial = {
            "due_on": campaign.due_on,
            "daily_target": campaign.daily_target,
            "label_price": None if price is None else Decimal(price).scaleb(-2),
        }
        super().__init__(*args, initial=initial, **options)
        self.fields["due_on"] = forms.DateField(
            label="Due on",
            required=False,
            widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            help_text="Annotators and leads get a message two days before, and leads when it is "
            "over (UTC).",
        )
        self.fields["daily_target"] = forms.IntegerField(
            label="Daily target per person, in labels",
            required=False,
            min_value=1,
            max_value=100_000,
            help_text="Shown to annotators on their page of the campaign, and to leads beside what "
            "was labelled today.",
        )
        self.fields["label_price"] = Money(
            label="Price of a label", help_text="Needed for limits in money."
        )
        self.order_fields(("due_on", "daily_target", "label_price"))

    def clean(self) -> dict[str, Any]:
        """Money is counted by the price of a label."""
        cleaned = super().clean() or {}
        if not cleaned.get("label_price"):
            for name in ("money_total", "money_month"):
                if cleaned.get(name):
                    self.add_error(name, "Enter the price of a label as well.")
        return cleaned

    def price(self) -> int | None:
        """The price of a label in hundredths of the currency."""
        value = self.cleaned_data["label_price"]
        return None if value is None else int(value * HUNDREDTHS)
