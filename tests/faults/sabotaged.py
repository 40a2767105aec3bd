"""The settings of a sabotaged build: the product's own, and an app that breaks one thing in it."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS as OURS

INSTALLED_APPS = [*OURS, "tests.faults.sabotage.SabotageConfig"]
