"""Forms around training: what is asked of those who are new."""

from django import forms


class TrainingForm(forms.Form):
    """How many pairs, how many of them right, how often."""

    training_pairs = forms.IntegerField(
        label="Pairs",
        min_value=0,
        max_value=50,
        help_text="Drawn from the gold. 3 to 50, or 0 for no training.",
    )
    training_percent = forms.IntegerField(label="Pass mark, %", min_value=1, max_value=100)
    training_tries = forms.IntegerField(
        label="Attempts",
        min_value=1,
        max_value=10,
        help_text="Each attempt uses new pairs. After the last one, you decide.",
    )

    def clean_training_pairs(self) -> int:
        pairs: int = self.cleaned_data["training_pairs"]
        if 0 < pairs < 3:
            raise forms.ValidationError("Enter 3 to 50, or 0 for no training.")
        return pairs
