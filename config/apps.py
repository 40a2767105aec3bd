"""The one place that knows all three rooms."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"
