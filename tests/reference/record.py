"""Records what pytrec_eval (trec_eval 9) says of recorded/small.*: run it by hand to renew.

python -m tests.reference.record
"""

import json
from importlib.metadata import version
from pathlib import Path

import pytrec_eval

RECORDED = Path(__file__).parent / "recorded"
THEIR_NAMES = {
    **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in (1, 3, 5, 10)},
    **{f"P@{k}": f"P_{k}" for k in (1, 3, 5, 10)},
    **{f"R@{k}": f"recall_{k}" for k in (1, 3, 5, 10)},
    **{f"Hit@{k}": f"success_{k}" for k in (1, 3, 5, 10)},
    **{f"AP@{k}": f"map_cut_{k}" for k in (1, 3, 5, 10)},
    "nDCG": "ndcg",
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
}


def main() -> None:
    """Writes recorded/trec_eval.json."""
    qrels: dict[str, dict[str, int]] = {}
    for line in (RECORDED / "small.qrels").read_text().splitlines():
        qid, _, docid, grade = line.split(" ")
        qrels.setdefault(qid, {})[docid] = int(grade)
    run: dict[str, dict[str, float]] = {}
    for line in (RECORDED / "small.run").read_text().splitlines():
        qid, _, docid, _, score, _ = line.split(" ")
        run.setdefault(qid, {})[docid] = float(score)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(THEIR_NAMES.values()))
    found = evaluator.evaluate(run)
    per_query = {
        ours: {qid: values[theirs] for qid, values in found.items()}
        for ours, theirs in THEIR_NAMES.items()
    }
    recorded = {
        "tool": "pytrec_eval-terrier " + version("pytrec-eval-terrier"),
        "per_query": per_query,
    }
    text = json.dumps(recorded, indent=1, ensure_ascii=False)
    (RECORDED / "trec_eval.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
