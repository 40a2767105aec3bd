"""The product's own settings, with portions of data sets that are small enough for a test."""

import os

from config.settings import *  # noqa: F403

DATA_SET_ROWS = int(os.environ["PORTION_ROWS"])
