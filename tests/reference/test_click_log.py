"""A real log in UBI's form: its ledger, its evidence, and what pyclick makes of it.

The log is the sample of opensearch-project/search-relevance; the models' figures were recorded with
o19s/pyclick at 98e7e46, trained and evaluated on the same sessions.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from tests.services import find_data
from touchstone.clicks.coec import coec
from touchstone.clicks.ledger import Outcome
from touchstone.clicks.log import ClickLog, LogBuilder
from touchstone.clicks.ubi import read_ubi

pytestmark = pytest.mark.data


def read(*, join: bool = False) -> ClickLog:
    data = find_data()
    assert data is not None
    path: Path = data / "clicks" / "ubi_queries_events.ndjson"
    builder = LogBuilder()
    read_ubi([(path, path.name)], builder)
    return builder.log(join=join)


def test_the_ledger_explains_every_event() -> None:
    ledger = read().ledger
    assert (ledger.events, ledger.records) == (3448, 3448 + 473)
    assert ledger[Outcome.QUERY] == 284
    assert sum(ledger[outcome] for outcome in Outcome) == ledger.records
    without_text = ledger[Outcome.JOINABLE] + ledger[Outcome.QUERY_UNKNOWN]
    assert without_text == 68 + 28
    assert ledger[Outcome.CLICK_WITHOUT_IMPRESSION] == 40
    assert ledger[Outcome.CLICK] == 259 - 40
    assert ledger[Outcome.IMPRESSION] == 1999 - 68
    assert ledger[Outcome.OTHER_ACTION] == 3448 - 1999 - 287
    applications = {one.name: one for one in ledger.applications}
    assert {name: one.rank_base for name, one in applications.items()} == {
        "esci_ubi_sample": 0,
        "Chorus": 1,
        "ubi-demo": None,
    }
    assert applications["esci_ubi_sample"].actions == {"impression": 1000, "click": 60}


def test_joining_uses_what_has_a_query_record() -> None:
    ledger = read(join=True).ledger
    joined = ledger[Outcome.IMPRESSION_JOINED] + ledger[Outcome.CLICK_JOINED]
    assert joined == read().ledger[Outcome.JOINABLE]
    assert ledger.records == 3448 + 473


def test_evidence_has_these_pairs() -> None:
    found = coec(read().evidence)
    assert (found.impressions > 0).sum() == 1084
    assert (found.shown_ranks > 1).sum() == 50
    assert (found.impressions == 0).sum() == 21


def test_expected_clicks_are_the_clicks() -> None:
    log = read()
    found = coec(log.evidence)
    assert (found.total_clicks, found.total_expected) == (259, 259)
    assert sum(found.expected) == pytest.approx(259.0, rel=1e-13)
    rates = {
        rank: Fraction(clicks, impressions)
        for rank, clicks, impressions in zip(
            found.ranks.tolist(),
            found.rank_clicks.tolist(),
            found.rank_impressions.tolist(),
            strict=True,
        )
    }
    evidence = log.evidence
    exact = sum(
        impressions * rates[rank]
        for impressions, rank in zip(
            evidence.impressions.tolist(), evidence.rank.tolist(), strict=True
        )
    )
    assert exact == 259
