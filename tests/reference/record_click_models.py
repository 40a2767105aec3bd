"""Record what PyClick makes of some made-up result pages: `python record_click_models.py FOLDER`.

FOLDER is a checkout of markovi/PyClick (recorded at 98e7e46). Needs nothing else.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded" / "click_models.json"
PAGES = 120


def made_up_pages() -> list[dict[str, Any]]:
    """Pages of 3 to 6 of a query's 8 documents, clicked less the lower they stand."""
    rng = random.Random(25)
    pages = []
    for _ in range(PAGES):
        query = rng.choice("abcde")
        documents = rng.sample(range(8), rng.randint(3, 6))
        clicks = [
            int(rng.random() < (0.2 + document / 10) / (rank + 1) ** 0.7)
            for rank, document in enumerate(documents)
        ]
        pages.append({"query": query, "documents": [f"d{n}" for n in documents], "clicks": clicks})
    return pages


def main(folder: str) -> None:
    """Train each model on all pages and evaluate it on them."""
    sys.path.insert(0, folder)
    from pyclick.click_models.CTR import DCTR, RCTR
    from pyclick.click_models.Evaluation import LogLikelihood, Perplexity
    from pyclick.click_models.PBM import PBM
    from pyclick.click_models.SDBN import SDBN
    from pyclick.search_session.SearchResult import SearchResult
    from pyclick.search_session.SearchSession import SearchSession

    pages = made_up_pages()
    sessions = []
    for page in pages:
        session = SearchSession(page["query"])
        results = zip(page["documents"], page["clicks"], strict=True)
        session.web_results = [SearchResult(document, click) for document, click in results]
        sessions.append(session)
    models = {}
    for name, kind in {"rank": RCTR, "document": DCTR, "sdbn": SDBN, "pbm": PBM}.items():
        model = kind()
        model.train(sessions)
        perplexity, by_rank = Perplexity().evaluate(model, sessions)
        models[name] = {
            "log_likelihood": LogLikelihood().evaluate(model, sessions),
            "perplexity": perplexity,
            "perplexity_by_rank": by_rank,
            "relevance": {
                f"{query} d{document}": model.predict_relevance(query, f"d{document}")
                for query in "abcde"
                for document in range(8)
            },
        }
    examination = model.params[model.param_names.exam]
    models["pbm"]["examination"] = [examination.get(rank).value() for rank in range(6)]
    RECORDED.write_text(json.dumps({"pages": pages, "models": models}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
