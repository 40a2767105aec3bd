"""Amounts of money in forms."""

from decimal import Decimal

from django import forms
from django.conf import settings


class Money(forms.DecimalField):
    """An amount of the installation's currency, to the hundredth."""

    def __init__(self, *, label: str, help_text: str = "") -> None:
        super().__init__(
            label=f"{label}, in {settings.CURRENCY}",
            required=False,
            min_value=Decimal("0.01"),
            max_digits=15,
            decimal_places=2,
            help_text=help_text,
        )
