"""From every page that shows a number to the label that made it what it is: two clicks at most."""

import re
from datetime import timedelta
from functools import cache
from html import unescape
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from django.core.cache import cache as django_cache
from django.urls import reverse

from annotation.consolidation.services import consolidate
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from evaluation.tasks import compute_tools
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, World, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
LIST = ["books", "main"]
RUNS = "runs=bm25&runs=lsa&measure=nDCG@3"


@pytest.fixture(scope="module")
def world(shared_rows: None) -> World:
    """Ben's label of d2 for q1, the second version, changes what both runs are worth."""
    django_cache.clear()
    world = make_world()
    for ranker, ranking in (("bm25", ["d1", "d2"]), ("lsa", ["d2", "d1"])):
        rankings = {"q1": ranking, "q2": ["d1"]}
        make_run(collection=world.collection, rankings=rankings, ranker=ranker)
    (q1, q2, _), (d1, d2, *_) = world.queries, world.documents
    for days, pairs in enumerate([[(q1, d1), (q2, d1)], [(q1, d2)]]):
        design = {"name": f"Day {days}", "overlap": 1}
        campaign = make_campaign(world=world, pairs=pairs, people=("ben",), **design)
        for pair in campaign.pairs.select_related("campaign", "query", "document"):
            label(pair=pair, username="ben", grade=3)
        consolidate(list_id=campaign.list_id, at=NOW + timedelta(days=days))
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    compute_tools(world.judgments.pk, 2, 10, 0)
    world.judgments.refresh_from_db()
    assert world.judgments.head == 2
    return world


class Reader:
    """Ada's browser, which opens each page once for all tests here."""

    def __init__(self) -> None:
        self._browser = client_of("ada")
        self.links_of = cache(self._list_links)
        self.words_at = cache(self._read)

    def _list_links(self, address: str) -> list[str]:
        """Where the links of a page's own part lead, in their order; none of what is no page."""
        answer = self._browser.get(address)
        if answer.status_code != 200 or "text/html" not in answer["Content-Type"]:
            return []
        html = answer.content.decode()
        main = html[html.index("<main") : html.index("</main>")]
        links = re.findall(r'<a\b[^>]*\bhref="([^"]*)"', main)
        found = [urlsplit(urljoin(address, unescape(link))) for link in links]
        return [one._replace(fragment="").geturl() for one in found if not one.netloc]

    def _read(self, address: str) -> str:
        return words(self._browser.get(address, follow=True))


@pytest.fixture(scope="module")
def reader(world: World) -> Reader:
    return Reader()


def address_of(page: str) -> str:
    run = Run.objects.get(ranker__slug="lsa").public_id  # whose value the label changed
    addresses = {
        "overview": reverse("collection", args=["books"]),
        "leaderboard": reverse("leaderboard", args=LIST),
        "changes since": reverse("leaderboard", args=LIST) + "?since=1",
        "compare": reverse("compare", args=LIST) + f"?{RUNS}",
        "moved": reverse("moved", args=LIST) + f"?{RUNS}",
        "unjudged": reverse("unjudged", args=LIST) + f"?{RUNS}",
        "judge next": reverse("judge-next", args=LIST),
        "stability": reverse("stability", args=LIST),
        "without": reverse("compare-without", args=LIST) + f"?{RUNS}",
        "rosetta": reverse("list-rosetta", args=LIST),
        "ranker": reverse("ranker", args=["books", "bm25"]),
        "run": reverse("run", args=["books", run]) + "?list=main",
        "run, every dialect": reverse("run-rosetta", args=["books", run]) + "?list=main",
        "explain": reverse("run-query", args=["books", run, "q1"]) + "?list=main",
        "moves": reverse("run-moves", args=["books", run]) + "?list=main&before=1&after=2",
        "effect": reverse("effect", args=[*LIST, "1", "2"]),
        "version": reverse("version", args=[*LIST, "2"]),
        "query": reverse("query", args=["books", "q1"]),
        "ranker by ranker": reverse("query-results", args=["books", "q1"]),
        "document": reverse("document", args=["books", "d2"]),
    }
    return addresses[page]


@pytest.mark.parametrize(
    ("page", "most"),
    [
        ("overview", 2),
        ("leaderboard", 2),
        ("changes since", 2),
        ("compare", 2),
        ("moved", 2),
        ("unjudged", 2),
        ("judge next", 2),
        ("stability", 2),
        ("without", 2),
        ("rosetta", 2),
        ("ranker", 2),
        ("run", 2),
        ("run, every dialect", 2),
        ("explain", 2),
        ("effect", 2),
        ("ranker by ranker", 2),
        ("moves", 1),
        ("version", 1),
        ("query", 1),
        ("document", 1),
    ],
)
def test_from_a_number_to_the_label_behind_it(reader: Reader, page: str, most: int) -> None:
    start = address_of(page)
    assert reader.links_of(start)
    way = way_to_the_pair(reader, start, most)
    assert way is not None, f"no way in {most} clicks"
    assert len(way) <= most
    shown = reader.words_at(way[-1])
    assert "Ben" in shown
    assert "d2" in shown


def way_to_the_pair(reader: Reader, start: str, most: int) -> list[str] | None:
    """The links to click, as few as there are; None where it takes more than so many."""
    ways: list[list[str]] = [[]]
    seen = {start}
    for _ in range(most):
        further = []
        for way in ways:
            for link in reader.links_of(way[-1] if way else start):
                if is_the_pair(link):
                    return [*way, link]
                if link not in seen:
                    seen.add(link)
                    further.append([*way, link])
        ways = further
    return None


def is_the_pair(link: str) -> bool:
    found = urlsplit(link)
    asked = parse_qs(found.query)
    is_of_list = found.path == reverse("pair-of-list", args=LIST)
    return is_of_list and asked == {"query": ["q1"], "document": ["d2"]}
