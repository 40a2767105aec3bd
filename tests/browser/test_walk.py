"""A grade falls on the pair that is on the screen, or nowhere, whatever is pressed on any line."""

import os

import pytest

from tests.browser.walk import RECORD, SAME_TEXT, check_walk, walk
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser
STEPS = int(os.environ.get("TOUCHSTONE_WALK", "100"))
SEED = 2  # one that fails where a key may fall on another pair than the one that is shown


def test_what_is_stored_was_on_the_screen_when_it_was_pressed(
    open_window: Opener, place: Place
) -> None:
    place.site.call("-c", SAME_TEXT)
    ben = open_window("ben")
    ben.context.add_init_script(RECORD)
    walk(ben, steps=STEPS, seed=SEED)
    labels, wrong = check_walk(ben.page, place)
    assert labels > STEPS / 10
    assert wrong == []
