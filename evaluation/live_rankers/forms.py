"""The form of how a live ranker is asked, and of its schedule."""

import json
from typing import Any, Final

from django import forms

from evaluation.live_rankers.configuration import (
    COMMAND,
    DEEPEST,
    LONGEST_BODY,
    LONGEST_TIMEOUT,
    LONGEST_URL,
    METHODS,
    MOST_AT_ONCE,
    MOST_ATTEMPTS,
    Configuration,
)
from evaluation.live_rankers.mapping import LONGEST, Mapping
from evaluation.live_rankers.presets import PRESETS, Preset
from evaluation.live_rankers.schedules import LONGEST as LONGEST_CRON
from touchstone.files.json_lines import Json

MAPPED: Final = ("rows", "id", "score", "title", "text", "document_url", "partial")
METHOD_LABELS: Final = {COMMAND: "Redis command"}
CODE: Final = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}


def _expression(label: str, *, required: bool = False, help_text: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        required=required,
        max_length=LONGEST,
        help_text=help_text,
        widget=forms.TextInput(attrs=CODE),
    )


class ConfigurationForm(forms.Form):
    """How an engine is asked."""

    method = forms.ChoiceField(
        label="Method",
        choices=[(name, METHOD_LABELS.get(name, name)) for name in METHODS],
    )
    url = forms.CharField(
        label="URL",
        max_length=LONGEST_URL,
        widget=forms.TextInput(attrs=CODE),
        help_text="Variables: {{text}}, {{any_word}}, {{id}} and {{segment}} of the query, and "
        "{{depth}}; in the body also {{vector}}. None in the URL of a Redis server.",
    )
    body = forms.CharField(
        label="Body",
        required=False,
        max_length=LONGEST_BODY,
        widget=forms.Textarea(attrs={**CODE, "rows": 10}),
        help_text="JSON, for POST; for Redis, an array of the words of a command. A string that is "
        "only a variable, such as &quot;{{depth}}&quot;, becomes its value.",
    )
    headers = forms.CharField(
        label="Headers",
        required=False,
        max_length=5_000,
        widget=forms.Textarea(attrs={**CODE, "rows": 2}),
        help_text="One per line, as Name: value. Everyone who sees rankings can see them.",
    )
    secret_header = forms.CharField(
        label="Secret header",
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs=CODE),
        help_text="The header that carries an API key or password, such as Authorization; for "
        "Redis, the user, such as default.",
    )
    secret = forms.CharField(
        label="Secret",
        required=False,
        max_length=4_000,
        widget=forms.PasswordInput(attrs={**CODE, "autocomplete": "new-password"}),
        help_text="The header’s whole value, or the Redis user’s password. Stored encrypted for "
        "this server, and never shown again. Leave empty to keep the stored one.",
    )
    rows = _expression("Results", required=True, help_text="The array of results.")
    id = _expression("Document id", required=True, help_text="In each result.")
    score = _expression("Score", help_text="Empty: the order of the results counts.")
    title = _expression("Title")
    text = _expression("Text")
    document_url = _expression("URL of the document")
    partial = _expression("Incomplete if", help_text="True where a part of the engine failed.")
    takes_documents = forms.BooleanField(
        label="Fill documents",
        required=False,
        help_text="Fills stubs with the titles and texts of results.",
    )
    depth = forms.IntegerField(label="Results per query", min_value=1, max_value=DEEPEST)
    at_once = forms.IntegerField(label="Requests at once", min_value=1, max_value=MOST_AT_ONCE)
    rate = forms.FloatField(
        label="Requests per second", min_value=0, max_value=1_000, help_text="0: no limit."
    )
    timeout = forms.FloatField(label="Timeout in seconds", min_value=0.1, max_value=LONGEST_TIMEOUT)
    attempts = forms.IntegerField(
        label="Attempts",
        min_value=1,
        max_value=MOST_ATTEMPTS,
        help_text="For busy servers (429, 502, 503, 504) and failed connections.",
    )
    min_answered = forms.FloatField(
        label="Queries that must be answered (%)",
        min_value=1,
        max_value=100,
        help_text="With fewer, a snapshot creates no run. Below 100, failed queries count as "
        "without results.",
    )

    def clean_body(self) -> Json:
        """The parsed JSON; None where there is none."""
        text = self.cleaned_data["body"].strip()
        if not text:
            return None
        try:
            parsed: Json = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"Not JSON: {error}") from error
        return parsed

    def clean_headers(self) -> tuple[tuple[str, str], ...]:
        """Names and values."""
        result = []
        for line in filter(None, map(str.strip, self.cleaned_data["headers"].splitlines())):
            name, colon, value = line.partition(":")
            if not colon:
                raise forms.ValidationError(f"{line[:50]!r} has no colon.")
            result.append((name.strip(), value.strip()))
        return tuple(result)

    def to_configuration(self) -> Configuration:
        """What was entered; not checked yet. The form is valid."""
        data: dict[str, Any] = dict(self.cleaned_data)
        data.pop("secret")
        mapping = Mapping(
            **{"url" if name == "document_url" else name: data.pop(name) for name in MAPPED}
        )
        data["min_answered"] = data["min_answered"] / 100
        return Configuration(**data, mapping=mapping)


def initial_of(configuration: Configuration) -> dict[str, Any]:
    """What the form shows of a configuration."""
    body, mapping = configuration.body, configuration.mapping
    return {
        **{
            name: getattr(configuration, name)
            for name in (
                *("method", "url", "secret_header", "takes_documents", "depth", "at_once"),
                "attempts",
            )
        },
        "body": "" if body is None else json.dumps(body, indent=2, ensure_ascii=False),
        "headers": "\n".join(f"{name}: {value}" for name, value in configuration.headers),
        "rate": f"{configuration.rate:g}",
        "timeout": f"{configuration.timeout:g}",
        "min_answered": f"{100 * configuration.min_answered:.10g}",
        **{name: getattr(mapping, "url" if name == "document_url" else name) for name in MAPPED},
    }


def preset_configuration(preset: Preset) -> Configuration:
    """A preset with the usual numbers."""
    return Configuration(
        method=preset.method,
        url=preset.url,
        headers=preset.headers,
        body=preset.body,
        secret_header=preset.secret_header,
        mapping=preset.mapping,
    )


def preset_choices() -> list[tuple[str, str]]:
    """Name and label of each preset."""
    return [(name, preset.label) for name, preset in PRESETS.items()]


class ScheduleForm(forms.Form):
    """When snapshots begin."""

    cron = forms.CharField(
        label="Schedule",
        required=False,
        max_length=LONGEST_CRON,
        widget=forms.TextInput(attrs={**CODE, "placeholder": "30 2 * * *"}),
        help_text="Minute, hour, day, month, weekday, as in cron. Empty: no schedule.",
    )
    time_zone = forms.CharField(
        label="Time zone", required=False, max_length=64, widget=forms.TextInput(attrs=CODE)
    )


class VectorsForm(forms.Form):
    """A file of query vectors."""

    file = forms.FileField(
        label="File",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ".jsonl,.json,.gz"}),
        help_text="JSON Lines, may be gzipped, at most 200 MB: one "
        "{&quot;query_id&quot;: …, &quot;vector&quot;: […]} per line.",
    )


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
