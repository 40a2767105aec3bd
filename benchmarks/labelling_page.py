"""The labelling page in a real browser: from key to next pair, weight, and time to the text.

    python -m benchmarks.labelling_page [--labels 300] [--bytes 1500 256000] [--delay 0.4]

For each document size a scene is built in a temporary home and served by `manage.py serve`; Ben
labels by keyboard in Chromium, through a proxy on loopback that holds every answer back. Measured
is from the key's own time stamp to the first moment after the frame that shows the next pair.
Chromium runs without a screen, so the frame rate is not limited: the wait for a display's next
refresh (at most 16.7 ms at 60 Hz) is not in the numbers, nor is the raster of the frame, which
another thread does. The time on the clock depends on what else the machine does. So the same is
measured once more as CPU time of the page's main thread: in the key's handlers and in the first
frame after them, by Chromium's own trace.

Weight and time to the text are measured without the proxy, and the time once more through it: cold,
then with what the browser has kept. The time is from the navigation's start to the first moment
after the frame that shows the first document's text, in a tab that was open already. Between two
loads the pairs of the one before have been given back, so each is handed its pairs again. Bytes are
those on the wire, headers included.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.proxy import Proxy
from tests.browser.windows import SWITCHES, Place, Window
from tests.faults.site import Embedded
from tests.services import find_chromium

SETTINGS = {"DJANGO_SETTINGS_MODULE": "config.settings"}
UNLIMITED = (*SWITCHES, "--disable-frame-rate-limit", "--disable-gpu-vsync")
PACE = 0.15  # seconds between two keys
SETTLED = 0.5  # seconds for the page before to give its pairs back, and a new window to be there
LOADS = 7
TARGET = "document.querySelector('[data-part=stage]')"
TRACED = 60  # labels
TURNS = 300  # of the wheel, sixty a second
NOTCH = 240  # pixels
TRACE = {"includedCategories": ["devtools.timeline", "cc"], "excludedCategories": ["*"]}
FRAME = "ProxyMain::BeginMainFrame"
WATCH = """
window.times = [];
addEventListener("keydown", (event) => {
  const before = document.querySelector('[data-part="title"]').firstChild;
  const after = new MessageChannel();
  const begun = performance.now();
  let worked;
  after.port1.onmessage = () => {
    const isNew = document.querySelector('[data-part="title"]').firstChild !== before;
    if (isNew) window.times.push([worked - begun, performance.now() - event.timeStamp]);
  };
  addEventListener("keydown", () => { worked = performance.now(); }, { once: true });
  requestAnimationFrame(() => after.port2.postMessage(0));
}, true);
"""
# nothing is asked of the page before it changes by itself
SHOWN = """
const after = new MessageChannel();
after.port1.onmessage = () => { window.shownAfter = performance.now(); };
const watched = new MutationObserver(() => {
  const text = document.querySelector('#label-page.live [data-part="text"]');
  if (!text?.textContent || !text.checkVisibility({visibilityProperty: true})) return;
  watched.disconnect();
  requestAnimationFrame(() => after.port2.postMessage(0));
});
watched.observe(document, {subtree: true, childList: true, attributes: true});
"""
STEPS = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const first = performance.getEntriesByType("resource").find((one) => one.name.endsWith("/next"));
  return {
    html: page.responseEnd, asked: first.startTime, answered: first.responseEnd,
    scripts: page.domContentLoadedEventEnd, shown: window.shownAfter,
  };
}"""


