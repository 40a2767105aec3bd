"""Click models: PyClick's figures, of made-up pages and of a real log."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reference.record_click_models import RECORDED
from tests.services import find_data
from touchstone.clicks.ctr import fit_document_ctr, fit_rank_ctr
from touchstone.clicks.fit import ClickModel, evaluate
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.pbm import fit_pbm
from touchstone.clicks.sdbn import fit_sdbn
from touchstone.clicks.sessions import Sessions, find_sessions
from touchstone.clicks.ubi import read_ubi

MODELS: dict[str, Callable[..., ClickModel]] = {
    "rank": fit_rank_ctr,
    "document": fit_document_ctr,
    "sdbn": fit_sdbn,
    "pbm": lambda sessions: fit_pbm(sessions.evidence),
}


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    return found


def recorded_sessions() -> Sessions:
    rows = [
        (number, rank, ord(page["query"]), int(document[1:]), click)
        for number, page in enumerate(recorded()["pages"])
        for rank, (document, click) in enumerate(
            zip(page["documents"], page["clicks"], strict=True), start=1
        )
    ]
    session, position, query, document, click = np.array(rows, dtype=np.int64).T
    return Sessions(session, position, query, document, click == 1)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_made_up_pages_have_pyclicks_figures(name: str) -> None:
    sessions, expected = recorded_sessions(), recorded()["models"][name]
    fit = evaluate(MODELS[name](sessions), sessions)
    assert fit.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-11)
    assert fit.perplexity == pytest.approx(expected["perplexity"], abs=1e-11)
    # PyClick divides by all pages, also those that are shorter
    whole = int(sessions.lengths.min())
    assert fit.perplexity_by_rank[:whole] == pytest.approx(
        expected["perplexity_by_rank"][:whole], abs=1e-11
    )


def test_parameters_are_pyclicks() -> None:
    sessions, models = recorded_sessions(), recorded()["models"]
    pairs = {
        f"{chr(query)} d{document}": np.array([(query << 32) | document])
        for query in range(ord("a"), ord("f"))
        for document in range(8)
    }
    pbm, sdbn, ctr = fit_pbm(sessions.evidence), fit_sdbn(sessions), fit_document_ctr(sessions)
    assert pbm.examination == pytest.approx(models["pbm"]["examination"], abs=1e-11)
    for name, pair in pairs.items():
        relevance = sdbn.attractiveness.of(pair) * sdbn.satisfaction.of(pair)
        assert relevance == pytest.approx([models["sdbn"]["relevance"][name]], abs=1e-11)
        assert ctr.rates.of(pair) == pytest.approx([models["document"]["relevance"][name]])
        attractive = models["pbm"]["relevance"][name]
        assert pbm.attractiveness.of(pair) == pytest.approx([attractive], abs=1e-11)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "log_likelihood", "perplexity"),
    [("rank", -0.220957, 1.125249), ("document", -0.337463, 1.200823)],
)
def test_a_real_log_has_pyclicks_figures(
    name: str, log_likelihood: float, perplexity: float
) -> None:
    data = find_data()
    assert data is not None
    path: Path = data / "clicks" / "ubi_queries_events.ndjson"
    builder = LogBuilder()
    read_ubi([(path, path.name)], builder)
    found = find_sessions(builder.log(join=False))
    sessions = found.sessions
    assert (found.application, found.rank_base, len(sessions)) == ("esci_ubi_sample", 0, 200)
    assert (set(sessions.lengths.tolist()), int(sessions.click.sum())) == ({5}, 60)
    fit = evaluate(MODELS[name](sessions), sessions)
    assert (round(fit.log_likelihood, 6), round(fit.perplexity, 6)) == (log_likelihood, perplexity)
