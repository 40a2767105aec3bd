"""What the labelling page does as time goes by, with the browser's clock in the test's hand."""

import re

import pytest

from tests.browser.presses import press
from tests.browser.windows import Opener, Place

pytestmark = pytest.mark.browser


def test_leases_are_renewed_and_time_away_is_not_counted(open_window: Opener, place: Place) -> None:
    ben = open_window("ben")
    ben.page.clock.install()
    page = ben.label_page()
    with page.expect_request(re.compile("/next$")) as renewal:
        page.clock.fast_forward("05:01")
    assert len(renewal.value.post_data_json["held"]) > 10
    press(page, "2")
    ben.expect_saved()
    ((seconds,),) = place.rows("SELECT seconds FROM annotation_labeltiming")
    assert 0 < seconds < 100