def main() -> None:
    options = _options()
    if options.build:
        print(json.dumps(_build(pairs=options.build, size=options.bytes[0])))
        return
    with sync_playwright() as playwright:
        start = partial(playwright.chromium.launch, executable_path=find_chromium())
        for size in options.bytes:
            print(json.dumps(_case(start, options, size)), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--bytes", type=int, nargs="+", default=[1_500, 256_000])
    parser.add_argument("--delay", type=float, default=0.4)
    parser.add_argument("--build", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _build(*, pairs: int, size: int) -> dict[str, Any]:
    """In a process of its own: the scene of the browser tests, with documents of this size."""
    import django

    django.setup()
    from django.core.management import call_command

    from judgments.models import Document
    from tests.browser.scene import build

    call_command("migrate", verbosity=0, interactive=False)
    scene = build(pairs=pairs)
    words = "A query is answered by what follows, and by nothing that stands beside it.\n"
    Document.objects.update(body=(words * (size // len(words) + 1))[:size])
    return scene


@contextmanager
def _served(pairs: int, size: int) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as directory:
        site = Embedded(Path(directory), SETTINGS)
        words = ("-m", "benchmarks.labelling_page", "--build", str(pairs), "--bytes", str(size))
        scene = json.loads(site.call(*words))
        try:
            site.begin()
            yield Place(site, scene["campaign"], scene["passwords"], scene["sessions"])
        finally:
            site.stop()


def _case(start: Callable[..., Browser], options: argparse.Namespace, size: int) -> dict[str, Any]:
    with (
        _served(options.labels + TRACED + 20, size) as place,
        closing(Proxy(place.site.port, delay=options.delay)) as proxy,
    ):
        far = f"{proxy.address}/label/{place.campaign}"
        with closing(start(args=SWITCHES)) as browser:
            state = _signed_in(browser, place).storage_state()
            loads = _loads(browser, f"{place.site.address}/label/{place.campaign}", state)
            far_loads = _loads(browser, far, state)["text_ms"]
        with closing(start(args=UNLIMITED)) as browser:
            context = _signed_in(browser, place)
            context.add_init_script(WATCH)
            page = context.new_page()
            page.goto(far)
            times = _label(page, options.labels)
            scrolled = _scroll_cpu(page)
            cpu = _cpu(page, min(TRACED, options.labels))
    script, paint = zip(*times, strict=True)
    return {
        "document_bytes": size,
        "labels": len(times),
        "script_ms": _spread(script),
        "key_to_paint_ms": _spread(paint),
        "key_to_paint_cpu_ms": _spread(cpu),
        "scroll_frames": len(scrolled),
        "scroll_frame_cpu_ms": _spread(scrolled) if scrolled else None,
        **loads,
        "text_ms_behind_the_delay": far_loads,
    }


def _signed_in(browser: Browser, place: Place) -> BrowserContext:
    window = Window(browser.new_context(), place)
    window.sign_in("ben")
    window.page.close()
    return window.context


def _label(page: Page, labels: int) -> list[tuple[float, float]]:
    """Per label: milliseconds in the page's own key handlers, and from the key to the paint."""
    page.wait_for_function(
        "() => document.querySelector('[data-part=in-query]').textContent !== ''"
    )
    for number in range(labels):
        page.wait_for_function(f"() => !{TARGET}.hasAttribute('aria-busy')")
        page.keyboard.press(str(number % 5))
        time.sleep(PACE)
    page.wait_for_function(
        "() => document.querySelector('[data-part=state]').dataset.state === 'saved'"
    )
    return [(script, paint) for script, paint in page.evaluate("window.times")]


def _cpu(page: Page, labels: int) -> list[float]:
    """Per label: milliseconds of CPU in the key's handlers and in the first frame after them."""
    events = _traced(page, lambda: _label(page, labels))
    frames = [one for one in events if one["name"] == FRAME]
    keys = [one for one in events if one.get("args", {}).get("data", {}).get("type") == "keydown"]
    spent = []
    for key in keys:
        ended = key["ts"] + key["dur"]
        painted = next((one for one in frames if one["ts"] >= ended and _is_beside(one, key)), None)
        if painted is not None:
            spent.append((key["tdur"] + painted["tdur"]) / 1000)
    return spent


def _scroll_cpu(page: Page) -> list[float]:
    """Per frame: milliseconds of CPU of the main thread while the text is turned by the wheel.

    Empty where the document is shorter than the way back up.
    """
    scroll = page.locator('[data-part="scroll"]')
    if scroll.evaluate("one => one.scrollHeight - one.clientHeight") <= TURNS // 3 * NOTCH:
        return []
    text = page.locator('[data-part="text"]')
    text.hover(position={"x": 40, "y": 40})

    def turn() -> None:
        for number in range(TURNS):
            page.mouse.wheel(0, NOTCH if number < TURNS * 2 // 3 else -NOTCH)
            time.sleep(1 / 60)

    frames = [one for one in _traced(page, turn) if one["name"] == FRAME]
    if not scroll.evaluate("one => one.scrollTop"):
        raise RuntimeError("nothing was scrolled")
    spent: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for one in frames:
        spent[one["pid"], one["tid"]].append(one["tdur"] / 1000)
    return max(spent.values(), key=len)


def _traced(page: Page, work: Callable[[], object]) -> list[dict[str, Any]]:
    """What Chromium's trace has of the work, in the order in which it began."""
    client = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    complete: list[bool] = []
    client.on("Tracing.dataCollected", lambda chunk: events.extend(chunk["value"]))
    client.on("Tracing.tracingComplete", lambda _: complete.append(True))
    client.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": TRACE})
    work()
    client.send("Tracing.end")
    while not complete:
        page.wait_for_timeout(50)
    return sorted((one for one in events if one.get("ph") == "X"), key=lambda one: one["ts"])


def _is_beside(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both happened in the same thread of the same process."""
    return (one["pid"], one["tid"]) == (other["pid"], other["tid"])


def _loads(browser: Browser, address: str, state: Any) -> dict[str, Any]:
    """Cold and warm loads in turn: weights of the last, and for each step its times."""
    loads: dict[str, list[dict[str, Any]]] = {"cold": [], "warm": []}
    for _ in range(LOADS):
        context = browser.new_context(storage_state=state)
        context.add_init_script(SHOWN)
        for own in loads.values():
            own.append(_load(context, address))
        context.close()
    return {
        **{kind: own[-1]["weight"] for kind, own in loads.items()},
        "text_ms": {
            kind: {step: _spread([one["steps"][step] for one in own]) for step in own[0]["steps"]}
            for kind, own in loads.items()
        },
    }


def _load(context: BrowserContext, address: str) -> dict[str, Any]:
    page = context.new_page()
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    kinds: dict[str, str] = {}
    weight: defaultdict[str, int] = defaultdict(int)
    requests: list[str] = []

    def responded(event: dict[str, Any]) -> None:
        kinds[event["requestId"]] = event["type"]
        if not event["response"].get("fromDiskCache"):
            requests.append(event["response"]["url"])

    def finished(event: dict[str, Any]) -> None:
        weight[kinds.get(event["requestId"], "Other")] += int(event["encodedDataLength"])

    client.on("Network.responseReceived", responded)
    client.on("Network.loadingFinished", finished)
    page.wait_for_timeout(1000 * SETTLED)
    page.goto(address)
    page.wait_for_function("() => window.shownAfter")
    page.wait_for_timeout(300)
    steps = page.evaluate(STEPS)
    page.close()
    own = {kind: weight[kind] for kind in sorted(weight)}
    return {"weight": {"requests": len(requests), "bytes": own}, "steps": steps}


def _spread(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50": round(statistics.median(ordered), 1),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
        "max": round(ordered[-1], 1),
    }


if __name__ == "__main__":
    main()
