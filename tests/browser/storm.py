"""Labelling over a bad line, while the server is killed and comes back.

    python -m tests.browser.storm [--labels 300] [--seed 1]

builds a scene, labels as many pairs through a proxy that drops, loses, delays, truncates and
repeats a fifth of what is sent, kills the server halfway, and compares the page's own log with the
database.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.browser.presses import LOG, check_nothing_lost, press
from tests.browser.proxy import Proxy
from tests.browser.scene import QUERIES
from tests.browser.windows import SWITCHES, Place, Window
from tests.faults.site import Embedded
from tests.services import find_chromium

SHARE = 0.2
MEANWHILE = 5  # labels that are made while there is no server
SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings"}


def label_in_a_storm(window: Window, *, labels: int, seed: int = 1) -> Counter[str]:
    """Label by keyboard, the server dying halfway; what the proxy did. The window has signed in."""
    place = window.place
    dice = random.Random(seed)
    keys = "".join(dice.choice("01234") for _ in range(labels))
    with closing(Proxy(place.site.port, share=SHARE, seed=seed)) as proxy:
        page = window.page
        page.goto(f"{proxy.address}/label/{place.campaign}")
        expect(page.locator('[data-part="done"]')).to_have_text(re.compile(r"\d"))
        middle = labels // 2
        press(page, keys[:middle])
        place.site.kill("serve")
        press(page, keys[middle : middle + MEANWHILE])
        place.site.begin()
        press(page, keys[middle + MEANWHILE :])
        window.expect_saved()
        return proxy.seen


def main() -> None:
    """The long form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        site = Embedded(Path(directory), SETTINGS)
        pairs = options.labels + QUERIES - options.labels % QUERIES
        scene = json.loads(site.call("-m", "tests.browser.scene", str(pairs)))
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=SWITCHES)
        try:
            site.begin()
            window = Window(
                browser.new_context(),
                Place(site, scene["campaign"], scene["passwords"], scene["sessions"]),
            )
            window.context.add_init_script(LOG)
            window.sign_in("ben")
            seen = label_in_a_storm(window, labels=options.labels, seed=options.seed)
            check_nothing_lost(window.page, window.place, "ben", labels=options.labels)
            window.check()
        finally:
            browser.close()
            site.stop()
    sys.stdout.write(f"{options.labels} labels, 0 lost, 0 double; the line: {dict(seen)}\n")


if __name__ == "__main__":
    main()
